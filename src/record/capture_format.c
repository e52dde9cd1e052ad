/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Printf formats in capture plans: the format, then a value for each argument that it takes.
 *
 * A format is read whole, as it determines the arguments, even if less of it is shown; meanwhile it
 * is kept at the far end of the buffer. It is walked twice if it mentions several strings: once to
 * read their beginnings in one batch, once to make the values.
 */
#include "record/capture_format.h"

#include "record/capture_fetch.h"
#include "record/capture_object.h"
#include "record/capture_run.h"
#include "record/format_spec.h"

enum {
	FORMAT_MAX = 1024, /* how many characters of a format are parsed, at least */
	WIDE_PIECE = 256   /* bytes of a wide-character format that are read at once */
};

/* Where the next variable argument of each class is. */
struct varargs {
	unsigned next_int, next_fp;
	int32_t next_stack;
};

/* Returns the bytes of the next variable argument on the stack, or NULL. */
static const unsigned char *next_on_stack(struct capture *c, struct varargs *va, unsigned size)
{
	int32_t word = c->plan->word;
	int32_t slots = (int32_t)(size + c->plan->word - 1) / word * word;
	int32_t offset = va->next_stack;

	/* As in proto/plan.c: an argument of 16 bytes is a long double and is aligned. */
	if (slots == 16)
		offset = c->plan->first_stack + ((offset - c->plan->first_stack + 15) & ~15);
	va->next_stack = offset + slots;
	return capture_stack(c, offset, size);
}

uint64_t capture_vectors(const struct capture_plan *plan, const struct capture_frame *frame)
{
	if (!frame->xmm)
		return 0;
	return plan->counts_vectors ? frame->gpr[0] & 0xff : plan->fp_args;
}

/* Reads an xmm argument. Registers beyond the number that the caller has set hold none. */
static bool fetch_vector(const struct capture *c, unsigned index, uint64_t *word)
{
	if (index >= (c->saved ? c->saved->vectors : capture_vectors(c->plan, c->frame)))
		return false;
	*word = c->saved ? c->saved->fp_arg[index] : capture_load_word(c->frame->xmm[index], 8);
	return true;
}

/*
 * Reads the next variable argument if it is passed in a register. Returns false if it is not.
 * *known: it could be read.
 */
static bool next_in_register(struct capture *c, struct varargs *va, const struct format_item *item,
			     uint64_t *word, bool *known)
{
	const struct capture_plan *plan = c->plan;
	unsigned index;

	*known = true;
	if (item->class == FORMAT_DOUBLE) {
		if (va->next_fp >= plan->fp_args || va->next_fp >= 8)
			return false;
		*known = fetch_vector(c, va->next_fp++, word);
		return true;
	}
	if (item->size > plan->word || va->next_int >= plan->int_args || va->next_int >= 6)
		return false;
	index = va->next_int++;
	*word = c->saved ? c->saved->int_arg[index] : c->frame->gpr[plan->int_arg[index] & 15];
	return true;
}

/* Reads the next variable argument, except a long double. Returns false if unreadable. */
static bool next_argument(struct capture *c, struct varargs *va, const struct format_item *item,
			  uint64_t *word)
{
	bool known;

	*word = 0;
	if (!next_in_register(c, va, item, word, &known)) {
		const unsigned char *bytes = next_on_stack(c, va, item->size);

		if (!bytes)
			return false;
		*word = capture_load_word(bytes, item->size);
	}
	*word = capture_extend(*word, item->size, item->is_signed);
	return known;
}

static void first_argument(const struct capture_plan *plan, struct varargs *va)
{
	va->next_int = plan->next_int;
	va->next_fp = plan->next_fp;
	va->next_stack = plan->next_stack;
}

/* Returns the argument at a place; -1 if its type or that of an argument before it is not known. */
static int64_t argument_at(struct capture *c, const struct format_scan *scan, uint64_t place)
{
	const struct format_item *item = scan->by_place;
	struct varargs va;
	uint64_t word = 0;

	first_argument(c->plan, &va);
	for (uint64_t i = 0; i < place; i++, item++) {
		if (i >= scan->places || !format_item_is_known(item))
			return -1;
		if (item->class == FORMAT_LONG_DOUBLE)
			next_on_stack(c, &va, item->size);
		else if (!next_argument(c, &va, item, &word))
			return -1;
	}
	return (int64_t)word;
}

