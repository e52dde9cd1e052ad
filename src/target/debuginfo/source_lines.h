/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source lines of a module's code, as its debug information has them: see source_lines.c. */
#ifndef TRACER_TARGET_DEBUGINFO_SOURCE_LINES_H
#define TRACER_TARGET_DEBUGINFO_SOURCE_LINES_H

#include "base/map.h"
#include "base/strbuf.h"
#include "dwarf/dwarf_source.h"

/* A place in a source file. */
struct source_place {
	const char *file;     /* NULL: not known */
	unsigned line;	      /* 0: the code belongs to no line */
	const char *function; /* of a function that was inlined; NULL: not known */
};

/*
 * The places that an address belongs to. The last one is in the function whose code it is, those
 * before it are in functions that were inlined there, the innermost one first.
 */
struct source_code {
	size_t count; /* 0: nothing is known */
	struct source_place places[];
};

/* What is known of a module: address → struct source_code. Zero-initialised, it is empty. */
struct source_lines {
	struct map codes;
};

/* The first character of questions. */
enum source_lines_kind {
	SOURCE_LINES = 's',
	SOURCE_LINES_AND_INLINES = 'S' /* functions that were inlined have places of their own */
};

/*
 * Copies addresses from addresses[*next] on that are not known yet to `unknown`, which has room for
 * DWARF_ADDRESSES_MAX, and moves *next behind the last one that was looked at. Returns how many.
 */
size_t source_lines_unknown(const struct source_lines *lines, const uint64_t *addresses,
			    size_t count, size_t *next, uint64_t *unknown);
/* Returns a question for source_lines_answer(), which the caller frees. */
char *source_lines_question(const uint64_t *addresses, size_t count, enum source_lines_kind kind);
/* Answers a question, in the helper process. Returns what dwarf_reader_lines() does. */
int source_lines_answer(struct dwarf_reader *reader, const char *question, struct strbuf *text);
/*
 * Keeps the answer about these addresses, as far as it is one: a damaged file may make the helper
 * say anything.
 */
void source_lines_take(struct source_lines *lines, const uint64_t *addresses, size_t count,
		       const struct strbuf *answer);

/* Returns what is known of an address; NULL: nothing. */
const struct source_code *source_lines_find(const struct source_lines *lines, uint64_t address);
/* Forgets all if there is no room for `count` addresses more. */
void source_lines_make_room(struct source_lines *lines, size_t count);
void source_lines_deinit(struct source_lines *lines);

#endif
