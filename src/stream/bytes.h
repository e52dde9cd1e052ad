/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of a trace file: a buffer that grows, and a reader that never goes past the end.
 * Numbers are LEB128, 7 bits a byte, the low ones first. Signed numbers are folded first, so that
 * small ones of either sign are short: 0, -1, 1, -2 become 0, 1, 2, 3.
 */
#ifndef TRACER_STREAM_BYTES_H
#define TRACER_STREAM_BYTES_H

#include "base/xalloc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 10 }; /* bytes of a number */

struct bytes {
	unsigned char *data; /* owned */
	size_t length, capacity;
};

static inline void bytes_deinit(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){0};
}

/* Returns space for `more` bytes; the caller adds the used number to `length`. */
static inline unsigned char *bytes_reserve(struct bytes *bytes, size_t more)
{
	if (bytes->capacity - bytes->length < more || !bytes->data) {
		bytes->capacity = 2 * bytes->capacity + more + 4096;
		bytes->data = xrealloc(bytes->data, bytes->capacity);
	}
	return bytes->data + bytes->length;
}

static inline void bytes_put(struct bytes *bytes, const void *data, size_t length)
{
	if (length)
		memcpy(bytes_reserve(bytes, length), data, length);
	bytes->length += length;
}

static inline void bytes_put_byte(struct bytes *bytes, unsigned byte)
{
	*bytes_reserve(bytes, 1) = (unsigned char)byte;
	bytes->length++;
}

static inline unsigned char *number_store(unsigned char *at, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		*at++ = (unsigned char)(number | 0x80);
	*at++ = (unsigned char)number;
	return at;
}

static inline void bytes_put_number(struct bytes *bytes, uint64_t number)
{
	unsigned char *at = bytes_reserve(bytes, NUMBER_MAX);

	bytes->length = (size_t)(number_store(at, number) - bytes->data);
}

static inline uint64_t number_fold(int64_t number)
{
	return (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
}

static inline int64_t number_unfold(uint64_t folded)
{
	return (int64_t)(folded >> 1 ^ (folded & 1 ? UINT64_MAX : 0));
}

/* The difference of two numbers, which may wrap around. */
static inline uint64_t number_difference(uint64_t number, uint64_t before)
{
	return number_fold((int64_t)(number - before));
}

/* A length, and so many bytes. */
static inline void bytes_put_block(struct bytes *bytes, const void *data, size_t length)
{
	bytes_put_number(bytes, length);
	bytes_put(bytes, data, length);
}

/* Once something was not there, `failed` is set, and all that is read is 0. */
struct byte_reader {
	const unsigned char *at, *end;
	bool failed;
};

static inline size_t reader_left(const struct byte_reader *reader)
{
	return (size_t)(reader->end - reader->at);
}

/* Returns the next `length` bytes, or NULL if there are less. */
static inline const void *reader_take(struct byte_reader *reader, size_t length)
{
	const unsigned char *taken = reader->at;

	if (reader->failed || reader_left(reader) < length) {
		reader->failed = true;
		return NULL;
	}
	reader->at += length;
	return taken;
}

static inline unsigned reader_byte(struct byte_reader *reader)
{
	if (reader->failed || reader->at == reader->end) {
		reader->failed = true;
		return 0;
	}
	return *reader->at++;
}

static inline uint64_t reader_number(struct byte_reader *reader)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 7 * NUMBER_MAX; shift += 7) {
		const unsigned byte = reader_byte(reader);

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
	reader->failed = true;
	return 0;
}

/* Returns the next number; one above `most` is an error. */
static inline uint64_t reader_number_to(struct byte_reader *reader, uint64_t most)
{
	const uint64_t number = reader_number(reader);

	if (number <= most)
		return number;
	reader->failed = true;
	return 0;
}

/* Returns `before` plus the difference that comes next. */
static inline uint64_t reader_changed(struct byte_reader *reader, uint64_t before)
{
	return before + (uint64_t)number_unfold(reader_number(reader));
}

/* Returns a reader of the block that comes next, which is then behind `reader`. */
static inline struct byte_reader reader_block(struct byte_reader *reader)
{
	const uint64_t length = reader_number(reader);
	const unsigned char *block = reader_take(reader,
						 length < SIZE_MAX ? (size_t)length : SIZE_MAX);

	return (struct byte_reader){block, block ? block + length : NULL, block == NULL};
}

#endif
