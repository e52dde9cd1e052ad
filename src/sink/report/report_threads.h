/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads of the report, and what its time line shows of them: see report_threads.c. */
#ifndef TRACER_SINK_REPORT_REPORT_THREADS_H
#define TRACER_SINK_REPORT_REPORT_THREADS_H

#include "base/map.h"
#include "base/vec.h"

#include <stdint.h>

/* A call on the time line. */
struct report_slice {
	uint64_t begun, ended; /* ns since the Epoch; `ended` is UINT64_MAX if the call did not */
	uint32_t function;     /* index of its row */
	uint32_t depth;	       /* REPORT_SPAN: it lies in nothing */
};

enum { REPORT_SPAN = UINT16_MAX };

struct report_thread {
	uint32_t index;
	int32_t pid, tid;
	char name[16];
	uint64_t calls, time;
	struct vec slices; /* struct report_slice, as the calls ended */
	uint64_t shortest; /* calls that are not longer than so many ns are left out; 0: none */
	uint64_t left_out; /* how many there were */
	struct vec pieces; /* struct report_piece */
};

/* Begin with VEC_OF(struct report_thread *) for `list`. */
struct report_threads {
	struct vec list;
	struct map by_id;	     /* pid and tid → struct report_thread, or `others` */
	struct map pids;	     /* pid → this */
	struct report_thread others; /* counts calls of threads that have none; not in the list */
};

/*
 * Returns the thread, and stores whether it is seen first. Threads beyond a number have one in
 * common, which has no slices.
 */
struct report_thread *report_threads_get(struct report_threads *threads, int32_t pid, int32_t tid,
					 bool *is_new);

/* Adds a call to the time line, unless it is too short to be among those that are kept. */
void report_threads_add(const struct report_threads *threads, struct report_thread *thread,
			const struct report_slice *slice);
/* At the end: leaves out what is too much. */
void report_threads_trim(const struct report_threads *threads);

void report_threads_deinit(struct report_threads *threads);

#endif
