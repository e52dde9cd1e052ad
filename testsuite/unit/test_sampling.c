/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random choice of calls: how many, independence of each other. All numbers begin at fixed states.
 */
#include "record/sampling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_limits(void **state)
{
	uint64_t random = 1;

	(void)state;
	assert_int_equal(sampling_limit(0), 0);
	assert_int_equal(sampling_limit(1), 0);
	assert_true(sampling_limit(2) == UINT64_MAX / 2);
	assert_true(sampling_limit(SAMPLING_MOST) > 0);
	for (unsigned i = 0; i < 1000; i++)
		assert_true(sampling_chooses(&random, 0));
}

/* A million calls, 1/100: 10,000 with a standard deviation of 99.5. */
static void check_share(uint64_t first)
{
	const uint64_t limit = sampling_limit(100);
	uint64_t random = first;
	unsigned chosen = 0, in_turns[2] = {0}, in_loop[100] = {0}, twice = 0;
	bool was_chosen = false;

	for (unsigned i = 0; i < 1000000; i++) {
		const bool is_chosen = sampling_chooses(&random, limit);

		chosen += is_chosen;
		in_turns[i % 2] += is_chosen;
		in_loop[i % 100] += is_chosen;
		twice += is_chosen && was_chosen;
		was_chosen = is_chosen;
	}
	assert_in_range(chosen, 9500, 10500);
	assert_in_range(in_turns[0], 4650, 5350);
	assert_in_range(in_turns[1], 4650, 5350);
	for (unsigned i = 0; i < 100; i++)
		assert_in_range(in_loop[i], 40, 170);
	/* One call says nothing of the next one. */
	assert_in_range(twice, 50, 160);
}

static void test_share(void **state)
{
	(void)state;
	for (uint64_t first = 0; first < 20; first++)
		check_share(first);
	check_share(UINT64_MAX);
	check_share(UINT64_C(1) << 63);
}

/*
 * Threads that begin at neighbouring numbers choose different calls: 100 of a million are common.
 */
static void test_streams(void **state)
{
	const uint64_t limit = sampling_limit(100);
	uint64_t one = hash_mix(1000), other = hash_mix(1001);
	unsigned both = 0;

	(void)state;
	for (unsigned i = 0; i < 1000000; i++) {
		const bool of_one = sampling_chooses(&one, limit);

		both += sampling_chooses(&other, limit) && of_one;
	}
	assert_in_range(both, 40, 170);
}

/* Ids of calls are numbers in a row. */
static void test_ids(void **state)
{
	const uint64_t limit = sampling_limit(10);
	unsigned chosen = 0;

	(void)state;
	for (uint64_t call = 1; call <= 100000; call++) {
		const bool is_chosen = sampling_chooses_id(call, limit);

		assert_int_equal(is_chosen, sampling_chooses_id(call, limit));
		chosen += is_chosen;
	}
	assert_in_range(chosen, 9300, 10700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
