/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the words of a stack in few large reads: see unwind_memory.c.
 */
#ifndef TRACER_UNWIND_UNWIND_MEMORY_H
#define TRACER_UNWIND_UNWIND_MEMORY_H

#include "base/memory.h"

enum { UNWIND_WINDOWS = 4, UNWIND_ENDS = 8 };

/* A range of a process's memory, as it was when it was read. */
struct unwind_window {
	uint64_t start;
	size_t length;
	size_t wanted;	/* how much was asked for: more than `length` if memory ends there */
	uint8_t *bytes; /* owned; NULL: nothing has been read into it yet */
};

struct unwind_memory {
	const struct memory_source *source; /* the caller's */
	struct unwind_window windows[UNWIND_WINDOWS];
	unsigned last, next; /* the window that was used last; the one that is replaced next */
	/* Where reads have ended, as stacks do: nothing is read ahead beyond. 0: unused. */
	uint64_t ends[UNWIND_ENDS];
	unsigned next_end; /* the one that is replaced next */
};

void unwind_memory_init(struct unwind_memory *memory, const struct memory_source *source);
void unwind_memory_deinit(struct unwind_memory *memory);
/* Forgets what has been read, but not where reads have ended: the process has run since. */
void unwind_memory_forget(struct unwind_memory *memory);
/*
 * Reads a little-endian number of `size` (1, 2, 4 or 8) bytes. Returns false if it is unreadable.
 */
bool unwind_memory_read(struct unwind_memory *memory, uint64_t address, unsigned size,
			uint64_t *value);

#endif