/*
 * Returns the length of a %s string; `previous` is the argument before it, possibly its precision.
 */
static struct extent item_extent(struct capture *c, const struct format_scan *scan,
				 const struct format_item *item, uint64_t previous)
{
	int64_t precision = item->precision;
	struct extent extent;

	if (precision == PRECISION_ARGUMENT)
		precision = (int64_t)previous;
	else if (precision < PRECISION_ARGUMENT)
		precision = argument_at(c, scan, (uint64_t)(PRECISION_ARGUMENT - precision));
	extent.bytes = precision < 0 ? UINT64_MAX : (uint64_t)precision;
	extent.nul_ends = true;
	extent.fault = false;
	extent.spare_bits = 0;
	return extent;
}

/* Reads the beginnings of the strings that a format mentions, in one batch. */
static void prefetch_varargs(struct capture *c, struct format_scan *scan)
{
	struct format_item item;
	struct varargs va;
	unsigned first = c->chunk_count;
	uint64_t word = 0;

	first_argument(c->plan, &va);
	while (format_scan_next(scan, &item)) {
		uint64_t previous = word;

		if (item.class == FORMAT_LONG_DOUBLE) {
			next_on_stack(c, &va, item.size);
			continue;
		}
		if (!next_argument(c, &va, &item, &word) || item.class != FORMAT_STRING)
			continue;
		struct extent extent = item_extent(c, scan, &item, previous);

		capture_want_chunk(c, word, capture_read_max(c, &extent));
	}
	capture_read_chunks(c, first);
	format_scan_rewind(scan);
}

static bool put_vararg(struct capture *c, const struct capture_op *op,
		       const struct format_scan *scan, struct varargs *va,
		       const struct format_item *item, uint64_t *previous)
{
	static const uint8_t kinds[] = {
		[FORMAT_INT] = VALUE_WORD,	     [FORMAT_DOUBLE] = VALUE_FLOAT,
		[FORMAT_LONG_DOUBLE] = VALUE_FLOAT,  [FORMAT_STRING] = VALUE_STRING,
		[FORMAT_WIDE_STRING] = VALUE_OBJECT,
	};
	struct record_value *value = capture_begin_value(c, (enum value_kind)kinds[item->class],
							 op->argument);

	/* The reserve includes the end mark. */
	if (!value || c->capacity - c->record->size < sizeof *value + c->reserve)
		return false;
	value->flags = VALUE_VARARG;
	value->conversion = item->conversion;
	value->size = item->size;
	if (item->class == FORMAT_LONG_DOUBLE) {
		capture_set_long_double(c, value, next_on_stack(c, va, item->size));
	} else if (!next_argument(c, va, item, &value->word)) {
		value->flags |= VALUE_FAULT;
	} else if (item->class == FORMAT_STRING || item->class == FORMAT_WIDE_STRING) {
		struct extent extent = item_extent(c, scan, item, *previous);

		if (item->class == FORMAT_STRING)
			capture_load_string(c, value, value->word, &extent);
		else
			capture_load_wide(c, value, &extent);
	}
	*previous = value->word;
	capture_end_value(c, value);
	return true;
}

/* Makes the values of the variable arguments. Returns true if there may be more. */
static bool put_varargs(struct capture *c, const struct capture_op *op, const unsigned char *format,
			size_t length)
{
	struct format_scan scan;
	struct format_item item;
	struct varargs va;
	uint64_t previous = 0;

	format_scan_init(&scan, format, length, c->plan->word, (enum format_dialect)op->part);
	prefetch_varargs(c, &scan);
	first_argument(c->plan, &va);
	while (format_scan_next(&scan, &item) && put_vararg(c, op, &scan, &va, &item, &previous))
		;
	return scan.is_open;
}

