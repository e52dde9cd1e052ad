/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of calls.c share: the words to obey, and how verbs say what came of them. */
#ifndef CALLS_H
#define CALLS_H

#include <stdbool.h>

struct verb {
	const char *name;
	void (*run)(void);
};

/* Tables of verbs, the last one without a name. */
extern const struct verb plain_verbs[], thread_verbs[], process_verbs[], module_verbs[];

extern char **words; /* those still to be obeyed; NULL behind the last one */

/* Without the C library: in a trace there shall be the calls that a test asked for, and few others. */
bool same(const char *a, const char *b);
char *next(void);
int number(void);

/* Writes a line to stdout; `format` as in printf. */
void say(const char *format, ...);

#endif
