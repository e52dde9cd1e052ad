/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps how long counted calls took, for percentiles and histograms.
 *
 * The agent's code increments a bucket at each return (agent_abi.h). The buckets of a probe are 8
 * arrays of 32 KiB, one of which a thread uses. Nearly all of that is never touched: the times of a
 * function are mostly within some powers of two, which are in two or three pages. The memory is a
 * file that the tracer has mapped, too: 8 MiB for the first 32 probes of a unit, made when the
 * first one gets its jump, and 64 MiB for each 256 more, since to make a file takes a millisecond
 * or two. If it cannot be made, these functions keep their breakpoints, and so their calls are
 * timed there.
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
	PAGE_COUNTS = AGENT_BUCKETS_PAGE / sizeof(uint64_t),
	ARRAY_PAGES = ARRAY_BYTES / AGENT_BUCKETS_PAGE
};

static_assert(ARRAY_PAGES * AGENT_SHARDS <= 64, "AGENT_COUNTER_USED has a bit for each page");
static_assert((65 - AGENT_BUCKETS_BITS) << AGENT_BUCKETS_BITS <= ARRAY_BYTES / 8, "all times fit");
static_assert(AGENT_SHARDS == 1 << AGENT_SHARD_BITS, "as the hash has it");
static_assert(ARRAY_PAGES * PAGE_COUNTS <= RECORD_BUCKETS_MAX, "room in a record");

/* Where the buckets of a probe are: in which file, and as which of its probes. */
struct bucket_place {
	size_t file, index;
};

static struct bucket_place place_of(uint32_t number)
{
	const uint32_t later = number - AGENT_BUCKETS_FEW;

	if (number < AGENT_BUCKETS_FEW)
		return (struct bucket_place){0, number};
	return (struct bucket_place){1 + later / AGENT_BUCKETS_MANY, later % AGENT_BUCKETS_MANY};
}

static int add_file(struct agent_unit *unit, struct thread *thread)
{
	const uint64_t probes = unit->buckets.count ? AGENT_BUCKETS_MANY : AGENT_BUCKETS_FEW;
	struct bucket_file file = {.length = probes * AGENT_BUCKETS_BYTES};
	int error = arena_room_near(thread, unit->base, file.length, &file.address);

	if (!error)
		error = unit_map_file(thread, unit->base + AGENT_SCRATCH, file.address, file.length,
				      &file.memory);
	if (!error)
		vec_push(&unit->buckets, &file);
	return error;
}

int buckets_prepare(struct agent_unit *unit, struct thread *thread, uint32_t number)
{
	const struct bucket_place place = place_of(number);
	struct vec left = VEC_OF(struct record_bucket);
	int error = 0;

	if (!unit->agent->buckets)
		return 0;
	while (!error && unit->buckets.count <= place.file)
		error = add_file(unit, thread);
	if (error)
		return error;
	/* Calls of the probe that had the number before may have returned since it is gone. */
	buckets_collect(unit, number, 1, &left);
	vec_deinit(&left);
	const struct bucket_file *file = vec_at(&unit->buckets, place.file);

	__atomic_store_n(unit_counter(unit, number, AGENT_COUNTER_BUCKETS),
			 file->address + place.index * AGENT_BUCKETS_BYTES, __ATOMIC_RELEASE);
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
	const struct bucket_place place = place_of(number);

	if (place.file >= unit->buckets.count)
		return;
	const struct bucket_file *file = vec_at(&unit->buckets, place.file);
	uint8_t *arrays = file->memory + place.index * AGENT_BUCKETS_BYTES;
	/* The program can write there, too, but there is no page that must not be read. */
	const uint64_t used = __atomic_load_n(unit_counter(unit, number, AGENT_COUNTER_USED),
					      __ATOMIC_ACQUIRE);

	/* A bit for each shard, shifted to the page. */
	const uint64_t shards = UINT64_MAX / ((UINT64_C(1) << ARRAY_PAGES) - 1);

	for (size_t page = 0; page < ARRAY_PAGES; page++) {
		uint64_t sums[PAGE_COUNTS] = {0};

		if (!(used & shards << page))
			continue;
		for (size_t shard = 0; shard < AGENT_SHARDS; shard++) {
			const size_t at = shard * ARRAY_PAGES + page;

			if (used >> at & 1)
				take_page((uint64_t *)(void *)(arrays + at * AGENT_BUCKETS_PAGE),
					  sums);
		}
		report_page(sums, page * PAGE_COUNTS, ns, found);
	}
}
