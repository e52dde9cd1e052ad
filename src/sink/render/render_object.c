/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Renders structs, arrays and pointers to any type, from a VALUE_OBJECT and the values behind it.
 *
 * The bytes of an object hold its numbers; each part that is stored apart from it (type_is_apart())
 * is the next value of the record. The capture plan was made from the same type, and its executor
 * (record/capture_object.c) keeps two rules that make the order certain: each element of an object
 * that has bytes has values for all its parts; but an object too large to be captured whole has no
 * values for parts behind its end. If the record breaks these rules, a `?` is written, and nothing
 * behind it.
 *
 * The record is untrusted, so nothing depends on its contents: a value's bytes are used as far as
 * its length goes, and the nesting of values is limited, as types may be circular. What is left out
 * for these reasons is shown as `...`.
 */
#include "sink/render/render_object.h"

#include "sink/render/escape.h"
#include "sink/render/render_address.h"
#include "sink/render/render_number.h"

/* More than possible: CAPTURE_DEPTH_MAX objects, each with the deepest possible type. */
enum { LEVELS_MAX = 1200 };

/* The available bytes of an object. */
struct view {
	const unsigned char *bytes;
	size_t length;
	unsigned word; /* bytes of a pointer */
};

static void put_inside(struct rendering *r, const struct type *type, struct view view);

static struct view view_at(struct view view, size_t offset, size_t most)
{
	size_t left = offset < view.length ? view.length - offset : 0;

	return (struct view){view.bytes + (left ? offset : 0), left < most ? left : most,
			     view.word};
}

static uint64_t load_word(struct view view)
{
	uint64_t word = 0;

	for (size_t i = 0; i < view.length && i < sizeof word; i++)
		word |= (uint64_t)view.bytes[i] << 8 * i;
	return word;
}

/* Renders an object that is the next value of the record. */
static void put_apart(struct rendering *r, const struct type *type)
{
	const struct record_value *value = r->ended ? NULL : value_cursor_next(r->cursor);

	if (!value || value->argument != r->argument || (value->flags & VALUE_VARARG)) {
		outbuf_char(r->out, '?');
		r->ended = true;
		return;
	}
	r->levels++;
	render_typed(r, type, value);
	r->levels--;
}

/* Returns true if the record has all bytes that are needed of a member. */
static bool is_there(const struct type_member *member, struct view view)
{
	const struct type *type = member->type;
	const bool wide = view.word == 8;
	const size_t offset = member->offset[wide];

	if (member->bits)
		return offset + (member->shift[wide] + member->bits + 7) / 8 <= view.length;
	if (type_is_apart(type) && type->kind == TYPE_ARRAY)
		return offset <= view.length;
	if (type->kind == TYPE_STRUCT || type->kind == TYPE_ARRAY)
		return offset < view.length || !type_size(type, view.word);
	return offset + type_size(type, view.word) <= view.length;
}

/*
 * Returns the type with the lens of the struct around it, if that applies. `changed`: space for
 * that.
 */
static const struct type *seen(const struct rendering *r, const struct type *type,
			       struct type *changed)
{
	if (r->lens == LENS_DEFAULT || !type_takes_lens(type))
		return type;
	*changed = type_with_lens(type, (enum type_lens)r->lens);
	return changed;
}

/* Renders a bit-field as an integer of its type. The view begins with its first byte. */
static void put_bit_field(struct rendering *r, const struct type_member *member, struct view view)
{
	const unsigned unused = 64U - member->bits;
	struct type changed;
	const struct type *type = seen(r, member->type, &changed);
	uint64_t word = load_word(view) >> member->shift[view.word == 8] << unused;

	word = type->is_signed ? (uint64_t)((int64_t)word >> unused) : word >> unused;
	render_word(r, type, word, type_size(type, view.word));
}

static void put_member(struct rendering *r, const struct type_member *member, bool is_named,
		       struct view view)
{
	view = view_at(view, member->offset[view.word == 8], SIZE_MAX);
	if (member->name && is_named) {
		escape_name(r->out, member->name);
		outbuf_char(r->out, '=');
	}
	if (member->bits)
		put_bit_field(r, member, view);
	else
		put_inside(r, member->type, view);
}

