/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks a printf format and says which variable arguments it takes. Freestanding, like capture.c,
 * which it is part of.
 */
#ifndef TRACER_RECORD_FORMAT_SPEC_H
#define TRACER_RECORD_FORMAT_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At most so many arguments of one format are captured. */
enum { FORMAT_ARGS_MAX = 32 };

/* Of whose printf a format is; SQLITE's and REDIS's (hiredis) have conversions of their own. */
enum format_dialect { FORMAT_OF_C, FORMAT_OF_SQLITE, FORMAT_OF_REDIS };

enum format_class {
	FORMAT_INT,
	FORMAT_DOUBLE,
	FORMAT_LONG_DOUBLE,
	FORMAT_STRING,
	FORMAT_WIDE_STRING
};

/* Less than the last: that of the argument at a place, PRECISION_ARGUMENT - the place. */
enum { PRECISION_NONE = -1, PRECISION_ARGUMENT = -2 };

/* One argument that the format takes: of a conversion, or of a '*'. */
struct format_item {
	uint8_t class; /* enum format_class */
	uint8_t size;  /* bytes of the C object */
	bool is_signed;
	char conversion; /* as in record_value: a '*' is 'd', C and lc are 'c', wide strings 'S' */
	int64_t precision; /* of strings: bytes, or one of the above (the item just before) */
};

static inline bool format_item_is_known(const struct format_item *item)
{
	return item->size != 0;
}

struct format_scan {
	const unsigned char *format, *at, *end;
	unsigned word; /* bytes of a long */
	enum format_dialect dialect;
	unsigned count;
	unsigned pending_stars; /* of the conversion in `item` */
	bool pending;		/* `item` is still to be given out */
	bool pending_length;	/* and behind it, that of %b */
	unsigned place;		/* of its argument (%2$s), from 1 on; 0: the next */
	struct format_item item;
	/* Where the format says the places itself; how many of them are of use. */
	struct format_item by_place[FORMAT_ARGS_MAX];
	unsigned places;
	bool has_far; /* there are places beyond, or may be */
	bool is_open; /* it has ended where it is not known what follows */
};

void format_scan_init(struct format_scan *scan, const unsigned char *format, size_t length,
		      unsigned word, enum format_dialect dialect);
/* Begins anew. */
void format_scan_rewind(struct format_scan *scan);

/*
 * The next argument, in the order in which they are passed; false at the end; also, with is_open,
 * after FORMAT_ARGS_MAX arguments and at what leaves open which arguments follow (unknown
 * conversions, a place that no conversion has).
 *
 * Beside printf's own, conversions of SQLite's are known that printf has not, whatever the dialect:
 * %q, %Q, %w and %z are strings. Those that both have mean to SQLite what it says: %ls is a string,
 * too. hiredis's %b has two arguments, a pointer and a length.
 */
bool format_scan_next(struct format_scan *scan, struct format_item *item);

#endif
