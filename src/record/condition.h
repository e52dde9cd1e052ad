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
	/* Of one operand, the first. */
	CONDITION_SAME,
	CONDITION_NOT,
	CONDITION_BIT_NOT,
	CONDITION_NEGATE,
	/* Of two. */
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
	CONDITION_GREATER,
	CONDITION_AT_LEAST,
	CONDITION_AND,
	CONDITION_OR
};

/* Where an operand is, if not in a parameter, whose index stands there. */
enum condition_place {
	/* The last number on the stack, which is taken off; of two, the second is the last one. */
	CONDITION_STACK = 0xff,
	CONDITION_VALUE = 0xfe /* `value` */
};
static_assert((int)CAPTURE_ARGS_MAX < (int)CONDITION_VALUE, "an index is no other place");

/* Few operations, each of which does much: to get to the next one takes as long as to compare. */
struct condition_op {
	uint8_t code; /* enum condition_code */
	uint8_t first, second;
	bool first_signed, second_signed;
	/* The result is not put on the stack: if it is 0, the condition does not hold. */
	bool is_required;
	/*
	 * The left side of && or ||, which decides if it is 0, or not (`skips_on`): then this many
	 * operations are left out, and the result is that of the last one, 0 or 1.
	 */
	bool skips_on;
	uint8_t skips;
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

/* Computes with one number or two. Returns false if the result is not known. */
static inline bool condition_compute(const struct condition_op *op, uint64_t first, uint64_t second,
				     uint64_t *result)
{
	const bool is_signed = op->first_signed && op->second_signed;
	const bool may_overflow = is_signed && first == UINT64_C(1) << 63 && second == UINT64_MAX;

	switch (op->code) {
	case CONDITION_SAME:
		*result = first;
		return true;
	case CONDITION_NOT:
		*result = !first;
		return true;
	case CONDITION_BIT_NOT:
		*result = ~first;
		return true;
	case CONDITION_NEGATE:
		*result = -first;
		return true;
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
	case CONDITION_GREATER:
		*result = condition_is_less(second, op->second_signed, first, op->first_signed);
		return true;
	case CONDITION_AT_LEAST:
		*result = !condition_is_less(first, op->first_signed, second, op->second_signed);
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

/* The numbers of a condition that is being decided. */
struct condition_stack {
	uint64_t words[CONDITION_DEPTH];
	unsigned depth;
};

/* Takes an operand. Returns false if it is not known. */
static inline __attribute__((always_inline)) bool condition_take(
	const struct capture_plan *plan, const struct condition_op *op, uint8_t place,
	bool is_signed, const struct condition_frame *frame, struct condition_stack *stack,
	uint64_t *word)
{
	if (place == CONDITION_VALUE) {
		*word = op->value;
		return true;
	}
	if (place != CONDITION_STACK)
		return condition_load(&plan->args[place % CAPTURE_ARGS_MAX], is_signed, frame,
				      word);
	/* expression_compile.c keeps the bounds; the plan is in the tracee's memory. */
	if (!stack->depth)
		return false;
	*word = stack->words[--stack->depth];
	return true;
}

/* Returns false if the plan has a condition and it does not hold. */
static inline __attribute__((always_inline)) bool condition_holds(
	const struct capture_plan *plan, const struct condition_frame *frame)
{
	struct condition_stack stack;

	stack.depth = 0;
	for (unsigned i = 0; i < plan->condition_count; i++) {
		const struct condition_op *op = &plan->condition[i];
		uint64_t first = 0, second = 0, result = 0;

		if (op->code >= CONDITION_ADD &&
		    !condition_take(plan, op, op->second, op->second_signed, frame, &stack,
				    &second))
			return true;
		if (!condition_take(plan, op, op->first, op->first_signed, frame, &stack, &first) ||
		    !condition_compute(op, first, second, &result))
			return true;
		while (op->skips && (result != 0) == op->skips_on) {
			result = op->skips_on;
			i += op->skips;
			if (i >= plan->condition_count)
				return true;
			op = &plan->condition[i];
		}
		if (op->is_required && !result)
			return false;
		if (op->is_required)
			continue;
		if (stack.depth == CONDITION_DEPTH)
			return true;
		stack.words[stack.depth++] = result;
	}
	return true;
}

#endif
