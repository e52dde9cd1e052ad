/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source lines of a module's code, as its debug information has them: see source_lines.c. */
#ifndef TRACER_TARGET_SOURCE_LINES_H
#define TRACER_TARGET_SOURCE_LINES_H

#include "base/map.h"
#include "base/strbuf.h"
#include "dwarf/dwarf_source.h"

/* A place in a source file. */
struct source_place {
	const char *file;
	unsigned line; /* 0: the code belongs to no line */
};

/* The places that an address belongs to. */
struct source_code {
	char *texts; /* of the places; owned */
	size_t count;
	struct source_place place; /* if count is 1 */
};

/* What is known of a module: address → struct source_code. Zero-initialised, it is empty. */
struct source_lines {
	struct map codes;
};

enum { SOURCE_LINES_KIND = 's' }; /* the first character of questions */

/*
 * Copies addresses from addresses[*next] on that are not known yet to `unknown`, which has room for
 * DWARF_ADDRESSES_MAX, and moves *next behind the last one that was looked at. Returns how many.
 */
size_t source_lines_unknown(const struct source_lines *lines, const uint64_t *addresses,
			    size_t count, size_t *next, uint64_t *unknown);
/* Returns a question for source_lines_answer(), which the caller frees. */
char *source_lines_question(const uint64_t *addresses, size_t count);
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
