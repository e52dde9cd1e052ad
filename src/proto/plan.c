/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compiles a prototype into a capture plan: operations that capture the parameters and the result
 * from the places where the calling convention of an ABI passes them (plan_place.c), and the parts
 * of objects (plan_parts.c).
 *
 * Results: integers are in ax, on i386 long long in dx:ax; float and double in xmm0 or st(0); long
 * double in st(0) on both; structs as plan_place.c says.
 *
 * A parameter that is captured at the return has to be saved at the entry, as the callee may
 * overwrite registers and stack words. Each parameter has room for one saved word, numbered like
 * the parameter. The second word of an object in two registers gets a number behind those of the
 * parameters, if one is left.
 *
 * The plan, its operations, parts, choices, scalars and condition are one block of memory.
 */
#include "proto/plan.h"

#include "base/xalloc.h"
#include "proto/plan_parts.h"
#include "proto/plan_place.h"
#include "proto/plan_private.h"
#include "record/condition.h"

#include <stdlib.h>
#include <string.h>

enum {
	ST0_BYTES = 16,
	NOWHERE = UINT8_MAX,	 /* stands for no register */
	FOLLOWED_EACH = 1 << 10, /* bytes captured for each level of pointers that are followed */
	FOLLOWED_LEVELS = 4	 /* levels counted at least */
};

/* The plan so far. */
struct planning {
	const struct prototype *prototype;
	const struct abi *abi;
	struct capture_plan plan;
	struct object_place places[CAPTURE_ARGS_MAX];
	struct plan_parts parts;
	struct vec ops;	    /* struct capture_op */
	struct vec choices; /* struct capture_choice */
	struct vec scalars; /* struct capture_scalar */
	unsigned saved;	    /* words saved in addition to those of the parameters */
};

static enum capture_kind kind_of(const struct type *type)
{
	switch ((enum type_kind)type->kind) {
	case TYPE_FLOAT:
		return CAPTURE_FLOAT;
	case TYPE_STRING:
		return CAPTURE_STRING;
	case TYPE_FORMAT:
		return CAPTURE_FORMAT;
	case TYPE_POINTER:
		return type->target ? CAPTURE_OBJECT : CAPTURE_WORD;
	case TYPE_STRUCT:
	case TYPE_ARRAY:
		return CAPTURE_INLINE;
	case TYPE_VOID:
	case TYPE_INT:
		break;
	}
	return CAPTURE_WORD;
}

static struct capture_op make_op(struct planning *planning, const struct type *type,
				 const struct capture_location *location, unsigned argument)
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

	if (location->place == PLACE_PAIR)
		op.high = (uint8_t)location->offset;
	if (type->kind == TYPE_STRING) {
		op.length_from = (uint8_t)plan_length_of(type, planning->plan.arg_count);
		op.length = type->length;
		op.zero_ends = type->zero_ends;
		op.result_ends = type->result_ends;
	}
	if (type->kind == TYPE_FORMAT) {
		op.is_wide = type->is_wide;
		op.part = type->dialect;
	}
	if (op.kind == CAPTURE_OBJECT || op.kind == CAPTURE_INLINE) {
		op.part = plan_parts_add(&planning->parts, type);
		if (op.part == PLAN_NO_PART)
			op.kind = CAPTURE_WORD;
	}
	return op;
}

static uint8_t piece_of(const struct capture_location *location)
{
	unsigned base = location->place == PLACE_XMM ? PIECE_XMM : PIECE_GPR;

	return (uint8_t)(base + location->index);
}

