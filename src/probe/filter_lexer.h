/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds where the halves of a filter's rules end: see filter.h for the language. */
#ifndef TRACER_PROBE_FILTER_LEXER_H
#define TRACER_PROBE_FILTER_LEXER_H

#include <stdbool.h>

/* Returns true for the characters that begin a rule, where a rule can begin. */
bool filter_is_sign(char c);

/*
 * Returns the '/' that ends the regular expression which begins with the '/' at `at`, or NULL.
 * `at_sign_ends`: an '@' may follow it.
 */
const char *filter_end_of_regex(const char *at, bool at_sign_ends);

/*
 * Like filter_end_of_regex(), for text that may also be a path, as in a LIB: returns NULL if
 * another '/' comes before the expression can end. A '/' in brackets does not end it.
 */
const char *filter_end_of_name_regex(const char *at, bool at_sign_ends);

/*
 * Returns the end of a glob: the first '@' or sign that is not in brackets, escaped, or part of the
 * name. Returns NULL if a '[' has no ']'; *stray is then the '['.
 */
const char *filter_end_of_glob(const char *start, bool is_library, const char **stray);

#endif
