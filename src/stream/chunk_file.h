/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where packed chunks go: a file or a pipe, several files one after the other, or memory. */
#ifndef TRACER_STREAM_CHUNK_FILE_H
#define TRACER_STREAM_CHUNK_FILE_H

#include "base/vec.h"
#include "stream/chunk_pack.h"

#include <stdbool.h>

struct trace_destination {
	int fd;		  /* the open file at first; stays the caller's */
	const char *path; /* its name; NULL: it has none, and there are no further files */
	unsigned keep;	  /* rotation: how many files are kept, with the current one */
	uint64_t memory;  /* --flight: so many bytes are kept; 0: all is written */
	uint64_t begun;	  /* when the trace began: ns since the Epoch */
};

struct chunk_file;

/* `destination` must stay valid. `packer` stays the caller's; it packs the index. */
struct chunk_file *chunk_file_create(const struct trace_destination *destination,
				     struct packer *packer);
void chunk_file_destroy(struct chunk_file *file);

/* Adds a packed chunk. Returns 0 or -errno; after an error nothing more is written. */
int chunk_file_add(struct chunk_file *file, const struct chunk_about *about,
		   const struct bytes *packed);
/* Returns the bytes of the current file so far. */
uint64_t chunk_file_size(const struct chunk_file *file);
/* Ends the current file with an index. Returns 0 or -errno. */
int chunk_file_end(struct chunk_file *file);
/*
 * Ends the current file and begins another one: it gets the name, and the ended one NAME.1, that
 * one's predecessor NAME.2, and so on. Returns 0 or -errno.
 */
int chunk_file_rotate(struct chunk_file *file);
/*
 * --flight: writes all that is kept in memory to a file: the one named, later NAME.2, NAME.3 and so
 * on. Does nothing if nothing came since the last time. Returns 0 or -errno.
 */
int chunk_file_dump(struct chunk_file *file);

#endif
