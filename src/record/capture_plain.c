/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plans as most are: integers, pointers and strings in general registers. The executor needs some
 * hundred instructions to begin with and fifty a value, as it is for anything; in a process where
 * calls are not stopped that is most of what a record costs. What can be known before is in the
 * operations (proto/plan.c), and the room has been seen to.
 *
 * It has to make what the executor makes, byte for byte: unit/test_capture compares the two.
 * Freestanding, as capture.c is.
 */
#include "record/capture_run.h"

/* What bounds a string. */
static inline struct extent extent_of(const struct capture_plan *plan, const struct capture_op *op,
				      const uint64_t *gpr)
{
	if (op->length_from != LENGTH_ARGUMENT)
		return capture_extent_of(UINT64_MAX, true, true);
	const struct capture_location *place = &plan->args[op->length % CAPTURE_ARGS_MAX];
	const uint64_t length = capture_extend(gpr[place->index & 15], place->size,
					       place->is_signed);

	return capture_extent_of(length, place->is_signed, op->zero_ends);
}

/* As many as could be read: those of data that may have zeros in it, or up to a string's NUL. */
static inline size_t read_bytes(const struct memory_source *memory, uint64_t address,
				unsigned char *to, size_t want, bool nul_ends)
{
	struct memory_range range;

	if (nul_ends)
		return memory->read_string(memory->context, address, to, want);
	range.address = address;
	range.buffer = to;
	range.length = want;
	range.done = 0;
	memory->readv(memory->context, &range, 1);
	return range.done;
}

/* The bytes of a string, and what the head of its value says of them. Returns how many. */
static __attribute__((noinline)) size_t put_bytes(const struct capture_plan *plan,
						  const struct capture_op *op, const uint64_t *gpr,
						  const struct memory_source *memory,
						  struct record_value *value)
{
	static const uint64_t zeros;
	unsigned char *bytes = capture_bytes(value);
	const struct extent extent = extent_of(plan, op, gpr);
	const size_t limit = min_size(extent.bytes, plan->string_max);
	/* One byte more tells whether a string goes on behind its limit. */
	const size_t want = limit + (extent.nul_ends && limit < extent.bytes);
	const size_t got = min_size(want,
				    read_bytes(memory, value->word, bytes, want, extent.nul_ends));
	const bool ended = extent.nul_ends && got && !bytes[got - 1];
	const size_t length = ended ? got - 1 : min_size(got, limit);
	uint64_t flags = 0;

	if (!ended && got < want)
		flags = VALUE_FAULT;
	else if (!ended && limit < extent.bytes)
		flags = VALUE_TRUNCATED;
	const uint64_t head = op->head | flags << 8 | (uint64_t)length << 40;

	__builtin_memcpy(value, &head, sizeof head);
	/* Up to a multiple of 8; and behind that, where the next value will be. */
	__builtin_memcpy(bytes + length, &zeros, sizeof zeros);
	return round_up8(length);
}

void capture_plain(const struct capture_plan *plan, const struct capture_op *ops, unsigned count,
		   const uint64_t *gpr, const struct memory_source *memory, struct record *record)
{
	unsigned char *next = (unsigned char *)record + record->size;

	for (unsigned i = 0; i < count; i++) {
		const struct capture_op *op = &ops[i];
		struct record_value *value = (struct record_value *)(void *)next;

		value->word = capture_extend_by(gpr[op->index & 15], op->unused_bits,
						op->is_signed);
		next += sizeof *value;
		if (op->kind == CAPTURE_STRING && value->word)
			next += put_bytes(plan, op, gpr, memory, value);
		else
			__builtin_memcpy(value, &op->head, sizeof op->head);
	}
	record->size = (uint32_t)(next - (unsigned char *)record);
	record->value_count = (uint16_t)count;
}
