/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the halves of a filter's rules end: see filter.h for the language. */
#ifndef TRACER_PROBE_FILTER_LEXER_H
#define TRACER_PROBE_FILTER_LEXER_H

#include <stdbool.h>

/* Whether it begins a rule, where a rule can begin. */
bool filter_is_sign(char c);

/*
 * The '/' that ends the regular expression which begins with the '/' at `at`, or NULL.
 * `at_sign_ends`: an '@' may follow.
 */
const char *filter_end_of_regex(const char *at, bool at_sign_ends);

/*
 * Like filter_end_of_regex(), for what may also be a path, as a LIB may: NULL if another '/' comes
 * before the expression can end. A '/' in brackets ends nothing.
 */
const char *filter_end_of_name_regex(const char *at, bool at_sign_ends);

/*
 * The end of a glob: the first '@' or sign that is not in brackets, escaped or part of the name.
 * NULL: *stray is a '[' without ']'.
 */
const char *filter_end_of_glob(const char *start, bool is_library, const char **stray);

#endif
