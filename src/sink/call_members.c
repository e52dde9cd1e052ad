/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of expressions made of values in records.
 *
 * A number or a text is one value of the record. Of an object the record has the bytes, and behind
 * them a value for each part that is stored elsewhere (record.h). To get to such a part, the parts
 * in front of it are skipped: they are rendered, and the text is thrown away, because the renderer
 * is what knows how many values an object has. An object as a whole has the text that the trace
 * shows of it.
 */
#include "sink/call_members.h"

#include "sink/render/render_number.h"
#include "sink/render/render_object.h"

#include <string.h>

/* An object, or one in it: the bytes that the record has of it. */
struct place {
	const struct type *type;
	const unsigned char *bytes;
	size_t length;
	unsigned word; /* bytes of a pointer */
};

static struct rendering begin_rendering(const struct typed_value *typed, struct outbuf *out)
{
	return (struct rendering){.out = out,
				  .options = typed->render,
				  .cursor = typed->cursor,
				  .argument = typed->argument};
}

/* ------------------------------------------------------------------ plain values */

static struct expression_value value_of_word(const struct type *type, uint64_t word, unsigned size)
{
	const unsigned unused = size && size < sizeof word ? 64 - 8 * size : 0;
	struct expression_value value;

	if (type->kind == TYPE_POINTER || type->kind == TYPE_STRING || type->kind == TYPE_FORMAT) {
		value = expression_unsigned(word << unused >> unused);
		value.unit = UNIT_POINTER;
		return value;
	}
	if (type->is_signed || type->lens == LENS_GUESS)
		return expression_signed((int64_t)(word << unused) >> unused);
	return expression_unsigned(word << unused >> unused);
}

static struct expression_value value_of_float(uint64_t word, unsigned size,
					      const unsigned char *bytes)
{
	long double number;

	return render_load_float(word, size, bytes, &number) ? expression_float((double)number)
							     : expression_none();
}

static struct expression_value unreadable(uint64_t pointer)
{
	struct expression_value value = expression_unsigned(pointer);

	value.unit = UNIT_POINTER;
	value.is_unreadable = pointer != 0;
	return value;
}

static struct expression_value value_of_text(const struct record_value *value)
{
	if (!value->word || (!value->length && (value->flags & VALUE_FAULT)))
		return unreadable(value->word);
	struct expression_value text = expression_text(record_value_bytes(value), value->length);

	text.is_cut = (value->flags & (VALUE_FAULT | VALUE_TRUNCATED)) != 0;
	text.has_number = true;
	text.number = value->word;
	return text;
}

/* An object as the trace shows it. */
static struct expression_value rendered(const struct typed_value *typed, struct expression_run *run)
{
	struct outbuf out;

	outbuf_init(&out, -1);
	struct rendering rendering = begin_rendering(typed, &out);

	render_typed(&rendering, typed->type, typed->value);
	struct expression_value text =
		expression_text(expression_run_keep(run, out.text, out.length), out.length);

	outbuf_deinit(&out);
	text.is_rendered = true;
	text.has_number = true;
	text.number = typed->value->word;
	return text;
}

static struct expression_value plain(const struct typed_value *typed, struct expression_run *run)
{
	const struct record_value *value = typed->value;

	switch (value->kind) {
	case VALUE_WORD:
		return value->flags & VALUE_FAULT
			       ? unreadable(1)
			       : value_of_word(typed->type, value->word, value->size);
	case VALUE_FLOAT:
		return value_of_float(value->word, value->size,
				      value->length >= 10 ? record_value_bytes(value) : NULL);
	case VALUE_STRING:
		return value_of_text(value);
	case VALUE_OBJECT:
		return !value->length && value->word && (value->flags & VALUE_FAULT)
			       ? unreadable(value->word)
			       : rendered(typed, run);
	default:
		return expression_none();
	}
}

/* ------------------------------------------------------------------ steps */

static const struct type *object_of(const struct type *type)
{
	return type->kind == TYPE_POINTER && type->target ? type->target : type;
}

/* Returns true if a value of the type may lead to something that has members or elements. */
static bool has_parts(const struct type *type)
{
	const enum type_kind kind = object_of(type)->kind;

	return kind == TYPE_STRUCT || kind == TYPE_ARRAY;
}

/* Narrows a place to what is `offset` bytes into it. */
static struct place part_at(struct place place, const struct type *type, size_t offset)
{
	const size_t at = offset < place.length ? offset : place.length;

