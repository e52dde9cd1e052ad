/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps how long counted calls took, for percentiles and histograms.
 *
 * The agent's code increments a bucket at each return (agent_abi.h). The buckets of a probe are 8
 * arrays of 32 KiB, one of which a thread uses. Nearly all of that is never touched: the times of a
 * function are mostly within some powers of two, which are in two or three pages. The memory is a
 * file that the tracer has mapped, too, made for 32 probes at a time when they get their jumps. If
 * it cannot be made, these functions keep their breakpoints, and so their calls are timed there.
 *
 * To read a page that has no counts would make it take memory. So the agent notes which pages have
 * any, and the others are not looked at. Counts are exchanged for zeros, while threads go on.
 *
 * A bucket is in units of the clock, and is at most 1/64 as wide as its values are large; its calls
 * are reported with the time in its middle, in ns. With what the sink's buckets add, that is within
 * 1 % of the true time.
 */
#include "engine/agent/buckets.h"

#include "base/histogram.h"
#include "engine/agent/unit.h"
#include "tracee/arena_map.h"

#include <assert.h>

enum {
	ARRAY_BYTES = 1 << AGENT_BUCKETS_SHIFT,
	PROBE_BYTES = ARRAY_BYTES * AGENT_SHARDS,
	PAGE_COUNTS = AGENT_BUCKETS_PAGE / sizeof(uint64_t),
	ARRAY_PAGES = ARRAY_BYTES / AGENT_BUCKETS_PAGE
};

static_assert(PROBE_BYTES * AGENT_BUCKETS_PROBES == AGENT_BUCKETS_BYTES, "room of a file");
static_assert(ARRAY_PAGES * AGENT_SHARDS <= 64, "AGENT_COUNTER_USED has a bit for each page");
static_assert((65 - AGENT_BUCKETS_BITS) << AGENT_BUCKETS_BITS <= ARRAY_BYTES / 8, "all times fit");
static_assert(AGENT_SHARDS == 1 << AGENT_SHARD_BITS, "as the hash has it");
static_assert(ARRAY_PAGES * PAGE_COUNTS <= RECORD_BUCKETS_MAX, "room in a record");

static int add_file(struct agent_unit *unit, struct thread *thread)
{
	struct bucket_file file;
	int error = arena_room_near(thread, unit->base, AGENT_BUCKETS_BYTES, &file.address);

	if (!error)
		error = unit_map_file(thread, unit->base + AGENT_SCRATCH, file.address,
				      AGENT_BUCKETS_BYTES, &file.memory);
	if (!error)
		vec_push(&unit->buckets, &file);
	return error;
}

int buckets_prepare(struct agent_unit *unit, struct thread *thread, uint32_t number)
{
	const size_t index = number / AGENT_BUCKETS_PROBES;
	const uint64_t offset = (uint64_t)(number % AGENT_BUCKETS_PROBES) * PROBE_BYTES;
	struct vec left = VEC_OF(struct record_bucket);
	int error = 0;

	if (!unit->agent->buckets)
		return 0;
	while (!error && unit->buckets.count <= index)
		error = add_file(unit, thread);
	if (error)
		return error;
	/* Calls of the probe that had the number before may have returned since it is gone. */
	buckets_collect(unit, number, 1, &left);
	vec_deinit(&left);
	const struct bucket_file *file = vec_at(&unit->buckets, index);

	__atomic_store_n(unit_counter(unit, number, AGENT_COUNTER_BUCKETS), file->address + offset,
			 __ATOMIC_RELEASE);
	return 0;
}

/* The counts of one page, from bucket `first` on; they are added to what other shards had there. */
static void take_page(uint64_t *counts, uint64_t sums[PAGE_COUNTS])
{
	for (size_t i = 0; i < PAGE_COUNTS; i++)
		if (__atomic_load_n(&counts[i], __ATOMIC_RELAXED))
			sums[i] += __atomic_exchange_n(&counts[i], 0, __ATOMIC_RELAXED);
}

static void report_page(const uint64_t sums[PAGE_COUNTS], size_t first, double ns,
			struct vec *found)
{
	for (size_t i = 0; i < PAGE_COUNTS && first + i < histogram_buckets(AGENT_BUCKETS_BITS);
	     i++) {
		const double middle = (double)histogram_middle(first + i, AGENT_BUCKETS_BITS);
		const double time = middle * ns + 0.5;
		const struct record_bucket bucket = {
			.duration = time < (double)INT64_MAX ? (uint64_t)time : INT64_MAX,
			.calls = sums[i]};

		if (sums[i])
			vec_push(found, &bucket);
	}
}

void buckets_collect(const struct agent_unit *unit, uint32_t number, double ns, struct vec *found)
{
	const size_t index = number / AGENT_BUCKETS_PROBES;

	if (index >= unit->buckets.count)
		return;
	const struct bucket_file *file = vec_at(&unit->buckets, index);
	uint8_t *arrays = file->memory + (size_t)(number % AGENT_BUCKETS_PROBES) * PROBE_BYTES;
	/* The program can write there, too, but there is no page that must not be read. */
	const uint64_t used = __atomic_load_n(unit_counter(unit, number, AGENT_COUNTER_USED),
					      __ATOMIC_ACQUIRE);

	for (size_t page = 0; page < ARRAY_PAGES; page++) {
		uint64_t sums[PAGE_COUNTS] = {0};

		for (size_t shard = 0; shard < AGENT_SHARDS; shard++) {
			const size_t at = shard * ARRAY_PAGES + page;

			if (used >> at & 1)
				take_page((uint64_t *)(void *)(arrays + at * AGENT_BUCKETS_PAGE),
					  sums);
		}
		report_page(sums, page * PAGE_COUNTS, ns, found);
	}
}
