/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the calling conventions put parameters and results.
 *
 * System V AMD64 psABI 3.2.3: integers and pointers take the integer registers in order, float and
 * double the xmm registers in order, whatever finds no register the stack; long double always the
 * stack, in 16 bytes aligned to 16. A struct of up to 16 bytes is taken apart into words of 8
 * bytes: one of which all members are floating-point numbers goes to an xmm register, any other to
 * an integer register, and if there are not registers for all of it, it goes to the stack as a
 * whole. Larger ones, and those with a long double, go to the stack.
 *
 * i386 psABI 2.2: everything on the stack in slots of four bytes (long long and double two, long
 * double three, structs as many as they need, none aligned further).
 *
 * struct abi brings both under one rule: classes with a number of registers each, then slots of a
 * word. The value of an argument smaller than its register or slot is its low bytes: the rest is
 * garbage by both documents, so each word is cut and extended by its own size and sign. An
 * argument wider than a word never goes to an integer register: neither ABI has such a case (i386
 * has no integer registers). It does in system calls of i386, where it takes two (wide_in_pairs).
 *
 * Results that are structs: on x86_64 as parameters, but in ax, dx and xmm0, xmm1, or st(0) for
 * one long double; what would go to the stack goes to room whose address the caller passes as a
 * hidden first parameter and gets back in ax. On i386 all structs do (Linux; other systems return
 * small ones in registers).
 *
 * A complex number is a struct of two numbers to all that, with these exceptions: on x86_64 one of
 * two long doubles is returned in st(0) and st(1); on i386 one of two floats in ax and dx.
 */
#include "proto/plan_private.h"

enum { EIGHT = 8, IN_REGISTERS_MAX = 2 * EIGHT };

static bool is_long_double(const struct type *type)
{
	return type->kind == TYPE_FLOAT && type->width == WIDTH_LONG_DOUBLE;
}

static bool is_aggregate(const struct type *type)
{
	return type->kind == TYPE_STRUCT || type->kind == TYPE_ARRAY;
}

static unsigned round_up(unsigned number, unsigned multiple)
{
	return (number + multiple - 1) / multiple * multiple;
}

/* Takes the next place on the stack for an object. */
static int32_t place_on_stack(struct placement *placement, const struct type *type, unsigned size)
{
	const struct abi *abi = placement->abi;
	unsigned align = abi->word;

	/* What is aligned to 16 is; on i386, nothing is aligned further than any slot. */
	if (type_align(type, abi->word) > align)
		align = type_align(type, abi->word);
	unsigned offset = round_up(placement->stack - abi->stack_first, align) + abi->stack_first;

	placement->stack = offset +
			   round_up(is_long_double(type) ? type_storage(type, abi->word) : size,
				    abi->word);
	return (int32_t)offset;
}

/* The classes of the words of an object. */
struct classes {
	bool has_integer[2], has_float[2];
	bool in_memory;
};

static void classify(const struct type *type, unsigned offset, struct classes *classes);

/* Of bit-fields, which do not reach from word to word, those that only pad are not looked at. */
static void classify_member(const struct type_member *member, unsigned offset,
			    struct classes *classes)
{
	offset += member->offset[1];
	if (!member->bits)
		classify(member->type, offset, classes);
	else if (!member->type->is_hidden && offset < IN_REGISTERS_MAX)
		classes->has_integer[offset / EIGHT] = true;
}

static void classify(const struct type *type, unsigned offset, struct classes *classes)
{
	unsigned size = type_size(type, EIGHT);

	if (!size || offset + size > IN_REGISTERS_MAX)
		return;
	if (type->kind == TYPE_STRUCT) {
		for (uint32_t i = 0; i < type->count; i++)
			classify_member(&type->members[i], offset, classes);
	} else if (type->kind == TYPE_ARRAY) {
		unsigned each = type_storage(type->target, EIGHT);

		for (unsigned at = 0; each && at < size; at += each)
			classify(type->target, offset + at, classes);
	} else if (is_long_double(type)) {
		classes->in_memory = true;
	} else if (type->kind == TYPE_FLOAT) {
		classes->has_float[offset / EIGHT] = true;
	} else {
		classes->has_integer[offset / EIGHT] = true;
	}
}

static struct classes classes_of(const struct abi *abi, const struct type *type)
{
	struct classes classes = {.in_memory = true};
	unsigned size = type_size(type, abi->word);

	if (abi->word != EIGHT || !size || size > IN_REGISTERS_MAX)
		return classes;
	classes.in_memory = false;
	classify(type, 0, &classes);
	return classes;
}

/* A word of an object in the next register of its class, or false. */
static bool place_word(struct placement *placement, bool is_float,
		       struct capture_location *location)
{
	const struct abi *abi = placement->abi;

