/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the parts of objects (record/capture.h) from their types.
 *
 * The parts of each struct are made once, and are adjacent. A pointer to a struct refers to them,
 * also a pointer inside of that struct. So the parts of a struct are reserved and noted before they
 * are filled in. Structs and arrays inside of a struct belong to its bytes, and their parts become
 * parts of the outer struct.
 */
#include "proto/plan_parts.h"

#include "proto/plan_private.h"

/* The parts of an element of a type. */
struct known_parts {
	const struct type *type;
	uint16_t first, count;
};

void plan_parts_init(struct plan_parts *parts, unsigned word, unsigned arg_count)
{
	*parts = (struct plan_parts){.word = word, .arg_count = arg_count};
	vec_init(&parts->parts, sizeof(struct capture_part));
	vec_init(&parts->known, sizeof(struct known_parts));
}

void plan_parts_deinit(struct plan_parts *parts)
{
	vec_deinit(&parts->parts);
	vec_deinit(&parts->known);
}

enum capture_length plan_length_of(const struct type *type, unsigned arg_count)
{
	switch ((enum string_length)type->length_from) {
	case STRING_CONSTANT:
		return LENGTH_CONSTANT;
	case STRING_ARGUMENT:
		return type->length < arg_count ? LENGTH_ARGUMENT : LENGTH_NUL;
	case STRING_RESULT:
		return LENGTH_RESULT;
	case STRING_ELEMENT:
		return LENGTH_MEMBER;
	case STRING_PRODUCT:
		return type_factor(type->length, 0) <= arg_count &&
				       type_factor(type->length, 1) <= arg_count
			       ? LENGTH_PRODUCT
			       : LENGTH_NUL;
	case STRING_NUL:
		break;
	}
	return LENGTH_NUL;
}

/* A part of an element that has a value of its own, and its place. */
struct collected {
	const struct type *type;
	const struct type *around; /* the struct that has it as a member */
	uint32_t around_offset, offset;
};

/* Collects all of them, in the order of their offsets. */
static void collect(struct plan_parts *parts, struct vec *found, const struct type *type,
		    const struct type *around, uint32_t around_offset, uint32_t offset)
{
	struct collected item = {type, around, around_offset, offset};

	if (found->count >= PLAN_PARTS_MAX)
		parts->overflow = true;
	if (parts->overflow || !type_follows(type))
		return;
	if (type_is_apart(type)) {
		vec_push(found, &item);
		return;
	}
	for (uint32_t i = 0; i < type_shown_members(type); i++) {
		const struct type_member *member = &type->members[i];

		collect(parts, found, member->type, type, offset,
			offset + member->offset[parts->word == 8]);
	}
}

static void element_parts(struct plan_parts *parts, const struct type *type,
			  struct capture_part *part);

/* Sets the length of a part from a member of the struct around it. */
static void set_member_length(const struct plan_parts *parts, const struct collected *item,
			      const struct type *type, struct capture_part *part)
{
	const struct type *around = item->around;

	if (!around || type->length >= around->count) {
		part->length_from = LENGTH_CONSTANT;
		part->length = 0;
		return;
	}
	const struct type_member *member = &around->members[type->length];

	part->length = item->around_offset + member->offset[parts->word == 8];
	part->member_size = (uint8_t)type_size(member->type, parts->word);
	part->member_signed = member->type->is_signed;
}

/*
 * Returns how many elements belong to one thing that is shown as a whole, whatever -A says; 0:
 * elements are shown one by one.
 */
static uint8_t elements_of_one(const struct type *type)
{
	switch ((enum type_lens)type->lens) {
	case LENS_ADDRESS:
		return TYPE_ADDRESS_MAX;
	case LENS_BITVEC:
		return TYPE_VECTOR_MAX;
	default:
		return 0;
	}
}

/*
 * Fills in the part for an object of `type`, which is at the part's place or behind the pointer
 * there.
 */
