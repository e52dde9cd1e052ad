/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the plan executor share: the state of one run, the readers of registers, stack
 * and strings (capture_fetch.c), the making of values (capture.c), printf formats
 * (capture_format.c). Private to them, and as freestanding as they are.
 */
#ifndef TRACER_RECORD_CAPTURE_RUN_H
#define TRACER_RECORD_CAPTURE_RUN_H

#include "record/capture.h"

enum {
	CHUNKS_MAX = 8,	 /* strings whose beginnings are read at once */
	CHUNK_MAX = 512, /* longest beginning */
	STACK_MAX = 512, /* bytes of stack arguments kept */
	STACK_AHEAD = 64 /* read along when a format's arguments follow */
};

struct capture {
	const struct capture_plan *plan;
	const struct capture_frame *frame;
	const struct capture_saved *saved; /* the return half; else NULL */
	uint64_t sp;			   /* at entry */
	struct record *record;
	unsigned char *bytes; /* of the record */
	size_t capacity;      /* those of them that may be used; a multiple of 8 */
	size_t reserve;	      /* those kept back for values still to come */
	size_t room_end;      /* what is captured now is to end there; see put_followed() */
	size_t followed_left; /* of the plan's followed_max */
	uint64_t shared_out;  /* bytes of the result that strings in an object have had so far */

	struct memory_range chunk[CHUNKS_MAX]; /* beginnings of strings */
	unsigned chunk_count;

	int32_t stack_offset; /* from sp: what `stack` holds */
	size_t stack_length;  /* that was asked for */
	size_t stack_done;    /* that was readable */
	unsigned char stack[STACK_MAX];
};

/* What bounds a string; see enum capture_length. */
struct extent {
	uint64_t bytes;
	bool nul_ends;
	bool fault; /* the length could not be read */
	/* bits of the last byte, from the highest on, that are not part of it: not 0 of in_bits */
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

/* A word cut to `size` bytes and extended. */
static inline uint64_t capture_extend(uint64_t word, unsigned size, bool is_signed)
{
	return capture_extend_by(word, capture_unused_bits(size), is_signed);
}

/* What a length that was read means. -1 of 64 bits without a sign is no length either. */
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

/* Bytes that may follow the value being made; and where they go. */
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

/* capture_fetch.c */

void capture_copy(unsigned char *to, const unsigned char *from, size_t length);
/* Little-endian bytes, at most 8 of them, as a word. */
uint64_t capture_load_word(const unsigned char *bytes, unsigned size);

/* The bytes of an object `offset` from sp at entry, or NULL when they cannot be read. */
const unsigned char *capture_stack(struct capture *c, int32_t offset, unsigned size);
/* The raw bits at a place, cut and extended; false, and 0, when they cannot be had. */
bool capture_fetch_location(struct capture *c, const struct capture_location *location,
			    uint64_t *word);
bool capture_fetch(struct capture *c, const struct capture_op *op, uint64_t *word);

/*
 * Reads up to `want` bytes at `address`, no further than the first NUL if that ends it; then *ended
 * is set and the NUL not counted. Returns how many; less than `want` and not ended: unreadable.
 */
size_t capture_load(const struct capture *c, uint64_t address, unsigned char *to, size_t want,
		    bool nul_ends, bool *ended);

/* An integer of up to 8 bytes in memory; false, and 0, when it cannot be had. */
bool capture_load_pointed(const struct capture *c, uint64_t address, unsigned size, bool is_signed,
			  uint64_t *word);

/* Notes a string to be read with others by capture_read_chunks(). */
void capture_want_chunk(struct capture *c, uint64_t address, size_t length);
/*
 * Reads the strings noted since `first` at once, if there are several: one alone is better read
 * right where it belongs. No more than a quarter of the free buffer is lent.
 */
void capture_read_chunks(struct capture *c, unsigned first);

/* capture.c */

/*
 * Begins a value at the end of the record, or returns NULL when not even its header fits: then the
 * record is over.
 */
struct record_value *capture_begin_value(struct capture *c, enum value_kind kind,
					 unsigned argument);
/* Takes the value, with its `length` bytes in place, into the record. */
void capture_end_value(struct capture *c, struct record_value *value);
/* Completes a value with the ten bytes of an x87 number; NULL: they cannot be had. */
void capture_set_long_double(const struct capture *c, struct record_value *value,
			     const unsigned char *bytes);
/* Reads the bytes of a string value, which are at `address`; NULL has none. */
void capture_load_string(struct capture *c, struct record_value *value, uint64_t address,
			 const struct extent *extent);
/* How many bytes of a string must be read to show as much as is shown of it. */
size_t capture_read_max(const struct capture *c, const struct extent *extent);

/*
 * What LENGTH_ARGUMENT, LENGTH_PRODUCT, LENGTH_RESULT and LENGTH_CONSTANT mean; anything else: no
 * bound but a NUL.
 * A buffer of no bytes that would end at a NUL has none when the function is back: a fault.
 */
struct extent capture_extent(struct capture *c, enum capture_length from, uint32_t length,
			     bool zero_ends);
/*
 * Has the result end it (result_ends), or what is left of that, if that comes first. Where nothing
 * has room, nothing has been written, so nothing is read.
 */
void capture_end_at_result(struct capture *c, struct extent *extent);
/* Nothing is there if the result is negative (if_success). */
void capture_end_at_failure(struct capture *c, struct extent *extent);
/* capture_object.c */

/* Makes the values of a CAPTURE_OBJECT or CAPTURE_INLINE; false when the record is over. */
bool capture_put_object(struct capture *c, const struct capture_op *op);
/* Completes a VALUE_OBJECT, of which `word` is the address, with wide characters up to a zero. */
void capture_load_wide(struct capture *c, struct record_value *value, const struct extent *extent);
/* How much of what is at `address` will be read for a CAPTURE_OBJECT, at most and at first. */
size_t capture_object_ahead(struct capture *c, const struct capture_op *op);

/* capture_format.c */

/* How many of the xmm registers hold arguments of a variadic function, by its caller's word. */
uint64_t capture_vectors(const struct capture_plan *plan, const struct capture_frame *frame);

/* Makes the values of a CAPTURE_FORMAT; false when the record is over. */
bool capture_put_format(struct capture *c, const struct capture_op *op);

#endif
