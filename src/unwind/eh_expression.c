/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evaluates the DWARF expressions of call-frame instructions.
 *
 * Compilers use few operations there: registers, numbers, sums, memory. The others are here because
 * hand-written code uses some of them. Operations that need more than a frame (types, pieces,
 * thread-local storage, addresses that are relocated) are refused. An expression may jump back, so
 * its steps are counted; its stack is bounded. Source: DWARF 5, section 2.5.
 */
#include "unwind/eh_expression.h"

#include <errno.h>

enum { STEPS_MAX = 512, STACK_MAX = 32, EXPRESSION_MAX = 4096 };

enum {
	DW_CONSTANT_1U = 0x08,
	DW_CONSTANT_1S = 0x09,
	DW_CONSTANT_2U = 0x0a,
	DW_CONSTANT_2S = 0x0b,
	DW_CONSTANT_4U = 0x0c,
	DW_CONSTANT_4S = 0x0d,
	DW_CONSTANT_8U = 0x0e,
	DW_CONSTANT_8S = 0x0f,
	DW_CONSTANT_U = 0x10,
	DW_CONSTANT_S = 0x11,
	DW_DUPLICATE = 0x12,
	DW_DROP = 0x13,
	DW_OVER = 0x14,
	DW_PICK = 0x15,
	DW_SWAP = 0x16,
	DW_ROTATE = 0x17,
	DW_ABSOLUTE = 0x19,
	DW_DIVIDE = 0x1b,
	DW_MINUS = 0x1c,
	DW_MODULO = 0x1d,
	DW_MULTIPLY = 0x1e,
	DW_NEGATE = 0x1f,
	DW_NOT = 0x20,
	DW_OR = 0x21,
	DW_SHIFT_RIGHT = 0x25,
	DW_SHIFT_RIGHT_SIGNED = 0x26,
	DW_EXCLUSIVE_OR = 0x27,
	DW_BRANCH = 0x28,
	DW_EQUAL = 0x29,
	DW_GREATER = 0x2b,
	DW_LESS_EQUAL = 0x2c,
	DW_LESS = 0x2d,
	DW_NOT_EQUAL = 0x2e,
	DW_SKIP = 0x2f,
	DW_BASE_REGISTER_X = 0x92,
	DW_DEREF_SIZE = 0x94,
	DW_NO_OPERATION = 0x96
};

struct evaluation {
	struct eh_reader *reader;
	const struct eh_environment *environment;
	uint64_t start, end; /* addresses of its bytes */
	uint64_t stack[STACK_MAX];
	unsigned depth;
	int error;
};

static void fail(struct evaluation *run, int error)
{
	if (!run->error)
		run->error = error;
}

static uint64_t wrap(const struct evaluation *run, uint64_t value)
{
	return run->environment->word == 4 ? (uint32_t)value : value;
}

/* A word as a signed number. */
static int64_t sign(const struct evaluation *run, uint64_t value)
{
	return run->environment->word == 4 ? (int32_t)value : (int64_t)value;
}

static void push(struct evaluation *run, uint64_t value)
{
	if (run->depth == STACK_MAX)
		fail(run, -EINVAL);
	else
		run->stack[run->depth++] = wrap(run, value);
}

static uint64_t pop(struct evaluation *run)
{
	if (run->depth)
		return run->stack[--run->depth];
	fail(run, -EINVAL);
	return 0;
}

static void pick(struct evaluation *run, unsigned index)
{
	if (index < run->depth)
		push(run, run->stack[run->depth - 1 - index]);
	else
		fail(run, -EINVAL);
}

static void push_register(struct evaluation *run, uint64_t reg)
{
	const struct eh_environment *environment = run->environment;
	uint64_t offset = eh_value(run->reader, EH_SLEB128);

	if (reg < 32 && environment->known >> reg & 1)
		push(run, environment->registers[reg] + offset);
	else
		fail(run, -ENODATA);
}

