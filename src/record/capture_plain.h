/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plans as most are: integers, pointers and strings in general registers. The executor needs some
 * hundred instructions to begin with and fifty a value, as it is for anything; in a process where
 * calls are not stopped that is most of what a record costs. What can be known before is in the
 * operations (proto/plan.c), and the room has been seen to.
 *
 * It has to make what the executor makes, byte for byte: unit/test_capture compares the two.
 * Freestanding, as capture.c is; and inline, with the functions that read memory: what it is then
 * made of has neither calls by pointers nor a frame of its own.
 */
#ifndef TRACER_RECORD_CAPTURE_PLAIN_H
#define TRACER_RECORD_CAPTURE_PLAIN_H

#include "record/capture_run.h"

/* Both read up to `length` bytes and return how many; a string no further than its NUL. */
struct plain_memory {
	size_t (*read)(void *context, uint64_t address, void *buffer, size_t length);
	size_t (*read_string)(void *context, uint64_t address, void *buffer, size_t length);
	void *context;
};

/* Bytes of a string that were wanted and got, and what of it that makes. */
struct plain_bytes {
	size_t length;
	uint64_t flags; /* enum value_flags */
};

/* Of a string up to its NUL, or to a limit: one byte more tells whether it goes on behind that. */
static inline __attribute__((always_inline)) struct plain_bytes plain_read_text(
	const struct plain_memory *memory, uint64_t address, unsigned char *to, size_t limit,
	bool one_more)
{
	const size_t want = limit + one_more;
	const size_t got = memory->read_string(memory->context, address, to, want);

	if (got && !to[got - 1])
		return (struct plain_bytes){got - 1, 0};
	if (got < want)
		return (struct plain_bytes){min_size(got, limit), VALUE_FAULT};
	return (struct plain_bytes){limit, one_more ? VALUE_TRUNCATED : 0};
}

/* Of data, which may have zeros in it. */
static inline __attribute__((always_inline)) struct plain_bytes plain_read_data(
	const struct plain_memory *memory, uint64_t address, unsigned char *to, uint64_t length,
	size_t limit)
{
	const size_t want = min_size(length, limit);
	const size_t got = memory->read(memory->context, address, to, want);

	if (got < want)
		return (struct plain_bytes){got, VALUE_FAULT};
	return (struct plain_bytes){got, length > limit ? VALUE_TRUNCATED : 0};
}

/* One whose length is that of a parameter. */
static inline __attribute__((always_inline)) struct plain_bytes plain_read_counted(
	const struct capture_plan *plan, const struct capture_op *op, const uint64_t *gpr,
	const struct plain_memory *memory, uint64_t address, unsigned char *to)
{
	const struct capture_location *place = &plan->args[op->length % CAPTURE_ARGS_MAX];
	const uint64_t length = capture_extend(gpr[place->index & 15], place->size,
					       place->is_signed);
	const struct extent extent = capture_extent_of(length, place->is_signed, op->zero_ends);

	if (!extent.nul_ends)
		return plain_read_data(memory, address, to, extent.bytes, plan->string_max);
	return plain_read_text(memory, address, to, min_size(extent.bytes, plan->string_max),
			       plan->string_max < extent.bytes);
}

/*
 * Runs `count` operations that are plain, those of a half of which the plan says so: integers,
 * pointers and strings in general registers, a string's length, if it has one, too. `gpr` as in
 * struct capture_frame. Makes what capture_entry() and capture_exit() make, in a `record` that
 * begins like one of theirs and has room for all values with the longest strings, each rounded up
 * to 8 bytes, and for 8 bytes more.
 */
static inline __attribute__((always_inline)) void capture_plain(const struct capture_plan *plan,
								const struct capture_op *ops,
								unsigned count, const uint64_t *gpr,
								const struct plain_memory *memory,
								struct record *record)
{
	static const uint64_t zeros;
	unsigned char *next = (unsigned char *)record + record->size;

	for (const struct capture_op *op = ops; op < ops + count; op++) {
		struct record_value *value = (struct record_value *)(void *)next;
		const uint64_t word = capture_extend_by(gpr[op->index & 15], op->unused_bits,
							op->is_signed);
		uint64_t head = op->head;

		value->word = word;
		next += sizeof *value;
		if (op->kind == CAPTURE_STRING && word) {
			const struct plain_bytes got =
				op->length_from == LENGTH_ARGUMENT
					? plain_read_counted(plan, op, gpr, memory, word, next)
					: plain_read_text(memory, word, next, plan->string_max,
							  true);

			head |= got.flags << 8 | (uint64_t)got.length << 40;
			/* Up to a multiple of 8; and behind that, where the next value will be. */
			__builtin_memcpy(next + got.length, &zeros, sizeof zeros);
			next += round_up8(got.length);
		}
		__builtin_memcpy(value, &head, sizeof head);
	}
	record->size = (uint32_t)(next - (unsigned char *)record);
	record->value_count = (uint16_t)count;
}

#endif
