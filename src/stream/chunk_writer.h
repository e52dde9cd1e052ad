/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packs and writes chunks in a thread of its own, so that whoever makes them goes on tracing.
 *
 * The thread also sees to it that nothing lies in memory for long: twice a second it takes what was
 * begun, if nobody is busy with that. So the maker of chunks says when it is busy.
 */
#ifndef TRACER_STREAM_CHUNK_WRITER_H
#define TRACER_STREAM_CHUNK_WRITER_H

#include "stream/chunk_file.h"

#include <stdbool.h>

/* How long a chunk that is not full may wait to be written, in ns. */
#define CHUNK_WRITER_PERIOD UINT64_C(500000000)

struct chunk_writer_options {
	struct trace_destination destination;
	int level; /* of zstd; 0: chunks are not packed */
	/*
	 * Called in the thread while the maker is not busy: passes on with chunk_writer_put() what
	 * was begun.
	 */
	void (*cut)(void *context);
	/* Called while the maker waits: true ends the waiting. */
	bool (*is_over)(void *context);
	/* The same while it waits for the end of all: true ends that if nothing is read for 3 s. */
	bool (*has_ended)(void *context);
	void *context;
};

struct chunk_writer;

/*
 * `options` must stay valid. NULL: libzstd does not work. The thread begins with the first work.
 */
struct chunk_writer *chunk_writer_create(const struct chunk_writer_options *options);
/*
 * What was not written is dropped. Returns false if the thread is still waiting for a reader of the
 * file: then nothing is freed, and the options must stay valid until the process ends.
 */
bool chunk_writer_destroy(struct chunk_writer *writer);

/* From now on the maker changes what `cut` passes on; until chunk_writer_rests(). */
void chunk_writer_works(struct chunk_writer *writer);
void chunk_writer_rests(struct chunk_writer *writer);

/*
 * Takes over the contents of `data`, which is empty then, for a chunk. Waits if the thread is far
 * behind. Returns 0, or the -errno of an earlier write that failed, or -EINTR if is_over() ended
 * the waiting.
 */
int chunk_writer_put(struct chunk_writer *writer, const struct chunk_about *about,
		     struct bytes *data);
/* Returns how many bytes the current file has, or will have when all is written, about. */
uint64_t chunk_writer_size(struct chunk_writer *writer);
/* The chunks that follow go into another file, or what is kept in memory is written. As put(). */
int chunk_writer_rotate(struct chunk_writer *writer);
int chunk_writer_dump(struct chunk_writer *writer);
/* Writes all, and an index behind it. Returns as put(). */
int chunk_writer_finish(struct chunk_writer *writer);

#endif
