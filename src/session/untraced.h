/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of what was asked for and cannot be traced. Whoever gives something up says so here, and
 * nowhere else: it is shown once, with its reason, on stderr and in the trace (RECORD_UNTRACED),
 * and counted. Silence means that everything was traced.
 */
#ifndef TRACER_SESSION_UNTRACED_H
#define TRACER_SESSION_UNTRACED_H

#include "record/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct untraced;

enum {
	UNTRACED_LISTED_MAX = 10000, /* things named; a hostile tracee can make up any number */
	UNTRACED_GROUP = 3	     /* of so many the names are shown, of more only the number */
};

/*
 * `emit` takes the records; `verbose`: name every function of a group on stderr. Text handed in
 * below is copied; it may come from a tracee.
 */
typedef void untraced_emit(void *context, const struct record *record);
struct untraced *untraced_create(untraced_emit *emit, void *context, bool verbose);
/* From now on nothing is said on stderr. */
void untraced_keep_silent(struct untraced *untraced);
void untraced_destroy(struct untraced *untraced); /* NULL is fine */

/*
 * A function of `module` is not traced. `one_of_many`: a pattern meant it, the user did not name
 * it; many of one module with one reason are one line on stderr.
 */
void untraced_function(struct untraced *untraced, const char *module, const char *name,
		       bool one_of_many, const char *reason);
/* Anything else, by what it is called: a module, "process 7", "-x foo". */
void untraced_thing(struct untraced *untraced, const char *thing, const char *reason);
void untraced_process(struct untraced *untraced, pid_t pid, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Shows what has come since the last time: to be called when a stop has been served. */
void untraced_show(struct untraced *untraced);

/* How many things there were, what was not named for lack of room included. */
size_t untraced_count(const struct untraced *untraced);

#endif
