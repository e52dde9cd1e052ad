/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the memory of a tracee, seen through one small interface, so that
 * everything above it (link_map walker, capture plans, displaced instructions)
 * also runs on a simulated memory in unit tests and fuzzers.
 */
#ifndef TRACER_BASE_MEMORY_H
#define TRACER_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One piece of a batched read. */
struct memory_range {
	uint64_t address; /* where in the tracee */
	void *buffer;	  /* caller's, at least `length` bytes */
	size_t length;
	size_t done; /* out: bytes really read, from the start; 0 when unreadable */
};

struct memory_source {
	/*
	 * Reads `count` ranges, each as far as it is readable. A range that ends in
	 * unreadable memory is read up to the page boundary before it. Never fails as
	 * a whole: what could not be read has a `done` short of `length`.
	 */
	void (*readv)(void *context, struct memory_range *ranges, size_t count);
	void *context;
	/*
	 * Reads up to `length` bytes, no further than the first NUL, which is read as well; returns
	 * how many. NULL: a read has its price here, and it is better to ask for more at once.
	 */
	size_t (*read_string)(void *context, uint64_t address, void *buffer, size_t length);
};

/* Reads up to `length` bytes; returns how many were readable (0 … length). */
size_t memory_read(const struct memory_source *source, uint64_t address, void *buffer,
		   size_t length);

/* The same of many pages: a source may have a limit to what it brings in at once. */
size_t memory_read_pages(const struct memory_source *source, uint64_t address, void *buffer,
			 size_t length);

/* True when all `length` bytes were read. */
bool memory_read_exact(const struct memory_source *source, uint64_t address, void *buffer,
		       size_t length);

/* Reads a little-endian word of `size` (1, 2, 4 or 8) bytes, zero-extended. */
bool memory_read_word(const struct memory_source *source, uint64_t address, unsigned size,
		      uint64_t *word);

/*
 * Reads a NUL-terminated string of at most `size` - 1 bytes into `buffer` (`size` ≥ 1) and
 * terminates it. Returns its length, or -EFAULT when not one byte is readable, -ENAMETOOLONG when
 * no NUL was found in time (the buffer then holds what was read).
 */
long memory_read_string(const struct memory_source *source, uint64_t address, char *buffer,
			size_t size);

#endif