/* Returns true for an empty Go string (pointer and length): its pointer may be anything. */
static bool is_empty_text(const struct type *type, const struct type_member *member,
			  struct view view)
{
	return type->is_bare && type->count == 2 && member->type->kind == TYPE_STRING &&
	       !load_word(view_at(view, member->offset[view.word == 8], view.word));
}

static void put_members(struct rendering *r, const struct type *type, struct view view)
{
	const uint32_t count = type_size(type, view.word) ? type_shown_members(type) : 0;
	bool is_partial = type->is_partial;
	const char *before = "";

	if (!type->is_bare)
		outbuf_text(r->out, "{ ");
	for (uint32_t i = 0; i < count && !r->ended; i++) {
		const struct type_member *member = &type->members[i];

		if (member->type->is_hidden)
			continue;
		if (!is_there(member, view)) {
			is_partial = true;
			break;
		}
		outbuf_text(r->out, before);
		before = ", ";
		if (is_empty_text(type, member, view) && value_cursor_next(r->cursor))
			outbuf_text(r->out, "\"\"");
		else
			put_member(r, member, !type->is_bare, view);
	}
	if (is_partial) {
		outbuf_text(r->out, before);
		outbuf_text(r->out, "...");
	}
	if (!type->is_bare)
		outbuf_text(r->out, " }");
}

static void put_struct(struct rendering *r, const struct type *type, struct view view)
{
	const uint8_t lens = r->lens;

	if (type->lens != LENS_DEFAULT)
		r->lens = type->lens;
	put_members(r, type, view);
	r->lens = lens;
}

static void put_text(struct rendering *r, const struct type *type, struct view view, bool is_cut)
{
	unsigned size = type_size(type->target, view.word);
	size_t most = size ? view.length / size : 0;
	size_t count = 0;
	bool ends_at_nul = type->length_from == STRING_CONSTANT || type->zero_ends ||
			   type->length_from == STRING_NUL;

	for (; count < most; count++)
		if (ends_at_nul && !load_word(view_at(view, count * size, size))) {
			is_cut = false;
			break;
		}
	if (count > r->options->string_max) {
		count = r->options->string_max;
		is_cut = true;
	}
	render_text(r->out, view.bytes, count, size, is_cut, r->options->utf8);
}

/*
 * Returns true for array(TYPE, retval(1)) and array(TYPE, success): there is one element, or none.
 */
static bool is_one_or_none(const struct type *type)
{
	return type->kind == TYPE_ARRAY && type->result_ends &&
	       type->length_from == STRING_CONSTANT && type->length == 1;
}

/* Renders the available elements. `is_cut`: there are more. */
static void put_elements(struct rendering *r, const struct type *type, struct view view,
			 bool is_cut)
{
	size_t size = type_storage(type->target, view.word);

	if (type->lens == LENS_BITVEC) {
		render_bits_of(r->out, view.bytes, view.length);
		outbuf_text(r->out, is_cut ? "..." : "");
		return;
	}
	if (type->lens == LENS_TEXT) {
		put_text(r, type, view, is_cut);
		return;
	}
	if (type->lens == LENS_ADDRESS) {
		render_address(r->out, view.bytes, view.length, r->options);
		return;
	}
	if (is_one_or_none(type)) {
		put_inside(r, type->target, view);
		return;
	}
	outbuf_text(r->out, "[ ");
	for (size_t at = 0; size && at < view.length && !r->ended; at += size) {
		if (at)
			outbuf_text(r->out, ", ");
		put_inside(r, type->target, view_at(view, at, size));
	}
	outbuf_text(r->out, is_cut ? "... ]" : " ]");
}

