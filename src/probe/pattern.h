/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pattern that is compared with whole names: a plain name; a glob with the * ? [] of fnmatch(3),
 * where a ^ in front and a $ at the end are allowed and mean nothing; or a basic regular expression
 * of regex(7). A pattern that contains "::" is compared with symbols and with their source-level
 * names: see probe/source_name.h.
 */
#ifndef TRACER_PROBE_PATTERN_H
#define TRACER_PROBE_PATTERN_H

#include "probe/source_name.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

enum pattern_kind { PATTERN_ANY, PATTERN_PLAIN, PATTERN_GLOB, PATTERN_REGEX };

struct pattern {
	enum pattern_kind kind;
	char *text; /* the name, or the glob without ^ and $; NULL for PATTERN_ANY */
	regex_t *regex;
	struct source_name *source; /* NULL: it is compared with symbols only */
};

/* Returns the first '[' without a ']' in `text`, which has `length` characters, or NULL. */
const char *pattern_unbalanced(const char *text, size_t length);

/*
 * Returns the part of a glob, with balanced brackets, that can match nothing (a backslash at the
 * end, a range like [z-a]), and in *why the reason; or NULL if there is none.
 */
const char *pattern_senseless(const char *text, size_t length, const char **why);
/*
 * Returns the repetition (\{N\}) that makes a regular expression so large that compiling it would
 * take seconds and all memory, or the \( that makes it too deep, or NULL.
 */
const char *pattern_excess(const char *text, size_t length);

/* The brackets in `text` must be balanced. An empty text and "*" match everything. */
void pattern_set_glob(struct pattern *pattern, const char *text, size_t length);
/* Returns 0, or -EINVAL and in *error the reason, which the caller frees. */
int pattern_set_regex(struct pattern *pattern, const char *text, size_t length, char **error);
/*
 * Declares that the pattern is one of functions: if it contains "::", it also matches source-level
 * names. A leading "::" of a plain name or a glob has no meaning and is removed.
 */
void pattern_means_functions(struct pattern *pattern);
void pattern_deinit(struct pattern *pattern);

/* Returns true if the pattern is one plain symbol, which a hash table can find. */
bool pattern_is_symbol(const struct pattern *pattern);

bool pattern_matches(const struct pattern *pattern, const char *name);

#endif
