/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a prototype as bytes.
 *
 * Types refer to each other, in circles where a pointer leads back. They are numbered from 1 so
 * that whatever lies within an object (a member, an element) has a lower number than the object.
 * Only the target of a pointer may have a higher one. So a reader can check each object as it
 * comes: no object lies within itself.
 */
#include "proto/prototype_code.h"

#include "base/map.h"
#include "base/vec.h"
#include "proto/type_flags.h"

/* The numbering of the types of one prototype. */
struct numbering {
	struct map numbers; /* struct type * → number */
	struct vec types;   /* const struct type *, in order */
	struct vec targets; /* const struct type *, not yet looked at */
};

static uint64_t key_of(const struct type *type)
{
	return (uintptr_t)type;
}

static void number_type(struct numbering *numbering, const struct type *type)
{
	if (!type || map_get(&numbering->numbers, key_of(type)))
		return;
	if (type->kind == TYPE_STRUCT)
		for (uint32_t i = 0; i < type->count; i++)
			number_type(numbering, type->members[i].type);
	else if (type->kind == TYPE_ARRAY)
		number_type(numbering, type->target);
	else if (type->target)
		vec_push(&numbering->targets, &type->target);
	vec_push(&numbering->types, &type);
	map_put(&numbering->numbers, key_of(type), (void *)(uintptr_t)numbering->types.count);
}

static void number_all(struct numbering *numbering, const struct prototype *prototype)
{
	number_type(numbering, prototype->result);
	for (unsigned i = 0; i < prototype->parameter_count; i++) {
		const struct parameter *parameter = &prototype->parameters[i];

		number_type(numbering, parameter->type);
		for (unsigned k = 0; k < parameter->choice_count; k++)
			number_type(numbering, parameter->choices[k].type);
	}
	for (size_t i = 0; i < numbering->targets.count; i++)
		number_type(numbering, *(const struct type **)vec_at(&numbering->targets, i));
}

static void put_reference(struct bytes *out, const struct numbering *numbering,
			  const struct type *type)
{
	bytes_put_number(out, type ? (uintptr_t)map_get(&numbering->numbers, key_of(type)) : 0);
}

/* A text, or none: its length + 1, or 0. */
static void put_text(struct bytes *out, const char *text)
{
	const size_t length = text ? strlen(text) : 0;

	bytes_put_number(out, text ? length + 1 : 0);
	bytes_put(out, text, length);
}

static void put_members(struct bytes *out, const struct numbering *numbering,
			const struct type *type)
{
	for (uint32_t i = 0; i < type->count; i++) {
		const struct type_member *member = &type->members[i];

		put_text(out, member->name);
		put_reference(out, numbering, member->type);
		for (unsigned wide = 0; wide < 2; wide++) {
			bytes_put_number(out, member->offset[wide]);
			bytes_put_byte(out, member->shift[wide]);
		}
		bytes_put_byte(out, member->bits);
	}
}

static void put_names(struct bytes *out, const struct type *type)
{
	for (uint32_t i = 0; i < type->count; i++) {
		put_text(out, type->names[i].name);
		bytes_put_number(out, number_fold(type->names[i].value));
		bytes_put_number(out, type->names[i].field);
	}
}

static void put_type(struct bytes *out, const struct numbering *numbering, const struct type *type)
{
	bytes_put_byte(out, type->kind);
	bytes_put_byte(out, type->width);
	bytes_put_byte(out, type->lens);
	bytes_put_byte(out, type->length_from);
	bytes_put_byte(out, type->dialect);
	bytes_put_number(out, type_flags(type));
	bytes_put_number(out, type->length);
	for (unsigned wide = 0; wide < 2; wide++) {
		bytes_put_number(out, type->size[wide]);
		bytes_put_byte(out, type->align[wide]);
	}
	put_reference(out, numbering, type->target);
	bytes_put_number(out, type->count);
	if (type->kind == TYPE_STRUCT)
		put_members(out, numbering, type);
	else
		put_names(out, type);
}

static void put_parameter(struct bytes *out, const struct numbering *numbering,
			  const struct parameter *parameter)
{
	put_text(out, parameter->name);
	put_reference(out, numbering, parameter->type);
	bytes_put_byte(out, (parameter->on_return ? PARAMETER_ON_RETURN : 0) |
				    (parameter->is_filled ? PARAMETER_IS_FILLED : 0) |
				    (parameter->path ? PARAMETER_HAS_PATH : 0));
	bytes_put_number(out, parameter->only_with);
	bytes_put_number(out, parameter->selector);
	bytes_put_number(out, parameter->choice_count);
	for (unsigned i = 0; i < parameter->choice_count; i++)
		put_reference(out, numbering, parameter->choices[i].type);
}

void prototype_encode(struct bytes *out, const struct prototype *prototype)
{
	struct numbering numbering = {.types = VEC_OF(const struct type *),
				      .targets = VEC_OF(const struct type *)};

	number_all(&numbering, prototype);
	bytes_put_number(out, numbering.types.count);
	for (size_t i = 0; i < numbering.types.count; i++)
		put_type(out, &numbering, *(const struct type **)vec_at(&numbering.types, i));
	put_text(out, prototype->name);
	put_text(out, prototype->fails);
	bytes_put_byte(out, prototype->is_unknown);
	put_reference(out, &numbering, prototype->result);
	bytes_put_number(out, prototype->parameter_count);
	for (unsigned i = 0; i < prototype->parameter_count; i++)
		put_parameter(out, &numbering, &prototype->parameters[i]);
	map_deinit(&numbering.numbers);
	vec_deinit(&numbering.types);
	vec_deinit(&numbering.targets);
}
