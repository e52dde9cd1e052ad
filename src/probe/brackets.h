/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bracket expressions of globs, as fnmatch(3) reads them, and of regular expressions (regex(7)). */
#ifndef TRACER_PROBE_BRACKETS_H
#define TRACER_PROBE_BRACKETS_H

/* Returns the end of a glob's bracket expression that begins at `at`, or NULL if it has none. */
const char *brackets_skip(const char *at);
/*
 * Returns the end of a bracket expression of a regular expression. A backslash has no special
 * meaning in it. The text ends at `end`.
 */
const char *brackets_skip_regex(const char *at, const char *end);

/* Returns the first empty range in a bracket expression, whose ']' is at `end`, or NULL. */
const char *brackets_empty_range(const char *at, const char *end);
/* Returns the first unknown class in a bracket expression, whose ']' is at `end`, or NULL. */
const char *brackets_unknown_class(const char *at, const char *end);

#endif