/* Renders an array within an object, with at most as many elements as of other arrays. */
static void put_array(struct rendering *r, const struct type *type, struct view view)
{
	size_t size = type_storage(type->target, view.word);
	size_t whole = type_size(type, view.word);
	size_t shown = whole;
	bool ends = type->zero_ends && type->lens != LENS_TEXT;

	if (type->lens != LENS_TEXT && type->lens != LENS_BITVEC && type->lens != LENS_ADDRESS &&
	    whole / size > r->options->array_max)
		shown = r->options->array_max * size;
	for (size_t at = 0; ends && at + size <= shown && at + size <= view.length; at += size) {
		struct view element = view_at(view, at, size);
		bool any = false;

		for (size_t i = 0; i < size; i++)
			any |= element.bytes[i] != 0;
		if (!any)
			shown = whole = at;
	}
	view = view_at(view, 0, shown);
	put_elements(r, type, view, view.length < whole);
}

/* Renders an object of this type that begins where the view does. */
static void put_inside(struct rendering *r, const struct type *type, struct view view)
{
	struct type changed;
	unsigned size = type_size(type, view.word);
	uint64_t word = load_word(view_at(view, 0, size));

	if (type_is_apart(type))
		put_apart(r, type);
	else if (type->kind == TYPE_STRUCT && type->lens == LENS_BITVEC)
		render_bits_of(r->out, view.bytes, size < view.length ? size : view.length);
	else if (type->kind == TYPE_STRUCT && type->is_wide && view.length >= size)
		render_wide(r->out, view.bytes);
	else if (type->kind == TYPE_STRUCT)
		put_struct(r, type, view);
	else if (type->kind == TYPE_ARRAY)
		put_array(r, type, view);
	else if (size > view.length)
		outbuf_text(r->out, "...");
	else if (type->kind == TYPE_FLOAT)
		render_float(r->out, seen(r, type, &changed), word, size, view.bytes);
	else
		render_word(r, seen(r, type, &changed), word, size);
}

static void put_recursion(struct rendering *r, const struct record_value *value)
{
	unsigned up = (unsigned char)value->conversion;

	outbuf_text(r->out, "recurse");
	for (unsigned i = 1; i < up; i++)
		outbuf_char(r->out, '^');
}

/* Renders a value without bytes. */
static void put_nothing(struct rendering *r, const struct type *type,
			const struct record_value *value, struct view view)
{
	if ((value->flags & VALUE_FAULT) || type->lens == LENS_ADDRESS || is_one_or_none(type))
		render_pointer(r->out, value->word);
	else if (value->flags & VALUE_TRUNCATED)
		outbuf_text(r->out, type->kind == TYPE_ARRAY && type->lens == LENS_DEFAULT
					    ? "[ ... ]"
					    : "...");
	else if (type->kind == TYPE_ARRAY)
		put_elements(r, type, view, false);
	else
		outbuf_char(r->out, '?');
}

void render_object(struct rendering *r, const struct type *type, const struct record_value *value)
{
	struct view view = {record_value_bytes(value), value->length, value->size};
	const struct type *object = type->kind == TYPE_POINTER ? type->target : type;

	if (!object || (view.word != 4 && view.word != 8)) {
		outbuf_char(r->out, '?');
		r->ended = true;
	} else if (r->levels > LEVELS_MAX) {
		outbuf_text(r->out, "...");
		r->ended = true;
	} else if (value->flags & VALUE_RECURSION) {
		put_recursion(r, value);
	} else if (object != type && !value->word) {
		outbuf_text(r->out, "nil");
	} else if (object->kind == TYPE_STRUCT && !type_size(object, view.word)) {
		put_struct(r, object, view);
	} else if (!view.length) {
		put_nothing(r, object, value, view);
	} else if (object->kind == TYPE_ARRAY) {
		put_elements(r, object, view,
			     (value->flags & (VALUE_FAULT | VALUE_TRUNCATED)) != 0);
	} else {
		put_inside(r, object, view);
	}
}

void render_inside(struct rendering *r, const struct type *type, const unsigned char *bytes,
		   size_t length, unsigned word)
{
	put_inside(r, type, (struct view){bytes, length, word});
}
