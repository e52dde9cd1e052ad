/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From prototype to capture plan: where the calling convention of an ABI puts each parameter, and
 * which operations therefore capture it.
 *
 * System V AMD64 psABI 3.2.3: integers and pointers take the integer registers in order, float and
 * double the xmm registers in order, whatever finds no register the stack; long double always the
 * stack, in 16 bytes aligned to 16. i386 psABI 2.2: everything on the stack in slots of four bytes
 * (long long and double two, long double three, none aligned further). struct abi brings both under
 * one rule: classes with a number of registers each, then slots of a word. The value of an argument
 * smaller than its register or slot is its low bytes: the rest is garbage by both documents, so each
 * word is cut and extended by its own size and sign.
 *
 * An argument wider than a word never goes to an integer register: neither ABI has such a case (i386
 * has no integer registers), and splitting it over two would be a third convention.
 *
 * Results: integers in ax, on i386 long long in dx:ax; float and double in xmm0 or st(0); long double
 * in st(0) on both.
 *
 * The plan and its operations are one block of memory.
 */
#include "proto/plan.h"

#include "base/xalloc.h"

#include <stdlib.h>

/* Registers and stack given away so far. */
struct placement {
	const struct abi *abi;
	unsigned ints;
	unsigned fps;
	unsigned stack; /* offset of the next stack argument */
};

static bool is_long_double(const struct type *type)
{
	return type->kind == TYPE_FLOAT && type->width == WIDTH_LONG_DOUBLE;
}

static unsigned round_up(unsigned number, unsigned multiple)
{
	return (number + multiple - 1) / multiple * multiple;
}

/* Takes the next place on the stack for an object. */
static int32_t place_on_stack(struct placement *placement, const struct type *type, unsigned size)
{
	const struct abi *abi = placement->abi;
	unsigned slots = round_up(size, abi->word);
	/* 16 bytes are aligned to 16, the 12 of i386 like any slot; the area itself is aligned. */
	unsigned align = is_long_double(type) && slots == 16 ? 16 : abi->word;
	unsigned offset = round_up(placement->stack - abi->stack_first, align) + abi->stack_first;

	placement->stack = offset + slots;
	return (int32_t)offset;
}

static struct capture_location place_parameter(struct placement *placement, const struct type *type)
{
	const struct abi *abi = placement->abi;
	unsigned size = type_size(type, abi->word);
	struct capture_location location = {
		.size = (uint8_t)size,
		.is_signed = type->is_signed && type->kind == TYPE_INT,
	};

	if (type->kind == TYPE_FLOAT && !is_long_double(type) && placement->fps < abi->fp_args) {
		location.place = PLACE_XMM;
		location.index = (uint8_t)placement->fps++;
	} else if (type->kind != TYPE_FLOAT && size <= abi->word &&
		   placement->ints < abi->int_args) {
		location.place = PLACE_GPR;
		location.index = abi->int_arg[placement->ints++];
	} else {
		location.place = PLACE_STACK;
		location.offset = place_on_stack(placement, type, size);
	}
	return location;
}

static enum capture_kind kind_of(const struct type *type)
{
	switch ((enum type_kind)type->kind) {
	case TYPE_FLOAT:
		return CAPTURE_FLOAT;
	case TYPE_STRING:
		return CAPTURE_STRING;
	case TYPE_FORMAT:
		return CAPTURE_FORMAT;
	case TYPE_VOID:
	case TYPE_INT:
	case TYPE_POINTER:
		break;
	}
	return CAPTURE_WORD;
}

/* How long a string is, as far as the plan's parameters go. */
static void set_length(struct capture_op *op, const struct type *type, unsigned arg_count)
{
	op->length_from = LENGTH_NUL;
	op->length = type->length;
	op->zero_ends = type->zero_ends;
	if (type->kind != TYPE_STRING)
		return;
	switch ((enum string_length)type->length_from) {
	case STRING_CONSTANT:
		op->length_from = LENGTH_CONSTANT;
		break;
	case STRING_ARGUMENT:
		if (type->length < arg_count)
			op->length_from = LENGTH_ARGUMENT;
		break;
	case STRING_RESULT:
		op->length_from = LENGTH_RESULT;
		break;
	case STRING_NUL:
		break;
	}
}

static struct capture_op make_op(const struct type *type, const struct capture_location *location,
				 unsigned argument, unsigned arg_count)
{
	struct capture_op op = {
		.kind = (uint8_t)kind_of(type),
		.place = location->place,
		.index = location->index,
		.size = location->size,
		.is_signed = location->is_signed,
		.argument = (uint8_t)argument,
		.offset = location->offset,
	};

	set_length(&op, type, arg_count);
	return op;
}