static void dereference(struct evaluation *run, unsigned size)
{
	const struct eh_environment *environment = run->environment;
	uint64_t address = pop(run), value = 0;

	if (size != 1 && size != 2 && size != 4 && size != 8)
		fail(run, -EINVAL);
	else if (!environment->read(environment->context, address, size, &value))
		fail(run, -EFAULT);
	push(run, value);
}

static void jump(struct evaluation *run, int64_t distance)
{
	uint64_t to = run->reader->at + (uint64_t)distance;

	if (to < run->start || to > run->end)
		fail(run, -EINVAL);
	else
		eh_seek(run->reader, to);
}

static void branch(struct evaluation *run, int64_t distance)
{
	if (pop(run))
		jump(run, distance);
}

static void push_absolute(struct evaluation *run, uint64_t value)
{
	push(run, sign(run, value) < 0 ? 0 - value : value);
}

static void rotate(struct evaluation *run)
{
	uint64_t first = pop(run), second = pop(run), third = pop(run);

	push(run, first);
	push(run, third);
	push(run, second);
}

static uint64_t shift(const struct evaluation *run, uint8_t code, uint64_t value, uint64_t by)
{
	unsigned bits = 8 * run->environment->word;

	if (code == DW_SHIFT_RIGHT_SIGNED)
		return (uint64_t)(sign(run, value) >> (by < bits ? by : bits - 1));
	if (by >= bits)
		return 0;
	return code == DW_SHIFT_LEFT ? value << by : value >> by;
}

static uint64_t divide(struct evaluation *run, uint8_t code, uint64_t left, uint64_t right)
{
	int64_t dividend = sign(run, left), divisor = sign(run, right);

	if (!right) {
		fail(run, -EINVAL);
		return 0;
	}
	if (code == DW_MODULO)
		return left % right;
	return divisor == -1 ? 0 - left : (uint64_t)(dividend / divisor);
}

/* Runs an operation with two operands. Returns false for any other one. */
static bool run_binary(struct evaluation *run, uint8_t code)
{
	if (code < DW_AND || code > DW_NOT_EQUAL || code == DW_NEGATE || code == DW_NOT ||
	    code == DW_PLUS_CONSTANT || code == DW_BRANCH)
		return false;
	uint64_t right = pop(run), left = pop(run);
	int64_t greater = sign(run, left) > sign(run, right);
	int64_t less = sign(run, left) < sign(run, right);
	uint64_t results[] = {
		[DW_AND - DW_AND] = left & right,
		[DW_MINUS - DW_AND] = left - right,
		[DW_MULTIPLY - DW_AND] = left * right,
		[DW_OR - DW_AND] = left | right,
		[DW_PLUS - DW_AND] = left + right,
		[DW_EXCLUSIVE_OR - DW_AND] = left ^ right,
		[DW_EQUAL - DW_AND] = left == right,
		[DW_GREATER_EQUAL - DW_AND] = !less,
		[DW_GREATER - DW_AND] = (uint64_t)greater,
		[DW_LESS_EQUAL - DW_AND] = !greater,
		[DW_LESS - DW_AND] = (uint64_t)less,
		[DW_NOT_EQUAL - DW_AND] = left != right,
	};

	if (code == DW_DIVIDE || code == DW_MODULO)
		push(run, divide(run, code, left, right));
	else if (code == DW_SHIFT_LEFT || code == DW_SHIFT_RIGHT || code == DW_SHIFT_RIGHT_SIGNED)
		push(run, shift(run, code, left, right));
	else
		push(run, results[code - DW_AND]);
	return true;
}

