/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks a printf format and determines which variable arguments it takes. Freestanding: part of the
 * executor of capture.c.
 */
#ifndef TRACER_RECORD_FORMAT_SPEC_H
#define TRACER_RECORD_FORMAT_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limit of the captured arguments of one format. */
enum { FORMAT_ARGS_MAX = 32 };

/* Whose printf a format is for; SQLite's and hiredis's have conversions of their own. */
enum format_dialect { FORMAT_OF_C, FORMAT_OF_SQLITE, FORMAT_OF_REDIS };

enum format_class {
	FORMAT_INT,
	FORMAT_DOUBLE,
	FORMAT_LONG_DOUBLE,
	FORMAT_STRING,
	FORMAT_WIDE_STRING
};

/*
 * Special values of a precision. Less than PRECISION_ARGUMENT: the value of the argument at a
 * place; the place is the difference.
 */
enum { PRECISION_NONE = -1, PRECISION_ARGUMENT = -2 };

/* An argument that the format takes: of a conversion or of a '*'. */
struct format_item {
	uint8_t class; /* enum format_class */
	uint8_t size;  /* size of the C object */
	bool is_signed;
	/* As in record_value: 'd' for a '*', 'c' for C and lc, 'S' for wide strings. */
	char conversion;
	/* Of a string: bytes, or a special value (PRECISION_ARGUMENT: the item just before). */
	int64_t precision;
};

static inline bool format_item_is_known(const struct format_item *item)
{
	return item->size != 0;
}

struct format_scan {
	const unsigned char *format, *at, *end;
	unsigned word; /* size of a long */
	enum format_dialect dialect;
	unsigned count;
	/* '*' arguments of the conversion in `item`, still to be returned. */
	unsigned pending_stars;
	bool pending; /* `item` is still to be returned */
	/* The length argument of %b is still to be returned, after `item`. */
	bool pending_length;
	unsigned place; /* place of its argument (%2$s), from 1; 0: the next one */
	struct format_item item;
	/* If the format names the places: the argument at each place, and how many are used. */
	struct format_item by_place[FORMAT_ARGS_MAX];
	unsigned places;
	bool has_far; /* there are or may be arguments beyond FORMAT_ARGS_MAX */
	bool is_open; /* the walk has ended, and more arguments may follow */
};

void format_scan_init(struct format_scan *scan, const unsigned char *format, size_t length,
		      unsigned word, enum format_dialect dialect);
/* Starts again at the beginning. */
void format_scan_rewind(struct format_scan *scan);

/*
 * Returns the next argument, in the order in which arguments are passed; false at the end. It also
 * ends, with is_open set, after FORMAT_ARGS_MAX arguments and where the following arguments are not
 * known (unknown conversions, a place that no conversion uses).
 *
 * Besides printf's own conversions, those that only SQLite has are known in every dialect: %q, %Q,
 * %w and %z are strings. A conversion that both have is interpreted by the dialect: for SQLite, %ls
 * is a plain string. hiredis's %b has two arguments, a pointer and a length.
 */
bool format_scan_next(struct format_scan *scan, struct format_item *item);

#endif
