/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the chunks of a trace file, from front to back; a pipe will do. */
#ifndef TRACER_STREAM_CHUNK_READER_H
#define TRACER_STREAM_CHUNK_READER_H

#include "stream/bytes.h"
#include "stream/format.h"

#include <stdbool.h>

/* How a file ended. */
enum trace_ending {
	TRACE_GOES_ON,
	TRACE_GOES_BEYOND, /* with its index, and something behind it */
	TRACE_WHOLE,	   /* with its index */
	TRACE_CUT,	   /* in the middle of a chunk, or without an index */
	TRACE_DAMAGED,	   /* by bytes that are no chunk, or not those that were written */
	TRACE_UNREADABLE   /* `error` says why */
};

struct chunk_reader;

/*
 * Begins with the file behind `fd`, which stays the caller's. Returns 0, -ENOEXEC: it is no trace
 * file; -EPROTONOSUPPORT: one of a later version; or another -errno.
 */
int chunk_reader_open(int fd, struct chunk_reader **reader);
void chunk_reader_close(struct chunk_reader *reader);

/*
 * Goes to the next chunk of the dictionary or of records. Returns false at the end of the file: see
 * chunk_reader_ending(). What the chunk holds is valid until the next call.
 */
bool chunk_reader_next(struct chunk_reader *reader);
const struct trace_chunk *chunk_reader_header(const struct chunk_reader *reader);
struct byte_reader chunk_reader_bytes(const struct chunk_reader *reader);

enum trace_ending chunk_reader_ending(const struct chunk_reader *reader);
int chunk_reader_error(const struct chunk_reader *reader);
/* How many bytes of the file have been read. */
uint64_t chunk_reader_position(const struct chunk_reader *reader);
const struct trace_header *chunk_reader_file(const struct chunk_reader *reader);

#endif
