/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the prototypes of a trace file, which may hold anything.
 *
 * Renderers trust types: that an array has elements with a size, that an object has an end, that
 * its alignment is a power of two. All of that is checked here. What lies within an object has a
 * lower number than the object (prototype_code.c), so it is known and was checked before.
 */
#include "proto/prototype_decode.h"

#include "base/xalloc.h"
#include "proto/type_flags.h"

enum { LEVELS_MAX = 100, ALIGN_MAX = 128, BITS_MAX = 64, SHIFT_MAX = 7, PARAMETERS_MAX = 1000 };

/* How many bytes of the file each of these has at least. */
enum { TYPE_BYTES = 14, MEMBER_BYTES = 7, NAME_BYTES = 3, PARAMETER_BYTES = 6, CHOICE_BYTES = 1 };

struct decoding {
	struct byte_reader *reader;
	struct prototype_memory *memory;
	struct type *types; /* number 1 is the first one */
	uint8_t *levels;    /* of objects within each */
	size_t count;
};

void prototype_memory_init(struct prototype_memory *memory)
{
	vec_init(&memory->blocks, sizeof(void *));
}

void prototype_memory_deinit(struct prototype_memory *memory)
{
	for (size_t i = 0; i < memory->blocks.count; i++)
		free(*(void **)vec_at(&memory->blocks, i));
	vec_deinit(&memory->blocks);
}

/*
 * Returns zeroed memory for `count` objects of `size` bytes, each of which has `least` bytes in the
 * file. NULL, and a failed reader, if the file is not so long.
 */
static void *take_memory(struct decoding *decoding, uint64_t count, size_t size, unsigned least)
{
	if (count > reader_left(decoding->reader) / least) {
		decoding->reader->failed = true;
		return NULL;
	}
	void *block = xcalloc(count ? (size_t)count : 1, size);

	vec_push(&decoding->memory->blocks, &block);
	return block;
}

static const char *take_text(struct decoding *decoding)
{
	const uint64_t length = reader_number(decoding->reader);

	if (!length)
		return NULL;
	const void *bytes = length - 1 <= reader_left(decoding->reader)
				    ? reader_take(decoding->reader, (size_t)length - 1)
				    : NULL;

	if (!bytes) {
		decoding->reader->failed = true;
		return NULL;
	}
	char *text = xstrndup(bytes, (size_t)length - 1);

	vec_push(&decoding->memory->blocks, &text);
	return text;
}

/* Returns the type that a number stands for, at most `most`; NULL: none, or it is not valid. */
static const struct type *take_type(struct decoding *decoding, size_t most)
{
	const uint64_t number = reader_number_to(decoding->reader, most);

	return number ? &decoding->types[number - 1] : NULL;
}

/* Notes that an object lies within another one. */
static void nest(struct decoding *decoding, size_t outer, const struct type *inner)
{
	const uint8_t levels = decoding->levels[inner - decoding->types];

	if (levels >= LEVELS_MAX)
		decoding->reader->failed = true;
	else if (decoding->levels[outer] <= levels)
		decoding->levels[outer] = (uint8_t)(levels + 1);
}

/*
 * Returns true if the objects in a struct fit into it side by side. Otherwise a struct of two
 * structs of two structs, and so on, would be shown without end. Objects without members may share
 * a place, as empty base classes do.
 */
static bool has_room(const struct type *type)
{
	uint64_t used[2] = {0, 0};

	for (uint32_t i = 0; i < type_shown_members(type); i++) {
		const struct type *part = type->members[i].type;
		const bool counts = part->kind == TYPE_ARRAY ||
				    (part->kind == TYPE_STRUCT && part->count);

		for (unsigned wide = 0; wide < 2 && counts; wide++)
			used[wide] += type_size(part, wide ? 8 : 4);
	}
	return used[0] <= type->size[0] && used[1] <= type->size[1];
}

static void take_members(struct decoding *decoding, size_t index, struct type *type)
{
	struct byte_reader *reader = decoding->reader;
	struct type_member *members = take_memory(decoding, type->count, sizeof *members,
						  MEMBER_BYTES);

	type->members = members;
	for (uint32_t i = 0; i < type->count && !reader->failed; i++) {
		struct type_member *member = &members[i];

		member->name = take_text(decoding);
		member->type = take_type(decoding, index);
		if (!member->type)
			reader->failed = true;
		else
			nest(decoding, index, member->type);
		for (unsigned wide = 0; wide < 2; wide++) {
			member->offset[wide] = (uint32_t)reader_number_to(reader, TYPE_SIZE_MAX);
			member->shift[wide] = (uint8_t)reader_byte(reader);
			reader->failed |= member->shift[wide] > SHIFT_MAX;
		}
		member->bits = (uint8_t)reader_byte(reader);
		reader->failed |= member->bits > BITS_MAX;
	}
	if (!reader->failed)
		reader->failed = !has_room(type);
}

static void take_names(struct decoding *decoding, struct type *type)
{
	struct byte_reader *reader = decoding->reader;
	struct type_name *names = take_memory(decoding, type->count, sizeof *names, NAME_BYTES);

	type->names = names;
	for (uint32_t i = 0; i < type->count && !reader->failed; i++) {
		names[i].name = take_text(decoding);
		names[i].value = number_unfold(reader_number(reader));
		names[i].field = reader_number(reader);
		reader->failed |= !names[i].name;
	}
}