/* Makes the string value of a format; `length` bytes of it are at `format`. */
static bool put_format_string(struct capture *c, const struct capture_op *op, uint64_t pointer,
			      const unsigned char *format, size_t length, unsigned flags)
{
	struct record_value *value = capture_begin_value(c, VALUE_STRING, op->argument);

	if (!value)
		return false;
	size_t shown = min_size(min_size(length, c->plan->string_max),
				capture_room(c) & ~(size_t)7);

	value->size = op->size;
	value->word = pointer;
	value->length = (uint32_t)shown;
	value->flags = (uint8_t)(shown < length ? VALUE_TRUNCATED : flags);
	capture_copy(capture_bytes(value), format, shown);
	capture_end_value(c, value);
	return true;
}

static bool put_format_end(struct capture *c, const struct capture_op *op, bool is_open)
{
	struct record_value *end = capture_begin_value(c, VALUE_WORD, op->argument);

	if (!end)
		return false;
	end->flags = (uint8_t)(VALUE_FORMAT_END | (is_open ? VALUE_TRUNCATED : 0));
	capture_end_value(c, end);
	return true;
}

/* Makes the value of a wide-character format. */
static bool put_wide_format(struct capture *c, const struct capture_op *op, uint64_t pointer,
			    unsigned flags)
{
	struct record_value *value = capture_begin_value(c, VALUE_OBJECT, op->argument);
	struct extent extent;

	if (!value)
		return false;
	extent.bytes = UINT64_MAX;
	extent.nul_ends = true;
	extent.fault = false;
	extent.spare_bits = 0;
	value->size = op->size;
	value->word = pointer;
	value->flags = (uint8_t)(flags & VALUE_FAULT);
	capture_load_wide(c, value, &extent);
	capture_end_value(c, value);
	return true;
}

/*
 * Reads a wide-character format and converts it to bytes, like capture_load(). Characters that are
 * not ASCII become 0xff, as they are no part of a conversion.
 */
static size_t load_wide_format(const struct capture *c, uint64_t address, unsigned char *to,
			       size_t want, bool *ended)
{
	unsigned char piece[WIDE_PIECE];
	size_t length = 0;
	size_t got = sizeof piece;

	*ended = false;
	while (length < want && got == sizeof piece && !*ended) {
		bool ignored;

		got = capture_load(c, address + length * WIDE_BYTES, piece, sizeof piece, false,
				   &ignored);
		for (size_t i = 0; i + WIDE_BYTES <= got && length < want && !*ended;
		     i += WIDE_BYTES) {
			uint64_t character = capture_load_word(piece + i, WIDE_BYTES);

			*ended = !character;
			to[length] = character < 0x80 ? (unsigned char)character : 0xff;
			length += !*ended;
		}
	}
	return length;
}

bool capture_put_format(struct capture *c, const struct capture_op *op)
{
	size_t free = c->capacity - c->record->size;
	uint64_t wanted = (uint64_t)c->plan->string_max + 8;
	size_t area = min_size(wanted > FORMAT_MAX ? wanted : FORMAT_MAX, free / 4) & ~(size_t)7;
	unsigned char *format = c->bytes + c->capacity - area;
	unsigned flags = 0;
	uint64_t pointer;
	bool ended = false;
	size_t length = 0;

	c->capacity -= area;
	if (!capture_fetch(c, op, &pointer))
		flags = VALUE_FAULT;
	if (pointer) {
		length = op->is_wide ? load_wide_format(c, pointer, format, area, &ended)
				     : capture_load(c, pointer, format, area, true, &ended);
		if (!ended)
			flags = length < area ? VALUE_FAULT : VALUE_TRUNCATED;
	}
	c->reserve += sizeof(struct record_value);
	if (!(op->is_wide ? put_wide_format(c, op, pointer, flags)
			  : put_format_string(c, op, pointer, format, length, flags)))
		return false;
	const bool is_open = put_varargs(c, op, format, length);

	c->reserve -= sizeof(struct record_value);
	return put_format_end(c, op, is_open);
}