static void set_target(struct plan_parts *parts, const struct collected *item,
		       const struct type *type, struct capture_part *part)
{
	part->kind = CAPTURE_OBJECT;
	part->length_from = LENGTH_CONSTANT;
	part->length = 1;
	if (type->kind == TYPE_ARRAY) {
		part->length_from = (uint8_t)plan_length_of(type, parts->arg_count);
		part->length = type->length;
		part->zero_ends = type->zero_ends ||
				  (type->lens == LENS_TEXT && type->length_from == STRING_CONSTANT);
		part->is_text = type->lens == LENS_TEXT;
		part->result_ends = type->result_ends;
		part->if_success = type->if_success;
		part->in_bits = type->in_bits;
		part->elements_max = elements_of_one(type);
		if (part->length_from == LENGTH_MEMBER)
			set_member_length(parts, item, type, part);
		/* All bytes are captured as one element. */
		if (type->lens == LENS_BITVEC && part->length_from == LENGTH_CONSTANT &&
		    !type->result_ends) {
			part->size = type_size(type, parts->word);
			part->length = 1;
			return;
		}
		type = type->target;
	}
	part->size = type_storage(type, parts->word);
	if (type->lens != LENS_BITVEC)
		element_parts(parts, type, part);
	if (type->kind == TYPE_STRUCT && !type->is_defined)
		part->kind = CAPTURE_WORD;
}

static struct capture_part make_part(struct plan_parts *parts, const struct collected *item)
{
	const struct type *type = item->type;
	struct capture_part part = {.offset = item->offset};

	if (type->kind == TYPE_STRING) {
		part.kind = CAPTURE_STRING;
		part.length_from = (uint8_t)plan_length_of(type, parts->arg_count);
		part.length = type->length;
		part.zero_ends = type->zero_ends;
		part.result_ends = type->result_ends;
		if (part.length_from == LENGTH_MEMBER)
			set_member_length(parts, item, type, &part);
	} else {
		part.is_inline = type->kind != TYPE_POINTER;
		set_target(parts, item, part.is_inline ? type : type->target, &part);
	}
	return part;
}

/* Returns true if two structs differ in nothing but a lens. */
static bool are_alike(const struct type *one, const struct type *other)
{
	return one == other || (one->kind == TYPE_STRUCT && other->kind == TYPE_STRUCT &&
				one->members && one->members == other->members);
}

static const struct known_parts *find_known(const struct plan_parts *parts, const struct type *type)
{
	for (size_t i = 0; i < parts->known.count; i++) {
		const struct known_parts *known = vec_at(&parts->known, i);

		if (are_alike(known->type, type))
			return known;
	}
	return NULL;
}

/* Reserves `count` parts; false if there are too many. */
static bool reserve(struct plan_parts *parts, const struct type *type, size_t count,
		    struct known_parts *known)
{
	*known = (struct known_parts){type, (uint16_t)parts->parts.count, (uint16_t)count};
	if (parts->overflow || parts->parts.count + count > PLAN_PARTS_MAX) {
		parts->overflow = true;
		return false;
	}
	for (size_t i = 0; i < count; i++)
		vec_push(&parts->parts, NULL);
	vec_push(&parts->known, known);
	return true;
}

/* Makes the parts of each element of this type, and stores in `part` where they are. */
static void element_parts(struct plan_parts *parts, const struct type *type,
			  struct capture_part *part)
{
	const struct known_parts *before = find_known(parts, type);
	struct known_parts known = {0};
	struct vec found;

	if (!type_follows(type))
		return;
	if (before) {
		part->first = before->first;
		part->count = before->count;
		return;
	}
	vec_init(&found, sizeof(struct collected));
	collect(parts, &found, type, NULL, 0, 0);
	if (reserve(parts, type, found.count, &known)) {
		for (size_t i = 0; i < found.count; i++) {
			struct capture_part made = make_part(parts, vec_at(&found, i));

			*(struct capture_part *)vec_at(&parts->parts, known.first + i) = made;
		}
		part->first = known.first;
		part->count = known.count;
	}
	vec_deinit(&found);
}

uint16_t plan_parts_add(struct plan_parts *parts, const struct type *type)
{
	const struct collected item = {.type = type};
	const size_t index = parts->parts.count;
	struct capture_part part = {0};

	if (index >= PLAN_PARTS_MAX || parts->overflow)
		return PLAN_NO_PART;
	vec_push(&parts->parts, NULL);
	set_target(parts, &item, type->kind == TYPE_POINTER ? type->target : type, &part);
	/* The part would refer to parts that are missing. */
	if (parts->overflow || part.kind == CAPTURE_WORD)
		return PLAN_NO_PART;
	*(struct capture_part *)vec_at(&parts->parts, index) = part;
	return (uint16_t)index;
}
