/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls that the report lists one by one: see report_slowest.c. */
#ifndef TRACER_SINK_REPORT_REPORT_SLOWEST_H
#define TRACER_SINK_REPORT_REPORT_SLOWEST_H

#include <stdbool.h>
#include <stdint.h>

/* The tables that a call has a row in. */
enum report_table {
	REPORT_FUNCTIONS,
	REPORT_STATEMENTS, /* SQL texts by their shape */
	REPORT_LINES,	   /* script lines */
	REPORT_KEYS,	   /* --by */
	REPORT_TABLES	   /* number of tables */
};

struct report_row;
struct report_thread;

enum report_end { REPORT_RETURNED, REPORT_UNWOUND, REPORT_UNFINISHED };

/* A call that is kept. Several lists may have it. */
struct report_call {
	unsigned users;
	uint32_t number; /* in the page, while it is written */
	bool is_slowest; /* among the slowest of all, while it is written */
	enum report_end end;
	uint64_t begun;	   /* ns since the Epoch */
	uint64_t duration; /* ns; 0 if it is not known */
	int32_t pid, tid;
	uint32_t depth;
	uint32_t stack;				      /* record.stack */
	const struct report_row *rows[REPORT_TABLES]; /* NULL: none; not owned */
	/* Owned; NULL: none. */
	char *arguments, *result, *statement, *caller;
};

/* A heap with the shortest of the calls on top. Zeros are an empty list. */
struct report_slowest {
	struct report_call **calls;
	unsigned count;
};

/* Returns true if a call of that duration belongs to the `most` slowest. */
bool report_slowest_wants(const struct report_slowest *slowest, unsigned most, uint64_t duration);
/* Adds a call that is wanted, in the place of the shortest one if there are `most`. */
void report_slowest_add(struct report_slowest *slowest, unsigned most, struct report_call *call);
/* Adds what is wanted of another list, which is empty then. */
void report_slowest_merge(struct report_slowest *to, unsigned most, struct report_slowest *from);
void report_slowest_deinit(struct report_slowest *slowest);

/* Frees a call that no list has any more. NULL is allowed. */
void report_call_release(struct report_call *call);

#endif