/* Makes the operation for an object in registers by Go's convention. */
static struct capture_op make_scalars(struct planning *planning, struct capture_op op,
				      const struct type *type, const struct object_place *place,
				      unsigned argument)
{
	op.place = PLACE_SCALARS;
	op.size = (uint8_t)type_size(type, planning->abi->word);
	op.index = (uint8_t)planning->scalars.count;
	op.high = (uint8_t)place->scalar_count;
	for (unsigned i = 0; i < place->scalar_count; i++)
		vec_push(&planning->scalars, &place->scalars[i]);
	if (planning->scalars.count <= UINT8_MAX)
		return op;
	return (struct capture_op){.kind = CAPTURE_WORD,
				   .place = PLACE_XMM,
				   .index = NOWHERE,
				   .argument = (uint8_t)argument};
}

/*
 * Makes the operation for an object that is passed by value. An object with too many parts becomes
 * a word without a meaning.
 */
static struct capture_op make_inline(struct planning *planning, const struct type *type,
				     const struct object_place *place, unsigned argument)
{
	struct capture_op op = make_op(planning, type, &place->location[0], argument);

	if (op.kind == CAPTURE_WORD || place->location[0].place == PLACE_STACK) {
		op.size = (uint8_t)planning->abi->word;
		return op;
	}
	if (planning->abi->is_go)
		return make_scalars(planning, op, type, place, argument);
	op.place = PLACE_PIECES;
	op.size = (uint8_t)type_size(type, planning->abi->word);
	op.index = piece_of(&place->location[0]);
	op.high = place->words == 2 ? piece_of(&place->location[1]) : PIECE_NONE;
	return op;
}

static struct capture_op make_object_result(struct planning *planning, const struct type *type)
{
	static const struct capture_location ax = {.place = PLACE_GPR, .index = REG_AX};
	struct object_place place;
	struct capture_op op;

	plan_place_result(planning->abi, type, &place);
	if (place.in_memory) {
		op = make_op(planning, type, &ax, VALUE_RESULT);
		op.size = (uint8_t)planning->abi->word;
		if (op.kind == CAPTURE_INLINE)
			op.kind = CAPTURE_OBJECT;
		return op;
	}
	op = make_inline(planning, type, &place, VALUE_RESULT);
	if (place.in_st0 && op.kind == CAPTURE_INLINE) {
		op.index = PIECE_ST0;
		op.size = type->is_complex ? 2 * ST0_BYTES : ST0_BYTES;
	}
	return op;
}

/* Makes the operation for a result of Go. A result on the stack is not captured. */
static struct capture_op make_go_result(struct planning *planning, const struct type *type)
{
	struct placement placement = {.abi = planning->abi};
	struct object_place place;
	struct capture_op op;

	plan_place_parameter(&placement, type, &place);
	op = place.is_inline ? make_inline(planning, type, &place, VALUE_RESULT)
			     : make_op(planning, type, &place.location[0], VALUE_RESULT);
	if (op.place == PLACE_STACK)
		op = (struct capture_op){.kind = CAPTURE_WORD,
					 .place = PLACE_XMM,
					 .index = NOWHERE,
					 .argument = VALUE_RESULT};
	return op;
}

static struct capture_op make_result(struct planning *planning, const struct type *type)
{
	const struct abi *abi = planning->abi;
	struct capture_location location = {
		.place = PLACE_GPR,
		.index = REG_AX,
		.size = (uint8_t)type_size(type, abi->word),
		.is_signed = type->is_signed && type->kind == TYPE_INT,
	};

	if (abi->is_go)
		return make_go_result(planning, type);
	if (type->kind == TYPE_STRUCT)
		return make_object_result(planning, type);
	if (type->kind == TYPE_FLOAT) {
		bool in_st0 = abi->fp_result_in_st0 || type->width == WIDTH_LONG_DOUBLE;

		location.place = in_st0 ? PLACE_ST0 : PLACE_XMM;
		location.index = 0;
	} else if (location.size > abi->word) {
		location.place = PLACE_PAIR;
		location.offset = REG_DX;
	}
	return make_op(planning, type, &location, VALUE_RESULT);
}

/* Makes the plan save word `index` of a call, which is at `location` at the entry. */
static uint8_t save_word(struct planning *planning, unsigned index,
			 const struct capture_location *location)
{
	planning->plan.args[index] = *location;
	planning->plan.saved_mask |= 1U << index;
	return (uint8_t)index;
}