	return (struct place){type, place.bytes + at, place.length - at, place.word};
}

/* Skips the values that follow the bytes of a place. */
static void skip(const struct typed_value *typed, struct place place)
{
	struct outbuf out;

	if (!type_follows(place.type) && !type_is_apart(place.type))
		return;
	outbuf_init(&out, -1);
	struct rendering rendering = begin_rendering(typed, &out);

	render_inside(&rendering, place.type, place.bytes, place.length, place.word);
	outbuf_deinit(&out);
}

/* Goes to a member. Returns false if there is none of that name, or the record ends before it. */
static bool step_to_member(const struct typed_value *typed, struct place *place, const char *name)
{
	const struct type *type = place->type;
	const uint32_t count = type->kind == TYPE_STRUCT ? type_shown_members(type) : 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct type_member *member = &type->members[i];
		const struct place part = part_at(*place, member->type,
						  member->offset[place->word == 8]);

		if (member->name && !strcmp(member->name, name)) {
			*place = part;
			return !member->bits && !member->type->is_hidden;
		}
		if (!member->type->is_hidden)
			skip(typed, part);
	}
	return false;
}

static bool step_to_element(const struct typed_value *typed, struct place *place, uint64_t index)
{
	const struct type *element = place->type->target;
	const size_t size = place->type->kind == TYPE_ARRAY && element
				    ? type_storage(element, place->word)
				    : 0;

	if (!size || index >= place->length / size)
		return false;
	for (uint64_t i = 0; i < index; i++)
		skip(typed, part_at(*place, element, i * size));
	*place = part_at(*place, element, index * size);
	return true;
}

/* Begins in the object that a value has the bytes of. */
static bool enter(const struct typed_value *typed, struct place *place)
{
	const struct record_value *value = typed->value;

	if (value->kind != VALUE_OBJECT || !value->length ||
	    (value->size != 4 && value->size != 8) || (value->flags & VALUE_RECURSION))
		return false;
	*place = (struct place){object_of(typed->type), record_value_bytes(value), value->length,
				value->size};
	return true;
}

static uint64_t load(struct place place, unsigned size)
{
	uint64_t word = 0;

	memcpy(&word, place.bytes, size < sizeof word ? size : sizeof word);
	return word;
}

/* Returns what is at a place whose bytes are in the object. */
static struct expression_value value_at(const struct typed_value *typed, struct place place,
					struct expression_run *run)
{
	const unsigned size = type_size(place.type, place.word);
	struct outbuf out;

	if (place.type->kind != TYPE_STRUCT && place.type->kind != TYPE_ARRAY) {
		if (!size || size > place.length)
			return expression_none();
		return place.type->kind == TYPE_FLOAT
			       ? value_of_float(load(place, size), size, place.bytes)
			       : value_of_word(place.type, load(place, size), size);
	}
	if (place.type->lens == LENS_TEXT && type_size(place.type->target, place.word) == 1)
		return expression_text((const char *)place.bytes,
				       strnlen((const char *)place.bytes,
					       size < place.length ? size : place.length));
	outbuf_init(&out, -1);
	struct rendering rendering = begin_rendering(typed, &out);

	render_inside(&rendering, place.type, place.bytes, place.length, place.word);
	struct expression_value text =
		expression_text(expression_run_keep(run, out.text, out.length), out.length);

	outbuf_deinit(&out);
	text.is_rendered = true;
	return text;
}

struct expression_value call_members_get(const struct typed_value *typed,
					 const struct expression *node, struct expression_run *run)
{
	struct typed_value now = *typed;
	struct place place;
	bool is_inside = false;

	for (size_t i = 0; i < node->steps.count; i++) {
		const struct expression_step *step = vec_at(&node->steps, i);

		if (!is_inside && !enter(&now, &place))
			return now.value->word && has_parts(now.type) ? unreadable(now.value->word)
								      : expression_none();
		if (step->member ? !step_to_member(&now, &place, step->member)
				 : !step_to_element(&now, &place, step->index))
			return place.length ? expression_none() : unreadable(now.value->word);
		is_inside = !type_is_apart(place.type);
		if (is_inside)
			continue;
		now.type = place.type;
		now.value = value_cursor_next(now.cursor);
		if (!now.value || now.value->argument != now.argument)
			return expression_none();
	}
	return is_inside ? value_at(&now, place, run) : plain(&now, run);
}
