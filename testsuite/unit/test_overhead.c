/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Durations computed from times between stops, with noise as it was measured on real machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/core/overhead.h"

static uint32_t state;

/* Returns a fixed sequence of numbers from 0 to 999. */
static unsigned next_random(void)
{
	state = state * 1664525U + 1013904223U;
	return (state >> 16) % 1000;
}

/* The time that stopping adds: mostly 12 to 17 µs, in a quarter of all calls up to 60. */
static uint64_t noise(void)
{
	unsigned kind = next_random();
	unsigned within = next_random();

	return kind < 750 ? 12000 + within * 5 : 20000 + within * 40;
}

/* Feeds `count` calls of `own` ns. Returns the sum of the durations that are shown for them. */
static uint64_t feed(struct overhead *overhead, unsigned count, uint64_t own)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < count; i++) {
		uint64_t raw = own + noise();

		overhead_learn(overhead, raw);
		sum += overhead_take_off(overhead, raw, 0);
	}
	return sum;
}

static void trivial_calls_do_not_drown_sleeps(void **unused)
{
	struct overhead overhead;
	uint64_t trivial = 0;
	uint64_t sleeps = 0;

	(void)unused;
	state = 1;
	overhead_init(&overhead, 14000);
	for (int i = 0; i < 100; i++) {
		sleeps += feed(&overhead, 1, 1060000);
		trivial += feed(&overhead, 50, 5);
	}
	assert_true(sleeps * 100 >= (sleeps + trivial) * 90);
}

static void wrong_calibration_is_mended(void **unused)
{
	const uint64_t starts[] = {1000, 6000, 30000, 200000};

	(void)unused;
	for (unsigned i = 0; i < sizeof starts / sizeof starts[0]; i++) {
		struct overhead overhead;

		state = 7;
		overhead_init(&overhead, starts[i]);
		feed(&overhead, 20000, 5);
		assert_in_range(overhead.now, 17000, 60000);
		/* From then on trivial calls take nearly no time. */
		assert_true(feed(&overhead, 1000, 5) < 1000 * 3000);
	}
}

static void long_calls_keep_their_time(void **unused)
{
	struct overhead overhead;
	const uint64_t own = 300000;
	unsigned count = 5000;

	(void)unused;
	state = 3;
	overhead_init(&overhead, 14000);
	uint64_t shown = feed(&overhead, count, own) / count;

	assert_in_range(shown, own - OVERHEAD_MOST_NS, own + 60000);
}

static void what_is_taken_off_is_bounded(void **unused)
{
	struct overhead overhead;

	(void)unused;
	overhead_init(&overhead, 10000);
	for (int i = 0; i < 100000; i++)
		overhead_learn(&overhead, 80000);
	assert_int_equal(overhead.now, OVERHEAD_MOST_NS);
	assert_int_equal(overhead_take_off(&overhead, 80000, 0), 80000 - OVERHEAD_MOST_NS);
}

static void inner_stops_are_taken_off(void **unused)
{
	struct overhead overhead;

	(void)unused;
	overhead_init(&overhead, 10000);
	assert_int_equal(overhead_take_off(&overhead, 100000, 60000), 30000);
	assert_int_equal(overhead_take_off(&overhead, 50000, 60000), 0);
}

static void without_calibration_nothing_is_learned(void **unused)
{
	struct overhead overhead;

	(void)unused;
	overhead_init(&overhead, 0);
	overhead_learn(&overhead, 10000);
	assert_int_equal(overhead_take_off(&overhead, 10000, 0), 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trivial_calls_do_not_drown_sleeps),
		cmocka_unit_test(wrong_calibration_is_mended),
		cmocka_unit_test(long_calls_keep_their_time),
		cmocka_unit_test(what_is_taken_off_is_bounded),
		cmocka_unit_test(inner_stops_are_taken_off),
		cmocka_unit_test(without_calibration_nothing_is_learned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