/* Saves the second word of an object in registers; PIECE_NONE: no room is left to save it. */
static uint8_t save_second(struct planning *planning, const struct capture_location *location)
{
	unsigned index = planning->plan.arg_count + planning->saved;

	if (index >= CAPTURE_ARGS_MAX)
		return PIECE_NONE;
	planning->saved++;
	return (uint8_t)(PIECE_SAVED + save_word(planning, index, location));
}

/* Changes an operation of the return half so that it reads what was saved at the entry. */
static void save_for(struct planning *planning, struct capture_op *op)
{
	struct capture_plan *plan = &planning->plan;

	if (op->argument == VALUE_RESULT)
		return;
	plan->needs_saved = true;
	const struct object_place *place = &planning->places[op->argument];

	/* An object of Go is more than a word, and cannot be saved. */
	if (op->place == PLACE_SCALARS) {
		op->kind = CAPTURE_WORD;
		op->place = PLACE_XMM;
		op->index = NOWHERE;
		return;
	}
	if (op->place == PLACE_PIECES) {
		op->index = (uint8_t)(PIECE_SAVED +
				      save_word(planning, op->argument, &place->location[0]));
		if (place->words == 2)
			op->high = save_second(planning, &place->location[1]);
		return;
	}
	/* More than a word is read from the stack, which the callee may have changed. */
	if (op->place == PLACE_STACK && (op->size > sizeof(uint64_t) || op->kind == CAPTURE_INLINE))
		return;
	op->index = save_word(planning, op->argument, &place->location[0]);
	op->place = PLACE_SAVED;
}

/* Saves the parameters that are lengths of what the return half captures. */
static void save_lengths(struct planning *planning, const struct type *type)
{
	struct capture_plan *plan = &planning->plan;

	for (unsigned i = 0; i < plan->arg_count; i++) {
		if (!(type->arguments >> i & 1))
			continue;
		plan->saved_mask |= 1U << i;
		plan->needs_saved = true;
	}
}

/* Returns true if a parameter is the length of another one or of the result. */
static bool is_length(const struct prototype *prototype, unsigned index)
{
	uint32_t lengths = prototype->result->arguments;

	for (unsigned i = 0; i < prototype->parameter_count; i++) {
		const struct parameter *parameter = &prototype->parameters[i];

		lengths |= parameter->type->arguments;
		for (unsigned k = 0; k < parameter->choice_count; k++)
			lengths |= parameter->choices[k].type->arguments;
	}
	return lengths >> index & 1;
}

static void note_pointed(struct capture_plan *plan, const struct prototype *prototype,
			 unsigned index)
{
	const struct type *target = prototype->parameters[index].type->target;

	if (prototype->parameters[index].type->kind == TYPE_POINTER && target &&
	    target->kind == TYPE_INT && is_length(prototype, index))
		plan->pointed[index] = (uint8_t)(type_size(target, plan->word) |
						 (target->is_signed ? CAPTURE_SIGNED : 0));
}

/* A parameter with several types is kept in the largest of their sizes. */
static void widen(struct planning *planning, unsigned i)
{
	const struct parameter *parameter = &planning->prototype->parameters[i];
	struct capture_location *location = &planning->places[i].location[0];

	for (unsigned k = 1; k < parameter->choice_count; k++) {
		unsigned size = type_size(parameter->choices[k].type, planning->abi->word);

		if (size > location->size)
			location->size = (uint8_t)size;
	}
}

