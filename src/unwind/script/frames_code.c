/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes programs of frame descriptions. Registers from SCRIPT_LOCALS on are the program's: the
 * temporary values of a statement from the lowest one upward, its variables from the highest one
 * downward. A variable keeps its value while a loop goes back to statements in front of its first
 * use, so no temporary value may ever use its register.
 */
#include "unwind/script/frames_code.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

void code_init(struct script_code *code)
{
	*code = (struct script_code){
		.variables = SCRIPT_REGISTERS, .next = SCRIPT_LOCALS, .highest = SCRIPT_LOCALS};
	vec_init(&code->instructions, sizeof(struct script_instruction));
}

void code_deinit(struct script_code *code)
{
	vec_deinit(&code->instructions);
}

struct script_program *code_finish(struct script_code *code)
{
	const size_t bytes = code->instructions.count * sizeof(struct script_instruction);
	struct script_program *program = xmalloc(sizeof *program + bytes);

	program->count = (uint32_t)code->instructions.count;
	if (bytes)
		memcpy(program->instructions, code->instructions.items, bytes);
	const bool overflow = code->overflow;

	code_deinit(code);
	code_init(code);
	code->overflow = overflow;
	return program;
}

uint8_t code_temporary(struct script_code *code)
{
	if (code->next >= code->variables) {
		code->overflow = true;
		return SCRIPT_LOCALS;
	}
	const unsigned number = code->next++;

	if (code->highest < code->next)
		code->highest = code->next;
	return (uint8_t)number;
}

uint8_t code_variable(struct script_code *code)
{
	if (code->variables <= code->highest) {
		code->overflow = true;
		return SCRIPT_REGISTERS - 1;
	}
	return (uint8_t)--code->variables;
}

static bool is_temporary(const struct script_code *code, uint8_t number)
{
	return number >= SCRIPT_LOCALS && number < code->variables;
}

/* Returns the last instruction if it computes this register and no jump leads behind it. */
static struct script_instruction *last_that_sets(const struct script_code *code, uint8_t target)
{
	const size_t count = code->instructions.count;

	if (count <= code->label)
		return NULL;
	struct script_instruction *last = vec_at(&code->instructions, count - 1);

	return last->target == target && last->operation <= SCRIPT_LE ? last : NULL;
}

struct script_operand code_keep(struct script_code *code, unsigned mark,
				struct script_operand operand)
{
	if (!is_temporary(code, operand.base) || operand.base < mark) {
		code->next = mark;
		return operand;
	}
	struct script_instruction *last = last_that_sets(code, operand.base);

	if (last) {
		last->target = (uint8_t)mark;
		operand.base = (uint8_t)mark;
	}
	code->next = operand.base + 1U;
	return operand;
}

void code_drop_temporaries(struct script_code *code)
{
	code->next = SCRIPT_LOCALS;
}

static void put(struct script_code *code, enum script_operation operation, uint8_t target,
		uint8_t left, struct script_operand right)
{
	const struct script_instruction instruction = {.operation = (uint8_t)operation,
						       .target = target,
						       .left = left,
						       .right = right.base,
						       .value = (int32_t)right.offset};

	if (code->instructions.count == SCRIPT_INSTRUCTIONS_MAX)
		code->overflow = true;
	else
		vec_push(&code->instructions, &instruction);
}

static bool fits(int64_t number)
{
	return number >= INT32_MIN && number <= INT32_MAX;
}

/* Puts a number of any size into a register. */
static void set_number(struct script_code *code, uint8_t target, int64_t number)
{
	const uint64_t bits = (uint64_t)number;

	if (fits(number)) {
		put(code, SCRIPT_SET, target, 0, operand_number(number));
		return;
	}
	put(code, SCRIPT_SET, target, 0, operand_number((int64_t)(bits >> 34)));
	put(code, SCRIPT_SHL, target, target, operand_number(17));
	put(code, SCRIPT_OR, target, target, operand_number((int64_t)(bits >> 17 & 0x1ffff)));
	put(code, SCRIPT_SHL, target, target, operand_number(17));
	put(code, SCRIPT_OR, target, target, operand_number((int64_t)(bits & 0x1ffff)));
}

/* Returns the operand, or one with the same value whose offset fits into an instruction. */
static struct script_operand shortened(struct script_code *code, struct script_operand operand)
{
	if (fits(operand.offset))
		return operand;
	const uint8_t target = code_temporary(code);

	set_number(code, target, operand.offset);
	if (operand.base)
		put(code, SCRIPT_ADD, target, target, operand_register(operand.base));
	return operand_register(target);
}

