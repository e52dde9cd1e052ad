/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of what was asked for and cannot be traced. All code that gives something up reports it
 * here, and nowhere else. Each item is shown once, with its reason, on stderr and in the trace
 * (RECORD_UNTRACED), and counted. If nothing is listed, everything was traced.
 */
#ifndef TRACER_TARGET_UNTRACED_H
#define TRACER_TARGET_UNTRACED_H

#include "record/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct untraced;

enum {
	UNTRACED_LISTED_MAX = 10000, /* items named; a hostile tracee can make up any number */
	UNTRACED_GROUP = 3	     /* a larger group is shown by its size, not by names */
};

/*
 * `emit` takes the records. `verbose`: name every function of a group on stderr. Strings that are
 * passed below are copied; they may come from a tracee.
 */
typedef void untraced_emit(void *context, const struct record *record);
struct untraced *untraced_create(untraced_emit *emit, void *context, bool verbose);
/* Prints nothing on stderr from now on. */
void untraced_keep_silent(struct untraced *untraced);
void untraced_destroy(struct untraced *untraced); /* NULL is allowed */

/*
 * Lists a function of `module`. `one_of_many`: a pattern matched it, the user did not name it. Many
 * such functions of one module with one reason are one line on stderr.
 */
void untraced_function(struct untraced *untraced, const char *module, const char *name,
		       bool one_of_many, const char *reason);
/* Lists anything else by a name for it: a module, "process 7", "-x foo". */
void untraced_thing(struct untraced *untraced, const char *thing, const char *reason);
void untraced_process(struct untraced *untraced, pid_t pid, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Shows the items that are new. To be called after a stop was handled. */
void untraced_show(struct untraced *untraced);

/* Returns the number of all items, including those above UNTRACED_LISTED_MAX. */
size_t untraced_count(const struct untraced *untraced);

#endif