	*location = (struct capture_location){.size = EIGHT};
	if (is_float && placement->fps < abi->fp_args) {
		location->place = PLACE_XMM;
		location->index = (uint8_t)placement->fps++;
		return true;
	}
	if (!is_float && placement->ints < abi->int_args) {
		location->place = PLACE_GPR;
		location->index = abi->int_arg[placement->ints++];
		return true;
	}
	return false;
}

static bool place_in_registers(struct placement *placement, const struct type *type,
			       struct object_place *place)
{
	struct placement attempt = *placement;
	struct classes classes = classes_of(placement->abi, type);

	place->words = type_size(type, placement->abi->word) > EIGHT ? 2 : 1;
	if (classes.in_memory)
		return false;
	for (unsigned i = 0; i < place->words; i++)
		if (!place_word(&attempt, classes.has_float[i] && !classes.has_integer[i],
				&place->location[i]))
			return false;
	*placement = attempt;
	return true;
}

static void place_object(struct placement *placement, const struct type *type,
			 struct object_place *place)
{
	unsigned size = type_size(type, placement->abi->word);

	place->is_inline = true;
	if (size && place_in_registers(placement, type, place))
		return;
	place->words = 0;
	place->location[0] = (struct capture_location){.place = PLACE_STACK};
	place->location[0].offset = place_on_stack(placement, type, size);
}

void plan_place_parameter(struct placement *placement, const struct type *type,
			  struct object_place *place)
{
	const struct abi *abi = placement->abi;
	unsigned size = type_size(type, abi->word);
	struct capture_location location = {
		.size = (uint8_t)size,
		.is_signed = type->is_signed && type->kind == TYPE_INT,
	};

	*place = (struct object_place){0};
	if (is_aggregate(type)) {
		place_object(placement, type, place);
		return;
	}
	if (type->kind == TYPE_FLOAT && !is_long_double(type) && placement->fps < abi->fp_args) {
		location.place = PLACE_XMM;
		location.index = (uint8_t)placement->fps++;
	} else if (type->kind != TYPE_FLOAT && size <= abi->word &&
		   placement->ints < abi->int_args) {
		location.place = PLACE_GPR;
		location.index = abi->int_arg[placement->ints++];
	} else if (type->kind == TYPE_INT && abi->wide_in_pairs &&
		   placement->ints + 2 <= abi->int_args) {
		location.place = PLACE_PAIR;
		location.index = abi->int_arg[placement->ints++];
		location.offset = abi->int_arg[placement->ints++];
	} else {
		location.place = PLACE_STACK;
		location.offset = place_on_stack(placement, type, size);
	}
	place->location[0] = location;
}

/* A struct of nothing but one long double, however it is wrapped. */
static bool is_one_long_double(const struct type *type)
{
	for (;;) {
		if (type->kind == TYPE_STRUCT && type->count == 1 && !type->members[0].bits)
			type = type->members[0].type;
		else if (type->kind == TYPE_ARRAY && type->length == 1)
			type = type->target;
		else
			return is_long_double(type);
	}
}

void plan_place_result(const struct abi *abi, const struct type *type, struct object_place *place)
{
	static const uint8_t int_results[] = {REG_AX, REG_DX};
	struct classes classes = classes_of(abi, type);
	unsigned ints = 0;
	unsigned fps = 0;

	*place = (struct object_place){.is_inline = true};
	place->words = type_size(type, abi->word) > EIGHT ? 2 : 1;
	place->in_st0 = abi->word == EIGHT &&
			(is_one_long_double(type) ||
			 (type->is_complex && is_long_double(type->members[0].type)));
	if (type->is_complex && abi->word != EIGHT && type_size(type, abi->word) == EIGHT) {
		place->words = 2;
		for (unsigned i = 0; i < 2; i++)
			place->location[i] = (struct capture_location){.place = PLACE_GPR,
								       .index = int_results[i]};
		return;
	}
	place->in_memory = classes.in_memory && !place->in_st0;
	for (unsigned i = 0; i < place->words && !classes.in_memory; i++) {
		bool is_float = classes.has_float[i] && !classes.has_integer[i];

		place->location[i] = (struct capture_location){
			.place = is_float ? PLACE_XMM : PLACE_GPR,
			.index = is_float ? (uint8_t)fps : int_results[ints],
			.size = EIGHT,
		};
		fps += is_float;
		ints += !is_float;
	}
}

void plan_place_hidden(struct placement *placement)
{
	const struct abi *abi = placement->abi;

	if (abi->int_args)
		placement->ints++;
	else
		placement->stack += abi->word;
}