static void place_parameters(struct planning *planning)
{
	const struct prototype *prototype = planning->prototype;
	const struct abi *abi = planning->abi;
	struct capture_plan *plan = &planning->plan;
	struct placement placement = {.abi = abi, .stack = abi->stack_first};

	plan->word = (uint8_t)abi->word;
	if (prototype->result->kind == TYPE_STRUCT && !abi->is_go) {
		struct object_place result;

		plan_place_result(abi, prototype->result, &result);
		if (result.in_memory && type_size(prototype->result, abi->word))
			plan_place_hidden(&placement);
	}
	for (unsigned i = 0; i < plan->arg_count; i++) {
		plan_place_parameter(&placement, prototype->parameters[i].type,
				     &planning->places[i]);
		widen(planning, i);
		plan->args[i] = planning->places[i].location[0];
		note_pointed(plan, prototype, i);
	}
	plan->next_int = (uint8_t)placement.ints;
	plan->next_fp = (uint8_t)placement.fps;
	plan->first_stack = (int32_t)abi->stack_first;
	plan->next_stack = (int32_t)placement.stack;
	/* Go passes variable arguments in an array. */
	plan->int_args = abi->is_go ? 0 : (uint8_t)abi->int_args;
	plan->fp_args = abi->is_go ? 0 : (uint8_t)abi->fp_args;
	plan->counts_vectors = abi->counts_vectors;
	for (unsigned i = 0; i < sizeof plan->int_arg; i++)
		plan->int_arg[i] = abi->int_arg[i];
}

static bool is_fp_piece(uint8_t piece)
{
	return (piece >= PIECE_XMM && piece < PIECE_SAVED) || piece == PIECE_ST0;
}

static bool uses_fp(const struct capture_plan *plan, const struct capture_op *op)
{
	bool uses = false;

	for (unsigned i = 0; op->place == PLACE_SCALARS && i < op->high; i++)
		uses |= is_fp_piece(plan->scalars[op->index + i].piece);
	if (op->place == PLACE_SCALARS)
		return uses;
	if (op->place == PLACE_PIECES)
		return is_fp_piece(op->index) || is_fp_piece(op->high);
	return op->place == PLACE_XMM || op->place == PLACE_ST0;
}

/* Notes which registers the engine must fetch for each half. */
static void note_needs(struct capture_plan *plan)
{
	for (unsigned i = 0; i < plan->entry_count; i++) {
		plan->varargs |= plan->entry[i].kind == CAPTURE_FORMAT;
		plan->needs_fp_entry |= uses_fp(plan, &plan->entry[i]);
	}
	for (unsigned i = 0; i < plan->exit_count; i++) {
		if (plan->exit[i].kind == CAPTURE_FORMAT)
			plan->varargs = plan->saves_varargs = true;
		plan->needs_fp_exit |= uses_fp(plan, &plan->exit[i]);
	}
	for (unsigned i = 0; i < CAPTURE_ARGS_MAX; i++)
		if ((plan->saved_mask >> i & 1) && plan->args[i].place == PLACE_XMM)
			plan->needs_fp_entry = true;
	if (plan->varargs && plan->fp_args)
		plan->needs_fp_entry = true;
}

/*
 * Returns true for an operation that capture_plain() can execute: one that reads general registers,
 * uses nothing saved at the entry, and is not bounded by the result.
 */
static bool is_plain(const struct capture_plan *plan, const struct capture_op *op)
{
	if (op->place != PLACE_GPR || op->result_ends || op->has_path)
		return false;
	if (op->kind == CAPTURE_WORD ||
	    (op->kind == CAPTURE_STRING && op->length_from == LENGTH_NUL))
		return true;
	return op->kind == CAPTURE_STRING && op->length_from == LENGTH_ARGUMENT &&
	       op->length < plan->arg_count && plan->args[op->length].place == PLACE_GPR &&
	       !plan->pointed[op->length];
}

/* Prepares the operations of one half. Returns true if all are plain and nothing is saved. */
static bool prepare_plain(const struct capture_plan *plan, struct capture_op *ops, unsigned count)
{
	bool plain = !plan->needs_saved && !plan->choice_count;

	for (unsigned i = 0; i < count; i++) {
		struct capture_op *op = &ops[i];

		plain &= is_plain(plan, op);
		op->head = capture_head(op->kind == CAPTURE_STRING ? VALUE_STRING : VALUE_WORD,
					op->argument, op->size);
		op->unused_bits = (uint8_t)capture_unused_bits(op->size);
	}
	return plain;
}