static struct capture_op make_result(const struct type *type, const struct abi *abi,
				     unsigned arg_count)
{
	struct capture_location location = {
		.place = PLACE_GPR,
		.index = REG_AX,
		.size = (uint8_t)type_size(type, abi->word),
		.is_signed = type->is_signed && type->kind == TYPE_INT,
	};

	if (type->kind == TYPE_FLOAT) {
		bool in_st0 = abi->fp_result_in_st0 || is_long_double(type);

		location.place = in_st0 ? PLACE_ST0 : PLACE_XMM;
		location.index = 0;
	} else if (location.size > abi->word) {
		location.place = PLACE_PAIR;
	}
	struct capture_op op = make_op(type, &location, VALUE_RESULT, arg_count);

	op.high = REG_DX;
	return op;
}

/* A plan with room for `count` operations behind it. */
static struct capture_plan *allocate(size_t count, struct capture_op **ops)
{
	struct capture_plan *plan = xcalloc(1, sizeof *plan + count * sizeof **ops);

	_Static_assert(sizeof(struct capture_plan) % _Alignof(struct capture_op) == 0,
		       "operations follow the plan");
	*ops = (struct capture_op *)(void *)(plan + 1);
	plan->entry = *ops;
	plan->exit = *ops;
	return plan;
}

/* Marks what the return half needs of the entry; `op` is one of its operations. */
static void save_for(struct capture_plan *plan, struct capture_op *op)
{
	if (op->length_from == LENGTH_ARGUMENT) {
		plan->saved_mask |= 1U << op->length;
		plan->needs_saved = true;
	}
	if (op->argument == VALUE_RESULT)
		return;
	plan->needs_saved = true;
	/* More than a word: read from where it is, hoping the callee left it alone. */
	if (op->place == PLACE_STACK && op->size > sizeof(uint64_t))
		return;
	plan->saved_mask |= 1U << op->argument;
	op->place = PLACE_SAVED;
	op->index = op->argument;
}

static void place_parameters(struct capture_plan *plan, const struct prototype *prototype,
			     const struct abi *abi)
{
	struct placement placement = {.abi = abi, .stack = abi->stack_first};

	for (unsigned i = 0; i < plan->arg_count; i++)
		plan->args[i] = place_parameter(&placement, prototype->parameters[i].type);
	plan->next_int = (uint8_t)placement.ints;
	plan->next_fp = (uint8_t)placement.fps;
	plan->first_stack = (int32_t)abi->stack_first;
	plan->next_stack = (int32_t)placement.stack;
	plan->word = (uint8_t)abi->word;
	plan->int_args = (uint8_t)abi->int_args;
	plan->fp_args = (uint8_t)abi->fp_args;
	for (unsigned i = 0; i < sizeof plan->int_arg; i++)
		plan->int_arg[i] = abi->int_arg[i];
}

/* Which registers the engine must have fetched for each half. */
static void note_needs(struct capture_plan *plan)
{
	for (unsigned i = 0; i < plan->entry_count; i++) {
		const struct capture_op *op = &plan->entry[i];

		if (op->kind == CAPTURE_FORMAT)
			plan->varargs = true;
		if (op->place == PLACE_XMM)
			plan->needs_fp_entry = true;
	}
	for (unsigned i = 0; i < plan->exit_count; i++) {
		const struct capture_op *op = &plan->exit[i];

		if (op->kind == CAPTURE_FORMAT)
			plan->varargs = plan->saves_varargs = true;
		if (op->place == PLACE_XMM || op->place == PLACE_ST0)
			plan->needs_fp_exit = true;
	}
	for (unsigned i = 0; i < plan->arg_count; i++)
		if ((plan->saved_mask >> i & 1) && plan->args[i].place == PLACE_XMM)
			plan->needs_fp_entry = true;
	if (plan->varargs && plan->fp_args)
		plan->needs_fp_entry = true;
}

struct capture_plan *plan_create(const struct prototype *prototype, const struct abi *abi,
				 unsigned string_max)
{
	unsigned count = prototype->parameter_count;
	struct capture_op *next;

	if (count > CAPTURE_ARGS_MAX)
		count = CAPTURE_ARGS_MAX;
	struct capture_plan *plan = allocate(count + 1, &next);

	plan->string_max = string_max;
	plan->arg_count = (uint8_t)count;
	place_parameters(plan, prototype, abi);

	unsigned i = 0;

	for (; i < count && !prototype->parameters[i].on_return; i++)
		*next++ = make_op(prototype->parameters[i].type, &plan->args[i], i, count);
	plan->entry_count = (uint16_t)i;
	plan->exit = next;
	if (prototype->result->kind != TYPE_VOID) {
		*next = make_result(prototype->result, abi, count);
		save_for(plan, next++);
	}
	for (; i < count; i++) {
		*next = make_op(prototype->parameters[i].type, &plan->args[i], i, count);
		save_for(plan, next++);
	}
	plan->exit_count = (uint16_t)(next - plan->exit);
	note_needs(plan);
	return plan;
}

struct capture_plan *plan_create_empty(void)
{
	struct capture_op *ops;

	return allocate(0, &ops);
}

void plan_destroy(struct capture_plan *plan)
{
	free(plan);
}
