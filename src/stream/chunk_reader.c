/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace file is read as it was written, one chunk after the other. Nothing in it is believed
 * before its checksum was compared, and nothing is too large for TRACE_CHUNK_MAX.
 */
#include "stream/chunk_reader.h"

#include "base/xalloc.h"
#include "stream/chunk_pack.h"

#include <errno.h>
#include <unistd.h>

enum { HEADER_MAX = 4096 };

struct chunk_reader {
	int fd;
	int error;
	enum trace_ending ending;
	bool has_index;
	uint64_t position;
	struct trace_header file;
	struct trace_chunk chunk;
	struct unpacker *unpacker;
	struct bytes stored, bytes;
};

/* Reads `size` bytes, or less at the end. Returns how many, or -errno. */
static ssize_t read_some(struct chunk_reader *reader, void *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const ssize_t got = read(reader->fd, (char *)data + done, size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	reader->position += done;
	return (ssize_t)done;
}

/* Reads all of it, or sets how the file ended and returns false. */
static bool read_all(struct chunk_reader *reader, void *data, size_t size)
{
	const ssize_t got = read_some(reader, data, size);

	if (got == (ssize_t)size)
		return true;
	reader->error = got < 0 ? (int)got : 0;
	reader->ending = got < 0 ? TRACE_UNREADABLE : TRACE_CUT;
	return false;
}

static int read_header(struct chunk_reader *reader)
{
	char rest[HEADER_MAX];
	const ssize_t got = read_some(reader, &reader->file, sizeof reader->file);

	if (got < 0)
		return (int)got;
	if ((size_t)got < sizeof reader->file ||
	    memcmp(reader->file.magic, TRACE_MAGIC, sizeof reader->file.magic) != 0)
		return -ENOEXEC;
	if (reader->file.version != TRACE_VERSION)
		return -EPROTONOSUPPORT;
	if (reader->file.size < sizeof reader->file ||
	    reader->file.size - sizeof reader->file > sizeof rest)
		return -ENOEXEC;
	const size_t more = reader->file.size - sizeof reader->file;

	return read_some(reader, rest, more) == (ssize_t)more ? 0 : -ENOEXEC;
}

int chunk_reader_open(int fd, struct chunk_reader **reader)
{
	struct chunk_reader *made = xcalloc(1, sizeof *made);

	made->fd = fd;
	const int error = read_header(made);

	if (error) {
		free(made);
		return error;
	}
	made->unpacker = unpacker_create();
	*reader = made;
	return 0;
}

void chunk_reader_close(struct chunk_reader *reader)
{
	if (!reader)
		return;
	unpacker_destroy(reader->unpacker);
	bytes_deinit(&reader->stored);
	bytes_deinit(&reader->bytes);
	free(reader);
}

/* Returns true if what begins here is the end of a whole file. */
static bool is_end(const struct chunk_reader *reader, const void *bytes)
{
	struct trace_end end;

	memcpy(&end, bytes, sizeof end);
	return reader->has_index && !memcmp(end.magic, TRACE_END_MAGIC, sizeof end.magic);
}

/* Reads the header of a chunk. Returns false at the end. */
static bool read_chunk_header(struct chunk_reader *reader)
{
	char *bytes = (char *)&reader->chunk;
	const size_t first = sizeof(struct trace_end);

	if (!read_all(reader, bytes, first))
		return false;
	if (is_end(reader, bytes)) {
		char more;

		reader->ending = read_some(reader, &more, 1) ? TRACE_GOES_BEYOND : TRACE_WHOLE;
		return false;
	}
	if (!read_all(reader, bytes + first, sizeof reader->chunk - first))
		return false;
	if (!chunk_is_possible(&reader->chunk)) {
		reader->ending = TRACE_DAMAGED;
		return false;
	}
	return true;
}

bool chunk_reader_next(struct chunk_reader *reader)
{
	while (reader->ending == TRACE_GOES_ON && read_chunk_header(reader)) {
		struct trace_chunk *chunk = &reader->chunk;

		reader->stored.length = 0;
		if (!read_all(reader, bytes_reserve(&reader->stored, chunk->stored), chunk->stored))
			break;
		if (unpacker_unpack(reader->unpacker, chunk, reader->stored.data, &reader->bytes)) {
			reader->ending = TRACE_DAMAGED;
			break;
		}
		reader->has_index |= chunk->kind == TRACE_INDEX;
		if (chunk->kind == TRACE_DICTIONARY || chunk->kind == TRACE_RECORDS)
			return true;
	}
	return false;
}

const struct trace_chunk *chunk_reader_header(const struct chunk_reader *reader)
{
	return &reader->chunk;
}

struct byte_reader chunk_reader_bytes(const struct chunk_reader *reader)
{
	return (struct byte_reader){reader->bytes.data, reader->bytes.data + reader->bytes.length,
				    false};
}

enum trace_ending chunk_reader_ending(const struct chunk_reader *reader)
{
	return reader->ending;
}

int chunk_reader_error(const struct chunk_reader *reader)
{
	return reader->error;
}

uint64_t chunk_reader_position(const struct chunk_reader *reader)
{
	return reader->position;
}

const struct trace_header *chunk_reader_file(const struct chunk_reader *reader)
{
	return &reader->file;
}