uint8_t code_in_register(struct script_code *code, struct script_operand operand)
{
	operand = shortened(code, operand);
	if (!operand.offset)
		return operand.base;
	const uint8_t target = code_temporary(code);

	put(code, SCRIPT_SET, target, 0, operand);
	return target;
}

void code_assign(struct script_code *code, uint8_t target, struct script_operand operand)
{
	operand = shortened(code, operand);
	/* The last instruction may just as well write to `target` itself. */
	struct script_instruction *last = is_temporary(code, operand.base) && !operand.offset
						  ? last_that_sets(code, operand.base)
						  : NULL;

	if (last)
		last->target = target;
	else
		put(code, SCRIPT_SET, target, 0, operand);
}

struct script_operand code_load(struct script_code *code, enum script_operation size,
				struct script_operand address)
{
	address = shortened(code, address);
	const uint8_t target = code_temporary(code);

	put(code, size, target, address.base, operand_number(address.offset));
	return operand_register(target);
}

/* Computes with numbers as the executor does; division and comparison have int64_t operands. */
static int64_t fold(enum script_operation operation, int64_t left, int64_t right)
{
	const uint64_t x = (uint64_t)left;
	const uint64_t y = (uint64_t)right;

	switch (operation) {
	case SCRIPT_ADD:
		return (int64_t)(x + y);
	case SCRIPT_SUB:
		return (int64_t)(x - y);
	case SCRIPT_MUL:
		return (int64_t)(x * y);
	case SCRIPT_DIV:
		return !right ? 0 : right == -1 ? (int64_t)(0 - x) : left / right;
	case SCRIPT_AND:
		return (int64_t)(x & y);
	case SCRIPT_OR:
		return (int64_t)(x | y);
	case SCRIPT_SHL:
		return y < 64 ? (int64_t)(x << y) : 0;
	case SCRIPT_SHR:
		return y < 64 ? (int64_t)(x >> y) : 0;
	case SCRIPT_EQ:
		return left == right;
	case SCRIPT_NE:
		return left != right;
	case SCRIPT_LT:
		return left < right;
	default:
		return left <= right;
	}
}

struct script_operand code_compute(struct script_code *code, enum script_operation operation,
				   struct script_operand left, struct script_operand right)
{
	if (operand_is_number(left) && operand_is_number(right))
		return operand_number(fold(operation, left.offset, right.offset));
	if ((operation == SCRIPT_ADD || operation == SCRIPT_SUB) && operand_is_number(right)) {
		left.offset = fold(operation, left.offset, right.offset);
		return left;
	}
	if (operation == SCRIPT_ADD && operand_is_number(left)) {
		right.offset = fold(operation, right.offset, left.offset);
		return right;
	}
	const uint8_t first = code_in_register(code, left);
	const struct script_operand second = shortened(code, right);
	const uint8_t target = code_temporary(code);

	put(code, operation, target, first, second);
	return operand_register(target);
}

size_t code_jump(struct script_code *code)
{
	put(code, SCRIPT_JUMP, 0, 0, operand_number(0));
	return code->instructions.count - 1;
}

size_t code_jump_if_zero(struct script_code *code, struct script_operand condition)
{
	const uint8_t tested = code_in_register(code, condition);

	put(code, SCRIPT_JUMP_ZERO, 0, tested, operand_number(0));
	return code->instructions.count - 1;
}

void code_jump_back(struct script_code *code, size_t index)
{
	put(code, SCRIPT_JUMP, 0, 0, operand_number((int64_t)index));
}

size_t code_here(struct script_code *code)
{
	code->label = code->instructions.count;
	return code->label;
}

void code_land(struct script_code *code, size_t index)
{
	struct script_instruction *jump = vec_at(&code->instructions, index);

	jump->value = (int32_t)code_here(code);
}

void code_emit(struct script_code *code, const struct script_operand words[SCRIPT_FRAME_WORDS])
{
	struct script_operand operands[SCRIPT_FRAME_WORDS];

	for (unsigned i = 0; i < SCRIPT_FRAME_WORDS; i++)
		operands[i] = shortened(code, words[i]);
	const unsigned first = code->next;

	for (unsigned i = 0; i < SCRIPT_FRAME_WORDS; i++)
		put(code, SCRIPT_SET, code_temporary(code), 0, operands[i]);
	put(code, SCRIPT_EMIT, 0, (uint8_t)first, operand_number(0));
}

void code_result(struct script_code *code, unsigned index, struct script_operand operand)
{
	const uint8_t from = code_in_register(code, operand);

	put(code, SCRIPT_RESULT, 0, from, operand_number(index));
}

void code_end(struct script_code *code)
{
	put(code, SCRIPT_END, 0, 0, operand_number(0));
}
