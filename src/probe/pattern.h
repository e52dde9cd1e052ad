/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pattern that names are compared with, always as a whole: a plain name, a glob with the * ? []
 * of fnmatch(3), where ^ in front and $ at the end are allowed and say nothing, or a basic regular
 * expression of regex(7). One that contains "::" is compared with symbols and with what they are
 * called in the source: see probe/source_name.h.
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
	char *text; /* of a plain name: it; of a glob: without ^ and $; NULL for PATTERN_ANY */
	regex_t *regex;
	struct source_name *source; /* NULL: only symbols are compared with it */
};

/* The first character of `text`, which is `length` long, that is a '[' without its ']', or NULL. */
const char *pattern_unbalanced(const char *text, size_t length);
/* Behind the bracket expression that begins at `at`, or NULL when it has no end. */
const char *pattern_skip_brackets(const char *at);

/*
 * What in a glob with balanced brackets can match nothing, and why: a backslash at the end, a range
 * like [z-a]. NULL: nothing.
 */
const char *pattern_senseless(const char *text, size_t length, const char **why);
/*
 * The repetition (\{N\}) by which a regular expression becomes so large that it would take seconds,
 * and all memory, to be read; or the \( by which it is too deep. NULL: none.
 */
const char *pattern_excess(const char *text, size_t length);

/* Of a text whose brackets are balanced; an empty one and "*" match everything. */
void pattern_set_glob(struct pattern *pattern, const char *text, size_t length);
/* -EINVAL: it is no regular expression, *error says why (to be freed). */
int pattern_set_regex(struct pattern *pattern, const char *text, size_t length, char **error);
/*
 * The pattern is one of functions: if it contains "::", it means names in the source, too. A "::"
 * at the beginning of a name or a glob says nothing else, and is taken off.
 */
void pattern_means_functions(struct pattern *pattern);
void pattern_deinit(struct pattern *pattern);

/* Whether it is one symbol's own name, so that a hash finds who has it. */
bool pattern_is_symbol(const struct pattern *pattern);

bool pattern_matches(const struct pattern *pattern, const char *name);

#endif
