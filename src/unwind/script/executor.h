/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the programs of frame descriptions: see executor.c. */
#ifndef TRACER_UNWIND_SCRIPT_EXECUTOR_H
#define TRACER_UNWIND_SCRIPT_EXECUTOR_H

#include "unwind/script/program.h"

#include <stdbool.h>
#include <stddef.h>

enum script_end {
	SCRIPT_DONE,	   /* also if `visit` has ended the walk */
	SCRIPT_FULL,	   /* there are more frames than `capacity` */
	SCRIPT_UNREADABLE, /* memory that was needed could not be read */
	SCRIPT_ENDLESS	   /* the limit of steps was reached */
};

struct script_run {
	const struct script_program *program;
	const uint64_t *values; /* what registers SCRIPT_VALUES … are set to */
	unsigned value_count;
	/* Reads a number of 1, 2, 4 or 8 bytes, zero-extended, or returns false. */
	bool (*read)(void *context, uint64_t address, unsigned size, uint64_t *number);
	void *context;
	uint64_t thread_pointer;
	uint64_t tid;
	const struct raw_frame *decoded; /* the frame that is decoded; NULL in a walk */
	/*
	 * Called for each frame of a walk; returns false to end it. NULL: the frames are stored in
	 * `frames`.
	 */
	bool (*visit)(void *visitor, const struct raw_frame *frame);
	void *visitor;
	struct raw_frame *frames; /* out */
	size_t capacity;
	size_t frame_count; /* out */
	uint64_t *results;  /* out: those that the program yields, by number; others are left */
	unsigned result_count;
	uint64_t steps_max; /* instructions */
};

/*
 * Runs the program from its first instruction. Frames that were found before the run ended are in
 * `frames`, whatever the result is.
 */
enum script_end script_execute(struct script_run *run);

#endif
