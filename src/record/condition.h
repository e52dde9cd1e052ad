/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conditions on the numbers that a function is called with. They are decided where the record would
 * be made, in the tracer or in the tracee, so that a call that does not pass costs no record.
 *
 * A condition is a program for a stack of numbers (probe/expression_compile.h makes it). It may be
 * only a part of what the user asked for; whoever gets the record decides the whole. So it only has
 * to be right when it says no: where a number is not known, it says yes.
 *
 * Freestanding, like the executor of capture plans (record/capture.h).
 */
#ifndef TRACER_RECORD_CONDITION_H
#define TRACER_RECORD_CONDITION_H

#include "record/capture.h"

enum { CONDITION_OPS = 64, CONDITION_DEPTH = 8 };

enum condition_code {
	CONDITION_ARGUMENT, /* pushes the word of parameter `value` */
	CONDITION_CONSTANT, /* pushes `value` */
	/* These replace the last two numbers by one. */
	CONDITION_ADD,
	CONDITION_SUBTRACT,
	CONDITION_MULTIPLY,
	CONDITION_DIVIDE,
	CONDITION_REMAINDER,
	CONDITION_BIT_AND,
	CONDITION_BIT_OR,
	CONDITION_BIT_XOR,
	CONDITION_LEFT,
	CONDITION_RIGHT,
	CONDITION_EQUAL,
	CONDITION_NOT_EQUAL,
	CONDITION_LESS,
	CONDITION_AT_MOST,
	CONDITION_AND,
	CONDITION_OR,
	/* These replace the last number. */
	CONDITION_NOT,
	CONDITION_BIT_NOT,
	CONDITION_NEGATE
};

struct condition_op {
	uint8_t code; /* enum condition_code */
	/* Of the operands, of which the first lies deeper; of CONDITION_ARGUMENT: of the number. */
	bool first_signed, second_signed;
	uint64_t value;
};

/* What a condition reads. `read` returns how many bytes it has read. */
struct condition_frame {
	const uint64_t *gpr; /* 16, by hardware number */
	uint64_t sp;	     /* address of the return address */
	size_t (*read)(void *context, uint64_t address, void *buffer, size_t length);
	void *context;
};

/* Loads a parameter's word. Returns false if it is not known. */
static inline __attribute__((always_inline)) bool condition_load(
	const struct capture_location *place, bool is_signed, const struct condition_frame *frame,
	uint64_t *word)
{
	const unsigned size = place->size < 8 ? place->size : 8, unused = capture_unused_bits(size);

	*word = 0;
	if (place->place == PLACE_GPR)
		*word = frame->gpr[place->index & 15];
	else if (place->place != PLACE_STACK ||
		 frame->read(frame->context, frame->sp + (uint64_t)(int64_t)place->offset, word,
			     size) != size)
		return false;
	*word = is_signed ? (uint64_t)((int64_t)(*word << unused) >> unused)
			  : *word << unused >> unused;
	return true;
}

/* Compares by value: a negative number is less than any unsigned one. */
static inline bool condition_is_less(uint64_t first, bool first_signed, uint64_t second,
				     bool second_signed)
{
	const bool first_below = first_signed && (int64_t)first < 0;
	const bool second_below = second_signed && (int64_t)second < 0;

	return first_below != second_below ? first_below : first < second;
}

/* Computes with two numbers. Returns false if the result is not known. */
static inline bool condition_compute(const struct condition_op *op, uint64_t first, uint64_t second,
				     uint64_t *result)
{
	const bool is_signed = op->first_signed && op->second_signed;
	const bool may_overflow = is_signed && first == UINT64_C(1) << 63 && second == UINT64_MAX;

	switch (op->code) {
	case CONDITION_ADD:
		*result = first + second;
		return true;
	case CONDITION_SUBTRACT:
		*result = first - second;
		return true;
	case CONDITION_MULTIPLY:
		*result = first * second;
		return true;
	case CONDITION_DIVIDE:
		if (!second || may_overflow)
			return false;
		*result = is_signed ? (uint64_t)((int64_t)first / (int64_t)second) : first / second;
		return true;
	case CONDITION_REMAINDER:
		if (!second || may_overflow)
			return false;
		*result = is_signed ? (uint64_t)((int64_t)first % (int64_t)second) : first % second;
		return true;
	case CONDITION_BIT_AND:
		*result = first & second;
		return true;
	case CONDITION_BIT_OR:
		*result = first | second;
		return true;
	case CONDITION_BIT_XOR:
		*result = first ^ second;
		return true;
	case CONDITION_LEFT:
		*result = first << (second & 63);
		return second <= 63;
	case CONDITION_RIGHT:
		*result = op->first_signed ? (uint64_t)((int64_t)first >> (second & 63))
					   : first >> (second & 63);
		return second <= 63;
	case CONDITION_EQUAL:
		*result = first == second;
		return true;
	case CONDITION_NOT_EQUAL:
		*result = first != second;
		return true;
	case CONDITION_LESS:
		*result = condition_is_less(first, op->first_signed, second, op->second_signed);
		return true;
	case CONDITION_AT_MOST:
		*result = !condition_is_less(second, op->second_signed, first, op->first_signed);
		return true;
	case CONDITION_AND:
		*result = first && second;
		return true;
	case CONDITION_OR:
		*result = first || second;
		return true;
	default:
		return false;
	}
}

/* Returns false if the plan has a condition and it does not hold. */
static inline __attribute__((always_inline)) bool condition_holds(
	const struct capture_plan *plan, const struct condition_frame *frame)
{
	uint64_t stack[CONDITION_DEPTH];
	unsigned depth = 0;

	for (unsigned i = 0; i < plan->condition_count; i++) {
		const struct condition_op *op = &plan->condition[i];

		/* expression_compile.c keeps these bounds; the plan is in the tracee's memory. */
		if (op->code <= CONDITION_CONSTANT ? depth == CONDITION_DEPTH
						   : depth < 1U + (op->code < CONDITION_NOT))
			return true;
		if (op->code == CONDITION_ARGUMENT) {
			if (!condition_load(&plan->args[op->value % CAPTURE_ARGS_MAX],
					    op->first_signed, frame, &stack[depth++]))
				return true;
		} else if (op->code == CONDITION_CONSTANT) {
			stack[depth++] = op->value;
		} else if (op->code == CONDITION_NOT) {
			stack[depth - 1] = !stack[depth - 1];
		} else if (op->code == CONDITION_BIT_NOT) {
			stack[depth - 1] = ~stack[depth - 1];
		} else if (op->code == CONDITION_NEGATE) {
			stack[depth - 1] = -stack[depth - 1];
		} else {
			depth--;
			if (!condition_compute(op, stack[depth - 1], stack[depth],
					       &stack[depth - 1]))
				return true;
		}
	}
	return !depth || stack[depth - 1];
}

#endif