/*
 * Adds one operation for each type that a parameter may have, all with the same place. Each
 * captures as many bytes as its type has.
 */
static void add_choice(struct planning *planning, unsigned i, unsigned which, bool on_return)
{
	const struct parameter *parameter = &planning->prototype->parameters[i];
	const struct choice *choice = &parameter->choices[which];
	struct capture_location location = planning->places[i].location[0];

	if (!choice->value_count || planning->choices.count + choice->value_count > UINT16_MAX)
		return;
	location.size = (uint8_t)type_size(choice->type, planning->abi->word);
	location.is_signed = choice->type->kind == TYPE_INT && choice->type->is_signed;
	struct capture_op op = make_op(planning, choice->type, &location, i);

	op.choice = (uint16_t)planning->choices.count;
	op.choices = (uint16_t)choice->value_count;
	op.selector = (uint8_t)parameter->selector;
	for (unsigned k = 0; k < choice->value_count; k++)
		vec_push(&planning->choices,
			 &(struct capture_choice){choice->values[k].first, choice->values[k].last});
	if (on_return) {
		save_for(planning, &op);
		save_lengths(planning, choice->type);
		planning->plan.saved_mask |= 1U << parameter->selector;
	}
	op.argument = (uint8_t)(i | which << VALUE_CHOICE_SHIFT);
	vec_push(&planning->ops, &op);
}

/* Sets the path to the text. If the path is not known yet, the argument is captured as a word. */
static void set_path(struct capture_op *op, const struct text_path *path)
{
	static_assert((int)TEXT_LOADS_MAX == (int)CAPTURE_LOADS_MAX, "it is the same path");
	if (path->accessor) {
		op->kind = CAPTURE_WORD;
		return;
	}
	op->has_path = true;
	op->checks_text = !path->is_certain;
	op->loads = (uint8_t)path->loads;
	memcpy(op->path, path->offset, sizeof op->path);
}

static void add_parameter(struct planning *planning, unsigned i, bool on_return)
{
	const unsigned choices = planning->prototype->parameters[i].choice_count;
	const struct type *type = planning->prototype->parameters[i].type;
	const struct object_place *place = &planning->places[i];
	struct capture_op op;

	for (unsigned k = 0; k < choices; k++)
		add_choice(planning, i, k, on_return);
	if (type->is_hidden || choices)
		return;
	op = place->is_inline ? make_inline(planning, type, place, i)
			      : make_op(planning, type, &place->location[0], i);
	if (planning->prototype->parameters[i].path)
		set_path(&op, planning->prototype->parameters[i].path);
	if (on_return) {
		save_for(planning, &op);
		save_lengths(planning, type);
	}
	vec_push(&planning->ops, &op);
}

static void add_ops(struct planning *planning)
{
	const struct prototype *prototype = planning->prototype;
	struct capture_plan *plan = &planning->plan;
	unsigned i = 0;

	for (; i < plan->arg_count && !prototype->parameters[i].on_return; i++)
		add_parameter(planning, i, false);
	plan->entry_count = (uint16_t)planning->ops.count;
	if (prototype->result->kind != TYPE_VOID && !prototype->result->is_hidden) {
		struct capture_op op = make_result(planning, prototype->result);

		save_for(planning, &op);
		save_lengths(planning, prototype->result);
		vec_push(&planning->ops, &op);
	}
	for (; i < plan->arg_count; i++) {
		add_parameter(planning, i, true);
		plan->outputs |= (uint32_t)prototype->parameters[i].is_filled << i;
	}
	plan->exit_count = (uint16_t)(planning->ops.count - plan->entry_count);
}