static bool is_power_of_two(unsigned number)
{
	return number && !(number & (number - 1));
}

/* An array in an object has whole elements. */
static bool is_sound_array(const struct type *type)
{
	for (unsigned wide = 0; wide < 2; wide++) {
		const unsigned element = type_storage(type->target, wide ? 8 : 4);

		if (type->size[wide] && (!element || type->size[wide] < element))
			return false;
	}
	return !type->size[0] == !type->size[1];
}

/* Checks what its own bytes say of a type. */
static bool is_sound(const struct type *type)
{
	if (type->kind > TYPE_ARRAY || type->width > WIDTH_LONG_DOUBLE ||
	    type->lens > LENS_ADDRESS || type->length_from > STRING_PRODUCT)
		return false;
	if (type->kind == TYPE_STRUCT)
		return is_power_of_two(type->align[0]) && is_power_of_two(type->align[1]) &&
		       type->align[0] <= ALIGN_MAX && type->align[1] <= ALIGN_MAX;
	return type->kind != TYPE_ARRAY || (type->target && is_sound_array(type));
}

static void take_one(struct decoding *decoding, size_t index)
{
	struct byte_reader *reader = decoding->reader;
	struct type *type = &decoding->types[index];

	type->kind = (uint8_t)reader_byte(reader);
	type->width = (uint8_t)reader_byte(reader);
	type->lens = (uint8_t)reader_byte(reader);
	type->length_from = (uint8_t)reader_byte(reader);
	type->dialect = (uint8_t)reader_byte(reader);
	type_set_flags(type, (unsigned)reader_number_to(reader, TYPE_FLAGS));
	type->length = (uint32_t)reader_number_to(reader, UINT32_MAX);
	for (unsigned wide = 0; wide < 2; wide++) {
		type->size[wide] = (uint32_t)reader_number_to(reader, TYPE_SIZE_MAX);
		type->align[wide] = (uint8_t)reader_byte(reader);
	}
	type->target = take_type(decoding, type->kind == TYPE_ARRAY ? index : decoding->count);
	type->count = (uint32_t)reader_number_to(reader, reader_left(reader));
	if (reader->failed || !is_sound(type)) {
		reader->failed = true;
		return;
	}
	if (type->kind == TYPE_ARRAY)
		nest(decoding, index, type->target);
	if (type->kind == TYPE_STRUCT)
		take_members(decoding, index, type);
	else
		take_names(decoding, type);
}

static void take_choices(struct decoding *decoding, struct parameter *parameter)
{
	parameter->choice_count = (unsigned)reader_number_to(decoding->reader, CHOICES_MAX);
	if (!parameter->choice_count)
		return;
	struct choice *choices = take_memory(decoding, parameter->choice_count, sizeof *choices,
					     CHOICE_BYTES);

	parameter->choices = choices;
	for (unsigned i = 0; i < parameter->choice_count && !decoding->reader->failed; i++) {
		choices[i].type = take_type(decoding, decoding->count);
		decoding->reader->failed |= !choices[i].type;
	}
}

static void take_parameter(struct decoding *decoding, struct parameter *parameter)
{
	static const struct text_path somewhere;
	struct byte_reader *reader = decoding->reader;

	parameter->name = take_text(decoding);
	parameter->type = take_type(decoding, decoding->count);
	const unsigned flags = reader_byte(reader);

	parameter->on_return = flags & PARAMETER_ON_RETURN;
	parameter->is_filled = flags & PARAMETER_IS_FILLED;
	parameter->path = flags & PARAMETER_HAS_PATH ? &somewhere : NULL;
	parameter->only_with = (uint32_t)reader_number_to(reader, UINT32_MAX);
	parameter->selector = (unsigned)reader_number_to(reader, PARAMETERS_MAX);
	take_choices(decoding, parameter);
	reader->failed |= !parameter->type;
}

static void take_all(struct decoding *decoding, struct prototype *prototype)
{
	struct byte_reader *reader = decoding->reader;

	for (size_t i = 0; i < decoding->count && !reader->failed; i++)
		take_one(decoding, i);
	if (reader->failed)
		return;
	prototype->name = take_text(decoding);
	prototype->fails = take_text(decoding);
	prototype->is_unknown = reader_byte(reader) != 0;
	prototype->result = take_type(decoding, decoding->count);
	reader->failed |= !prototype->result;
	prototype->parameter_count = (unsigned)reader_number_to(reader, PARAMETERS_MAX);
	struct parameter *parameters = take_memory(decoding, prototype->parameter_count,
						   sizeof *parameters, PARAMETER_BYTES);

	prototype->parameters = parameters;
	for (unsigned i = 0; i < prototype->parameter_count && !reader->failed; i++)
		take_parameter(decoding, &parameters[i]);
}

const struct prototype *prototype_decode(struct byte_reader *reader,
					 struct prototype_memory *memory)
{
	struct decoding decoding = {.reader = reader, .memory = memory};
	const uint64_t count = reader_number(reader);

	decoding.types = take_memory(&decoding, count, sizeof *decoding.types, TYPE_BYTES);
	decoding.levels = take_memory(&decoding, count, sizeof *decoding.levels, TYPE_BYTES);
	struct prototype *prototype = take_memory(&decoding, 1, sizeof *prototype, 1);

	if (reader->failed)
		return NULL;
	decoding.count = (size_t)count;
	take_all(&decoding, prototype);
	return reader->failed ? NULL : prototype;
}