/* Runs an operation that pushes a number. Returns false for any other one. */
static bool run_constant(struct evaluation *run, uint8_t code)
{
	struct eh_reader *reader = run->reader;

	if (code >= DW_LITERAL && code < DW_LITERAL + DW_RANGE) {
		push(run, code - DW_LITERAL);
		return true;
	}
	switch (code) {
	case DW_CONSTANT_1U:
		push(run, eh_fixed(reader, 1));
		return true;
	case DW_CONSTANT_1S:
		push(run, (uint64_t)(int8_t)eh_fixed(reader, 1));
		return true;
	case DW_CONSTANT_2U:
		push(run, eh_fixed(reader, 2));
		return true;
	case DW_CONSTANT_2S:
		push(run, eh_value(reader, EH_SDATA2));
		return true;
	case DW_CONSTANT_4U:
		push(run, eh_fixed(reader, 4));
		return true;
	case DW_CONSTANT_4S:
		push(run, eh_value(reader, EH_SDATA4));
		return true;
	case DW_CONSTANT_8U:
	case DW_CONSTANT_8S:
		push(run, eh_fixed(reader, 8));
		return true;
	case DW_CONSTANT_U:
		push(run, eh_uleb(reader));
		return true;
	case DW_CONSTANT_S:
		push(run, eh_value(reader, EH_SLEB128));
		return true;
	default:
		return false;
	}
}

/* Runs an operation that moves what is on the stack. Returns false for any other one. */
static bool run_stack(struct evaluation *run, uint8_t code)
{
	uint64_t top, below;

	switch (code) {
	case DW_DUPLICATE:
		pick(run, 0);
		return true;
	case DW_DROP:
		pop(run);
		return true;
	case DW_OVER:
		pick(run, 1);
		return true;
	case DW_PICK:
		pick(run, (unsigned)eh_fixed(run->reader, 1));
		return true;
	case DW_SWAP:
		top = pop(run);
		below = pop(run);
		push(run, top);
		push(run, below);
		return true;
	case DW_ROTATE:
		rotate(run);
		return true;
	default:
		return false;
	}
}

static void run_other(struct evaluation *run, uint8_t code)
{
	struct eh_reader *reader = run->reader;

	if (code >= DW_BASE_REGISTER && code < DW_BASE_REGISTER + DW_RANGE)
		push_register(run, code - DW_BASE_REGISTER);
	else if (code == DW_BASE_REGISTER_X)
		push_register(run, eh_uleb(reader));
	else if (code == DW_DEREF)
		dereference(run, run->environment->word);
	else if (code == DW_DEREF_SIZE)
		dereference(run, (unsigned)eh_fixed(reader, 1));
	else if (code == DW_PLUS_CONSTANT)
		push(run, pop(run) + eh_uleb(reader));
	else if (code == DW_NEGATE)
		push(run, 0 - pop(run));
	else if (code == DW_NOT)
		push(run, ~pop(run));
	else if (code == DW_ABSOLUTE)
		push_absolute(run, pop(run));
	else if (code == DW_SKIP)
		jump(run, (int64_t)eh_value(reader, EH_SDATA2));
	else if (code == DW_BRANCH)
		branch(run, (int64_t)eh_value(reader, EH_SDATA2));
	else if (code != DW_NO_OPERATION)
		fail(run, -EINVAL);
}

int eh_evaluate(struct eh_reader *reader, uint64_t address,
		const struct eh_environment *environment, const uint64_t *initial, uint64_t *result)
{
	struct evaluation run = {.reader = reader, .environment = environment};

	eh_seek(reader, address);
	uint64_t length = eh_uleb(reader);

	if (reader->failed || length > EXPRESSION_MAX)
		return -EINVAL;
	run.start = reader->at;
	run.end = reader->at + length;
	if (initial)
		push(&run, *initial);
	for (unsigned steps = 0; reader->at < run.end && !run.error; steps++) {
		uint8_t code = (uint8_t)eh_fixed(reader, 1);

		if (steps == STEPS_MAX || reader->failed)
			return -EINVAL;
		if (!run_constant(&run, code) && !run_stack(&run, code) && !run_binary(&run, code))
			run_other(&run, code);
	}
	if (!run.error && (reader->failed || reader->at != run.end))
		return -EINVAL;
	*result = pop(&run);
	return run.error;
}
