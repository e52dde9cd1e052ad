/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sizes, alignment and layout of types, by the psABIs of i386 and x86_64; and which parts of an
 * object have values of their own in a record. Plan and renderer use these functions, so that both
 * agree.
 */
#include "proto/type.h"

#include <stddef.h>

static unsigned width_size(enum type_width width, unsigned word)
{
	switch (width) {
	case WIDTH_CHAR:
		return 1;
	case WIDTH_SHORT:
		return 2;
	case WIDTH_INT:
	case WIDTH_FLOAT:
		return 4;
	case WIDTH_LONG:
		return word;
	case WIDTH_LONG_LONG:
	case WIDTH_DOUBLE:
		return 8;
	case WIDTH_LONG_DOUBLE:
		return 10;
	}
	return word;
}

/* Index into fields that exist for both sizes of a pointer. */
static unsigned by_word(unsigned word)
{
	return word == 8;
}

unsigned type_size(const struct type *type, unsigned word)
{
	switch ((enum type_kind)type->kind) {
	case TYPE_VOID:
		return 0;
	case TYPE_INT:
	case TYPE_FLOAT:
		return width_size((enum type_width)type->width, word);
	case TYPE_STRUCT:
	case TYPE_ARRAY:
		return type->size[by_word(word)];
	case TYPE_POINTER:
	case TYPE_STRING:
	case TYPE_FORMAT:
		break;
	}
	return word;
}

unsigned type_storage(const struct type *type, unsigned word)
{
	unsigned size = type_size(type, word);
	unsigned align = type_align(type, word);

	return (size + align - 1) / align * align;
}

unsigned type_align(const struct type *type, unsigned word)
{
	unsigned size;

	switch ((enum type_kind)type->kind) {
	case TYPE_STRUCT:
		size = type->align[by_word(word)];
		break;
	case TYPE_ARRAY:
		return type_align(type->target, word);
	case TYPE_FLOAT:
		/* The 10 bytes take up 16, or 12 on i386. */
		size = type->width == WIDTH_LONG_DOUBLE ? 2 * word : type_size(type, word);
		if (word == 4 && size > word)
			size = word;
		break;
	default:
		size = type_size(type, word);
		if (size > word)
			size = word;
	}
	return size ? size : 1;
}

bool type_follows(const struct type *type)
{
	if (type->kind == TYPE_STRUCT)
		return type->follows && type->lens != LENS_BITVEC && !type->is_hidden;
	return type_is_apart(type);
}

bool type_is_apart(const struct type *type)
{
	if (type->is_hidden)
		return false;
	switch ((enum type_kind)type->kind) {
	case TYPE_STRING:
		return true;
	case TYPE_POINTER:
		return type->target != NULL;
	case TYPE_ARRAY:
		return !type->size[0] || type->result_ends ||
		       (type->lens != LENS_BITVEC && type_follows(type->target));
	default:
		return false;
	}
}

static void inherit(struct type *type, const struct type *part)
{
	type->needs_result |= part->needs_result;
	type->arguments |= part->arguments;
	if (type->levels <= part->levels && part->levels < UINT8_MAX)
		type->levels = (uint8_t)(part->levels + 1);
}

struct type type_with_lens(const struct type *type, enum type_lens lens)
{
	const bool is_float = type->kind == TYPE_FLOAT;
	struct type changed = *type;

	changed.lens = (uint8_t)lens;
	if (is_float && lens != LENS_HEX && lens != LENS_BITVEC)
		changed.lens = LENS_DEFAULT;
	/* These lenses show the bits, so the sign is not extended. */
	if (lens == LENS_HEX || lens == LENS_OCT || lens == LENS_BIN || lens == LENS_BITVEC)
		changed.is_signed &= is_float;
	changed.names = NULL;
	changed.count = 0;
	return changed;
}

bool type_takes_lens(const struct type *type)
{
	return type->lens == LENS_DEFAULT ? type->kind == TYPE_INT || type->kind == TYPE_FLOAT
					  : type->lens == LENS_CHAR;
}

uint32_t type_shown_members(const struct type *type)
{
	return type->is_union && type->count ? 1 : type->count;
}

/*
 * Puts a member behind the first `used` bits of a struct. Returns where the member ends, in bits.
 */
static uint64_t put_member(struct type_member *member, uint64_t used, bool wide)
{
	const unsigned word = wide ? 8 : 4;
	const uint64_t align = 8ULL * type_align(member->type, word);
	const uint64_t size = 8ULL * type_storage(member->type, word);

	/*
	 * A bit-field continues where the last one ended, unless it would cross a unit of its type.
	 */
	if (!member->bits || used % align + member->bits > size)
		used = (used + align - 1) / align * align;
	member->offset[wide] = (uint32_t)(used / 8);
	member->shift[wide] = used % 8;
	used += member->bits ? member->bits : size;
	return used < 8ULL * TYPE_SIZE_MAX ? used : 8ULL * TYPE_SIZE_MAX;
}

static void lay_out(struct type *type, struct type_member *members, uint32_t count, bool wide)
{
	uint64_t used = 0, most = 0;
	unsigned align = 1;

	for (uint32_t i = 0; i < count; i++) {
		unsigned own = type_align(members[i].type, wide ? 8 : 4);

		if (own > align)
			align = own;
		used = put_member(&members[i], type->is_union ? 0 : used, wide);
		if (used > most)
			most = used;
	}
	type->size[wide] = (uint32_t)(((most + 7) / 8 + align - 1) / align * align);
	type->align[wide] = (uint8_t)align;
}

void type_lay_out(struct type *type, struct type_member *members, uint32_t count)
{
	lay_out(type, members, count, false);
	lay_out(type, members, count, true);
	type->members = members;
	type->count = count;
	type->is_defined = true;
	for (uint32_t i = 0; i < count; i++)
		inherit(type, members[i].type);
	for (uint32_t i = 0; i < type_shown_members(type); i++)
		type->follows |= type_follows(members[i].type);
}

/* Notes the parameter, or the result, that is a factor of the length. */
static void note_factor(struct type *type, uint32_t factor)
{
	if (factor)
		type->arguments |= 1U << ((factor - 1) & 31);
	else
		type->needs_result = true;
}

void type_complete(struct type *type)
{
	if (type->length_from == STRING_RESULT || type->result_ends)
		type->needs_result = true;
	if (type->length_from == STRING_ARGUMENT)
		type->arguments |= 1U << (type->length & 31);
	for (unsigned i = 0; i < 2 && type->length_from == STRING_PRODUCT; i++)
		note_factor(type, type_factor(type->length, i));
	if (!type->target)
		return;
	inherit(type, type->target);
	for (unsigned wide = 0; wide < 2 && type->kind == TYPE_ARRAY; wide++) {
		uint64_t size = type_storage(type->target, wide ? 8 : 4);

		size *= type->length_from == STRING_CONSTANT ? type->length : 0;
		type->size[wide] = (uint32_t)(size < TYPE_SIZE_MAX ? size : TYPE_SIZE_MAX);
	}
}
