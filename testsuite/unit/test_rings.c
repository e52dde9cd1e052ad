/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rings: which records are held back while a thread is in the middle of one; and the clocks. */
#include "engine/agent/agent_state.h"
#include "engine/agent/clock.h"
#include "engine/agent/rings.h"
#include "engine/agent/rings_abi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { FIRST = 101, SECOND = 102, PLACE = 0x1000, MS = 1000000 };

struct fixture {
	struct rings *rings;
	uint8_t *memory;
};

/* The entry of a thread in its ring. */
static struct ring_thread *entry_of(const struct fixture *fixture, uint64_t fs_base)
{
	struct ring_thread *entries = (struct ring_thread *)(void *)fixture->memory;

	for (size_t i = 0; i < AGENT_THREAD_COUNT; i++)
		if (entries[i].base == fs_base)
			return &entries[i];
	return NULL;
}

static void set_up(struct fixture *fixture)
{
	fixture->memory = mmap(NULL, AGENT_RINGS_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(fixture->memory, MAP_FAILED);
	fixture->rings = rings_over(fixture->memory, PLACE);
	assert_true(rings_bind(fixture->rings, FIRST, 0x7000));
	assert_true(rings_bind(fixture->rings, SECOND, 0x8000));
}

/* The floor of the only thread. */
static uint64_t floor_of(const struct fixture *fixture)
{
	pid_t tid = 0;
	const uint64_t floor = rings_floor(fixture->rings, &tid);

	assert_int_equal(tid, floor == UINT64_MAX ? 0 : SECOND);
	return floor;
}

/* In the middle of a record, like the agent's code; and in the next one after that. */
static void test_floor(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	struct ring_thread *entry = entry_of(&fixture, 0x8000);

	assert_non_null(entry);
	rings_look(fixture.rings, 100, 1 * MS);
	assert_true(floor_of(&fixture) == UINT64_MAX);
	entry->busy = 1;
	rings_look(fixture.rings, 200, 2 * MS);
	assert_int_equal(floor_of(&fixture), 100);
	rings_look(fixture.rings, 300, 3 * MS);
	assert_int_equal(floor_of(&fixture), 100);
	/* The thread has continued, and is in the middle of the next record. */
	entry->head += 40;
	rings_look(fixture.rings, 400, 4 * MS);
	assert_int_equal(floor_of(&fixture), 300);
	rings_look(fixture.rings, 500, 33 * MS);
	assert_int_equal(floor_of(&fixture), 300);
	/* The wait for a thread is bounded. */
	rings_look(fixture.rings, 600, 35 * MS);
	assert_true(floor_of(&fixture) == UINT64_MAX);
	rings_look(fixture.rings, 700, 36 * MS);
	assert_true(floor_of(&fixture) == UINT64_MAX);
	entry->busy = 0;
	rings_look(fixture.rings, 800, 37 * MS);
	entry->busy = 1;
	rings_look(fixture.rings, 900, 38 * MS);
	assert_int_equal(floor_of(&fixture), 800);
	entry->busy = 0;
	rings_look(fixture.rings, 1000, 39 * MS);
	assert_true(floor_of(&fixture) == UINT64_MAX);
	rings_destroy(fixture.rings);
}

enum { THREADS = 16, RECORDS = 20, FIRST_BASE = 0x10000, BASES_APART = 0x1000 };

/* Writes returns of a thread, at times of its own. */
static void write_records(const struct fixture *fixture, unsigned thread)
{
	struct ring_thread *entry = entry_of(fixture, FIRST_BASE + BASES_APART * thread);
	uint64_t time = 1 + thread * 7 % 5;

	assert_non_null(entry);
	unsigned char *ring = fixture->memory + (entry->ring - PLACE);

	for (unsigned i = 0; i < RECORDS; i++) {
		const struct record record = {
			.size = RING_RETURN, .version = RECORD_VERSION, .kind = RECORD_RETURN};
		struct ring_record head = {.slot = (uint16_t)thread, .time = time};

		memcpy(head.head, &record, sizeof head.head);
		memcpy(ring + entry->head, &head, RING_RETURN);
		time += 1 + (thread + i) * 13 % 11;
		entry->head += RING_RETURN;
	}
}

/* Records of many threads, the oldest of all first; none of a thread that has gone. */
static void test_order(void **state)
{
	struct fixture fixture;
	struct ring *ring;
	uint64_t last = 0, time;
	unsigned count = 0;

	(void)state;
	set_up(&fixture);
	rings_unbind(fixture.rings, FIRST);
	rings_unbind(fixture.rings, SECOND);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_true(rings_bind(fixture.rings, (pid_t)i + 1, FIRST_BASE + BASES_APART * i));
		write_records(&fixture, i);
	}
	rings_look(fixture.rings, UINT64_MAX, MS);
	rings_unbind(fixture.rings, 1);
	for (; (ring = rings_oldest(fixture.rings, &time)); count++) {
		struct ring_record head;
		struct record record[2];

		assert_true(time >= last && ring_tid(ring) != 1);
		last = time;
		assert_true(rings_take(fixture.rings, ring, &head, record));
		assert_true(head.time == time && head.slot == ring_tid(ring) - 1);
	}
	assert_int_equal(count, (THREADS - 1) * RECORDS);
	assert_true(time == UINT64_MAX);
	rings_destroy(fixture.rings);
}

/* A clock that advances by 10 units per reading, except for some readings. */
static uint64_t fake_now, fake_readings, fake_late;

static uint64_t fake_clock(void)
{
	fake_now += fake_readings++ == fake_late ? 1000000 : 10;
	return fake_now;
}

/* The tracer may be preempted between its readings of two clocks: such a pair is no moment. */
static void test_one_moment(void **state)
{
	static const struct agent_arch host = {.clock = fake_clock};
	struct agent agent = {.host = &host};

	(void)state;
	fake_now = fake_readings = 0;
	fake_late = 1; /* the second reading of the first pair */
	clocks_begin(&agent);
	assert_int_equal(agent.narrowest, 10);
	assert_true(agent.begun.clock > 1000000);
	fake_readings = 0;
	const uint64_t before = fake_now;
	const struct clock_sample now = agent_now(&agent);

	/*
	 * That pair is dropped; then 10 to the first reading of the next one, and half of what it
	 * took.
	 */
	assert_int_equal(now.clock, before + 10 + 1000000 + 10 + 5);
	/* Usually one pair is enough. */
	fake_readings = 2;
	agent_now(&agent);
	assert_int_equal(fake_readings, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_floor),
					   cmocka_unit_test(test_order),
					   cmocka_unit_test(test_one_moment)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
