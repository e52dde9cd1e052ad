/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An interface for reading a tracee's memory. The code above it (link_map walker, capture plans,
 * displaced instructions) also runs on simulated memory, in unit tests and fuzzers.
 */
#ifndef TRACER_BASE_MEMORY_H
#define TRACER_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One range of a batched read. */
struct memory_range {
	uint64_t address; /* in the tracee */
	void *buffer;	  /* the caller's, at least `length` bytes */
	size_t length;
	size_t done; /* out: number of bytes read, from the beginning; 0 if unreadable */
};

struct memory_source {
	/*
	 * Reads `count` ranges, each as far as it is readable. A range that ends in unreadable
	 * memory is read up to that page. There is no error for the whole: `done` is less than
	 * `length` for a range that was not read completely.
	 */
	void (*readv)(void *context, struct memory_range *ranges, size_t count);
	void *context;
	/*
	 * Reads up to `length` bytes, up to and including the first NUL. Returns how many. NULL if
	 * each read is expensive, so that reading more at once is better.
	 */
	size_t (*read_string)(void *context, uint64_t address, void *buffer, size_t length);
};

/* Reads up to `length` bytes. Returns how many were readable (0 … length). */
size_t memory_read(const struct memory_source *source, uint64_t address, void *buffer,
		   size_t length);

/* Like memory_read(), for many pages: a source may limit what it faults in at once. */
size_t memory_read_pages(const struct memory_source *source, uint64_t address, void *buffer,
			 size_t length);

/* Returns true if all `length` bytes were read. */
bool memory_read_exact(const struct memory_source *source, uint64_t address, void *buffer,
		       size_t length);

/*
 * Reads a little-endian word of `size` (1, 2, 4 or 8) bytes, zero-extended. Returns false if
 * unreadable.
 */
bool memory_read_word(const struct memory_source *source, uint64_t address, unsigned size,
		      uint64_t *word);

/*
 * Reads a string of at most `size` - 1 bytes into `buffer` (`size` ≥ 1) and terminates it. Returns
 * its length; -EFAULT if no byte is readable; -ENAMETOOLONG if there is no NUL within the readable
 * bytes and `size` (`buffer` then has what was read).
 */
long memory_read_string(const struct memory_source *source, uint64_t address, char *buffer,
			size_t size);

#endif
