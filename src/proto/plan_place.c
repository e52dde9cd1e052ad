/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the places of parameters and results by the calling conventions.
 *
 * System V AMD64 psABI 3.2.3: integers and pointers take the integer registers in order, float and
 * double the xmm registers in order; what finds no register goes to the stack; long double always
 * goes to the stack, in 16 bytes aligned to 16. A struct of up to 16 bytes is split into words of 8
 * bytes. A word with only floating-point members goes to an xmm register, any other word to an
 * integer register. If there are not registers for all words, the whole struct goes to the stack.
 * Larger structs, and those with a long double, go to the stack; but where union members overlap, a
 * word with an integer in it is an integer word, even if a long double is there, too.
 *
 * i386 psABI 2.2: everything is on the stack in words of four bytes (long long and double two, long
 * double three, structs as many as they need), none aligned further.
 *
 * struct abi puts both under one rule: classes with a number of registers each, then stack words.
 * An argument smaller than its register or stack word is in the low bytes. By both documents the
 * rest is garbage, so each word is cut and extended by its own size and sign. An argument wider
 * than a word never goes to an integer register: neither ABI has such a case (i386 passes nothing
 * in integer registers). System calls of i386 are the exception: there it takes two registers
 * (wide_in_pairs).
 *
 * Results that are structs: on x86_64 like parameters, but in ax, dx and xmm0, xmm1; or in st(0)
 * for one long double, or several in one place. A result that would go to the stack is in memory,
 * whose address the caller passes as a hidden first parameter and gets back in ax. On i386 all
 * structs are returned in memory (Linux; other systems return small ones in registers).
 *
 * A complex number is passed like a struct of two numbers, with these exceptions: on x86_64 one of
 * two long doubles is returned in st(0) and st(1); on i386 one of two floats in ax and dx.
 */
#include "proto/plan_place.h"

#include "proto/plan_go.h"
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

	/* On x86_64 objects may be aligned to 16; on i386 none is aligned to more than a word. */
	if (type_align(type, abi->word) > align)
		align = type_align(type, abi->word);
	unsigned offset = round_up(placement->stack - abi->stack_first, align) + abi->stack_first;

	placement->stack = offset +
			   round_up(is_long_double(type) ? type_storage(type, abi->word) : size,
				    abi->word);
	return (int32_t)offset;
}

/* Classes of words of 8 bytes, ordered by precedence where members share a word. */
enum word_class {
	CLASS_NONE,
	CLASS_SSE,
	CLASS_X87,    /* the first word of a long double */
	CLASS_X87_UP, /* the second word of a long double */
	CLASS_INTEGER,
	CLASS_MEMORY
};

struct classes {
	enum word_class word[2];
};

static const struct classes memory_classes = {{CLASS_MEMORY, CLASS_MEMORY}};

static bool is_of_x87(enum word_class class)
{
	return class == CLASS_X87 || class == CLASS_X87_UP;
}

static enum word_class merge(enum word_class one, enum word_class other)
{
	const enum word_class low = one < other ? one : other;
	const enum word_class high = one < other ? other : one;

	return low != high && low != CLASS_NONE && is_of_x87(high) ? CLASS_MEMORY : high;
}

static struct classes classify(const struct type *type, unsigned offset);

static void add_classes(struct classes *classes, struct classes added)
{
	for (unsigned i = 0; i < 2; i++)
		classes->word[i] = merge(classes->word[i], added.word[i]);
}

/*
 * Adds the class of a member. A bit-field does not cross words. One that is only padding (hidden)
 * has no class.
 */
static void add_member(struct classes *classes, const struct type_member *member, unsigned offset)
{
	struct classes added = {0};

	offset += member->offset[1];
	if (!member->bits)
		added = classify(member->type, offset);
	else if (!member->type->is_hidden && offset < IN_REGISTERS_MAX)
		added.word[offset / EIGHT] = CLASS_INTEGER;
	add_classes(classes, added);
}

/* Classifies a struct or an array by itself, before it is merged with its neighbours. */
static struct classes classify_aggregate(const struct type *type, unsigned offset)
{
	struct classes classes = {0};

	if (type->kind == TYPE_STRUCT) {
		for (uint32_t i = 0; i < type->count; i++)
			add_member(&classes, &type->members[i], offset);
	} else {
		const unsigned size = type_size(type, EIGHT);
		const unsigned each = type_storage(type->target, EIGHT);

		for (unsigned at = 0; each && at < size; at += each)
			add_classes(&classes, classify(type->target, offset + at));
	}
	const bool is_cut = classes.word[1] == CLASS_X87_UP && classes.word[0] != CLASS_X87;

	return is_cut || classes.word[0] == CLASS_MEMORY || classes.word[1] == CLASS_MEMORY
		       ? memory_classes
		       : classes;
}

static struct classes classify(const struct type *type, unsigned offset)
{
	const unsigned size = type_size(type, EIGHT);
	struct classes classes = {0};

	if (!size || offset + size > IN_REGISTERS_MAX)
		return classes;
	if (is_aggregate(type))
		return classify_aggregate(type, offset);
	if (is_long_double(type))
		return (struct classes){{CLASS_X87, CLASS_X87_UP}};
	for (unsigned at = offset; at < offset + size; at += EIGHT)
		classes.word[at / EIGHT] = type->kind == TYPE_FLOAT ? CLASS_SSE : CLASS_INTEGER;
	return classes;
}

static struct classes classes_of(const struct abi *abi, const struct type *type)
{
	unsigned size = type_size(type, abi->word);

	return abi->word != EIGHT || !size || size > IN_REGISTERS_MAX ? memory_classes
								      : classify(type, 0);
}

/* Places a word of an object in the next register of its class; false if none is left. */
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
	if (classes.word[0] == CLASS_MEMORY || classes.word[0] == CLASS_X87)
		return false;
	for (unsigned i = 0; i < place->words; i++)
		if (!place_word(&attempt, classes.word[i] == CLASS_SSE, &place->location[i]))
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
	if (abi->is_go) {
		plan_place_go(placement, type, place);
		return;
	}
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

void plan_place_result(const struct abi *abi, const struct type *type, struct object_place *place)
{
	static const uint8_t int_results[] = {REG_AX, REG_DX};
	struct classes classes = classes_of(abi, type);
	unsigned ints = 0;
	unsigned fps = 0;

	*place = (struct object_place){.is_inline = true};
	place->words = type_size(type, abi->word) > EIGHT ? 2 : 1;
	place->in_st0 = abi->word == EIGHT &&
			(classes.word[0] == CLASS_X87 ||
			 (type->is_complex && is_long_double(type->members[0].type)));
	if (type->is_complex && abi->word != EIGHT && type_size(type, abi->word) == EIGHT) {
		place->words = 2;
		for (unsigned i = 0; i < 2; i++)
			place->location[i] = (struct capture_location){.place = PLACE_GPR,
								       .index = int_results[i]};
		return;
	}
	place->in_memory = classes.word[0] == CLASS_MEMORY && !place->in_st0;
	for (unsigned i = 0; i < place->words && !place->in_memory && !place->in_st0; i++) {
		bool is_float = classes.word[i] == CLASS_SSE;

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