/* Copies the plan, its operations, parts, choices, scalars and condition into one block. */
static struct capture_plan *put_together(const struct planning *planning)
{
	size_t ops = planning->ops.count * sizeof(struct capture_op);
	size_t parts = planning->parts.parts.count * sizeof(struct capture_part);
	size_t choices = planning->choices.count * sizeof(struct capture_choice);
	size_t scalars = planning->scalars.count * sizeof(struct capture_scalar);
	size_t before = (ops + parts + choices + scalars + 7) & ~(size_t)7; /* aligned */
	size_t conditions = planning->plan.condition_count * sizeof(struct condition_op);
	struct capture_plan *plan = xcalloc(1, sizeof *plan + before + conditions);
	struct capture_op *first = (struct capture_op *)(void *)(plan + 1);

	_Static_assert(sizeof(struct capture_plan) % _Alignof(struct capture_op) == 0 &&
			       sizeof(struct capture_op) % _Alignof(struct capture_part) == 0 &&
			       sizeof(struct capture_part) % _Alignof(struct capture_choice) == 0,
		       "operations, parts and choices follow the plan");
	*plan = planning->plan;
	if (ops)
		memcpy(first, planning->ops.items, ops);
	if (parts)
		memcpy((char *)first + ops, planning->parts.parts.items, parts);
	if (choices)
		memcpy((char *)first + ops + parts, planning->choices.items, choices);
	if (scalars)
		memcpy((char *)first + ops + parts + choices, planning->scalars.items, scalars);
	plan->scalars = (struct capture_scalar *)(void *)((char *)first + ops + parts + choices);
	plan->entry = first;
	plan->exit = first + plan->entry_count;
	plan->parts = (struct capture_part *)(void *)((char *)first + ops);
	plan->part_count = (uint16_t)planning->parts.parts.count;
	plan->choices = (struct capture_choice *)(void *)((char *)first + ops + parts);
	plan->choice_count = (uint16_t)planning->choices.count;
	note_needs(plan);
	if (plan->condition_count) {
		memcpy((char *)first + before, planning->plan.condition, conditions);
		plan->condition = (struct condition_op *)(void *)((char *)first + before);
	}
	plan->plain_entry = prepare_plain(plan, first, plan->entry_count);
	plan->plain_exit = prepare_plain(plan, first + plan->entry_count, plan->exit_count);
	return plan;
}

struct capture_plan *plan_create(const struct prototype *prototype, const struct abi *abi,
				 const struct plan_limits *limits)
{
	struct planning planning = {.prototype = prototype, .abi = abi};
	unsigned count = prototype->parameter_count;

	if (count > CAPTURE_ARGS_MAX)
		count = CAPTURE_ARGS_MAX;
	planning.plan.string_max = limits->string_max;
	planning.plan.array_max = limits->array_max;
	planning.plan.followed_max = FOLLOWED_EACH * (limits->array_max > FOLLOWED_LEVELS
							      ? limits->array_max
							      : FOLLOWED_LEVELS);
	planning.plan.condition = limits->condition;
	planning.plan.condition_count = (uint16_t)limits->condition_count;
	planning.plan.arg_count = (uint8_t)count;
	plan_parts_init(&planning.parts, abi->word, count);
	vec_init(&planning.ops, sizeof(struct capture_op));
	vec_init(&planning.choices, sizeof(struct capture_choice));
	vec_init(&planning.scalars, sizeof(struct capture_scalar));
	place_parameters(&planning);
	add_ops(&planning);
	struct capture_plan *plan = put_together(&planning);

	vec_deinit(&planning.ops);
	vec_deinit(&planning.choices);
	vec_deinit(&planning.scalars);
	plan_parts_deinit(&planning.parts);
	return plan;
}

struct capture_plan *plan_create_empty(void)
{
	return xcalloc(1, sizeof(struct capture_plan));
}

void plan_destroy(struct capture_plan *plan)
{
	free(plan);
}
