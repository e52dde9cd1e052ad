/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fast path for the most common plans: integers, pointers and strings in general registers. The
 * general executor needs some hundred instructions to start and fifty for each value; in the agent,
 * where calls do not stop, that is most of the cost of a record. What can be computed in advance is
 * stored in the operations (proto/plan.c), and the caller makes sure that there is room.
 *
 * The result must be the same as the executor's, byte for byte: unit/test_capture compares both.
 * Freestanding like capture.c. Inline, together with the functions that read memory, so that the
 * compiled code has neither indirect calls nor a frame of its own.
 */
#ifndef TRACER_RECORD_CAPTURE_PLAIN_H
#define TRACER_RECORD_CAPTURE_PLAIN_H

#include "record/capture_run.h"

/*
 * Both functions read up to `length` bytes and return how many; read_string() stops behind the NUL.
 */
struct plain_memory {
	size_t (*read)(void *context, uint64_t address, void *buffer, size_t length);
	size_t (*read_string)(void *context, uint64_t address, void *buffer, size_t length);
	void *context;
};

/* What was read of a string. */
struct plain_bytes {
	size_t length;
	uint64_t flags; /* enum value_flags */
};

/*
 * Reads a string up to its NUL or a limit. `one_more`: one byte more is read, which tells whether
 * the string goes on behind the limit.
 */
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

/* Reads data, which may contain NULs. */
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

/* Reads a string whose length is the value of a parameter. */
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
 * Runs `count` operations of a half that the plan marks as plain: integers, pointers and strings in
 * general registers, and string lengths in general registers. `gpr` as in struct capture_frame.
 * Makes the values that capture_entry() or capture_exit() would make. `record` has a header like
 * theirs, and room for all values with the longest strings, each rounded up to 8 bytes, and for 8
 * bytes more.
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
			/*
			 * The padding to a multiple of 8. The rest of these bytes is overwritten by
			 * the next value.
			 */
			__builtin_memcpy(next + got.length, &zeros, sizeof zeros);
			next += round_up8(got.length);
		}
		__builtin_memcpy(value, &head, sizeof head);
	}
	record->size = (uint32_t)(next - (unsigned char *)record);
	record->value_count = (uint16_t)count;
}

#endif
