/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the executor share: the state of one run, reading registers, stack and strings
 * (capture_fetch.c), making values (capture.c), objects (capture_object.c), printf formats
 * (capture_format.c). Private to these files, and freestanding.
 */
#ifndef TRACER_RECORD_CAPTURE_RUN_H
#define TRACER_RECORD_CAPTURE_RUN_H

#include "record/capture.h"

enum {
	CHUNKS_MAX = 8,	 /* strings whose beginnings are read in one batch */
	CHUNK_MAX = 512, /* longest beginning */
	STACK_MAX = 512, /* bytes of stack arguments that are cached */
	STACK_AHEAD = 64 /* also read if variable arguments follow */
};

struct capture {
	const struct capture_plan *plan;
	const struct capture_frame *frame;
	const struct capture_saved *saved; /* NULL in the entry half */
	uint64_t sp;			   /* at entry */
	struct record *record;
	unsigned char *bytes; /* of the record */
	size_t capacity;      /* usable bytes; a multiple of 8 */
	size_t reserve;	      /* bytes reserved for values still to come */
	size_t room_end;      /* the present value must end there; see put_followed() */
	size_t followed_left; /* what is left of the plan's followed_max */
	/* Bytes of the return value that strings in an object have used so far. */
	uint64_t shared_out;

	struct memory_range chunk[CHUNKS_MAX]; /* beginnings of strings, read in advance */
	unsigned chunk_count;

	int32_t stack_offset; /* where the bytes in `stack` begin, from sp */
	size_t stack_length;  /* bytes requested */
	size_t stack_done;    /* bytes that were readable */
	unsigned char stack[STACK_MAX];
};

/* The length of a string or array; see enum capture_length. */
struct extent {
	uint64_t bytes;
	bool nul_ends;
	bool fault; /* the length could not be read */
	/* in_bits: the number of high bits of the last byte that do not belong to it. */
	uint8_t spare_bits;
};

static inline size_t min_size(uint64_t a, uint64_t b)
{
	return (size_t)(a < b ? a : b);
}

static inline size_t round_up8(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static inline uint64_t capture_extend_by(uint64_t word, unsigned unused_bits, bool is_signed)
{
	word <<= unused_bits;
	return is_signed ? (uint64_t)((int64_t)word >> unused_bits) : word >> unused_bits;
}

/* Cuts a word to `size` bytes and extends it. */
static inline uint64_t capture_extend(uint64_t word, unsigned size, bool is_signed)
{
	return capture_extend_by(word, capture_unused_bits(size), is_signed);
}

/* Converts a length to an extent. Negative or all ones means that the length is not known. */
static inline struct extent capture_extent_of(uint64_t length, bool is_signed, bool zero_ends)
{
	struct extent extent;
	bool none = (is_signed && (int64_t)length < 0) || length == UINT64_MAX;

	extent.bytes = none ? UINT64_MAX : length;
	extent.nul_ends = none || zero_ends;
	extent.fault = false;
	extent.spare_bits = 0;
	return extent;
}

/* Returns the number of bytes that may follow the header of the present value. */
static inline size_t capture_room(const struct capture *c)
{
	const size_t taken = c->record->size + sizeof(struct record_value) + c->reserve;
	const size_t end = min_size(c->capacity, c->room_end);

	return taken < end ? end - taken : 0;
}

static inline unsigned char *capture_bytes(struct record_value *value)
{
	return (unsigned char *)(value + 1);
}

/*
 * Begins a value at the end of the record. Returns NULL if its header does not fit: the record
 * ends.
 */
struct record_value *capture_begin_value(struct capture *c, enum value_kind kind,
					 unsigned argument);
/* Appends the value, with its `length` bytes in place, to the record. */
void capture_end_value(struct capture *c, struct record_value *value);
/* Completes a value with the ten bytes of an x87 number. `bytes` NULL: unreadable. */
void capture_set_long_double(const struct capture *c, struct record_value *value,
			     const unsigned char *bytes);
/* Completes a string value with its bytes at `address`; none for a NULL pointer. */
void capture_load_string(struct capture *c, struct record_value *value, uint64_t address,
			 const struct extent *extent);
/* Returns how many bytes of a string have to be read to show as much of it as is shown. */
size_t capture_read_max(const struct capture *c, const struct extent *extent);

/*
 * Returns the extent for LENGTH_ARGUMENT, LENGTH_PRODUCT, LENGTH_RESULT or LENGTH_CONSTANT; for any
 * other kind, only a NUL ends it. In the return half, an empty buffer that a NUL should end gets
 * `fault`: the function had no room to write the NUL.
 */
struct extent capture_extent(struct capture *c, enum capture_length from, uint32_t length,
			     bool zero_ends);
/*
 * result_ends: cuts the extent to what is left of the return value. An empty buffer gets `fault`:
 * nothing was written to it, so nothing is read.
 */
void capture_end_at_result(struct capture *c, struct extent *extent);
/* if_success: empties the extent if the return value is negative. */
void capture_end_at_failure(struct capture *c, struct extent *extent);

#endif
