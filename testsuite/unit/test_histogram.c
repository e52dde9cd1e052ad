/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Log-linear buckets: where values go, how exact they stay, quantiles, merging. */
#include "base/histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Fails if the middle of the value's bucket differs from it by more than 1 / 2^(bits + 1). */
static void check_value(uint64_t value, unsigned bits)
{
	const size_t bucket = histogram_bucket(value, bits);
	const uint64_t middle = histogram_middle(bucket, bits);
	const uint64_t error = middle > value ? middle - value : value - middle;

	assert_true(bucket < histogram_buckets(bits));
	assert_true(error <= value >> (bits + 1));
	assert_true(histogram_low(bucket, bits) <= value);
}

/* With 6 bits, as the agent has, the error is 0.79 %; with the sink's 8 bits 0.2 %: less than 1. */
static void test_error_at_all_edges(void **state)
{
	static const unsigned precisions[] = {6, HISTOGRAM_BITS};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const unsigned bits = precisions[i];

		for (size_t bucket = 0; bucket < histogram_buckets(bits); bucket++) {
			const uint64_t low = histogram_low(bucket, bits);

			assert_int_equal(histogram_bucket(low, bits), bucket);
			check_value(low, bits);
			/* the last value of the bucket before; UINT64_MAX for the first bucket */
			assert_int_equal(histogram_bucket(low - 1, bits),
					 bucket ? bucket - 1 : histogram_buckets(bits) - 1);
			check_value(low - 1, bits);
		}
	}
}

static void test_small_values_are_exact(void **state)
{
	(void)state;
	for (uint64_t value = 0; value < 2 << HISTOGRAM_BITS; value++)
		assert_int_equal(
			histogram_middle(histogram_bucket(value, HISTOGRAM_BITS), HISTOGRAM_BITS),
			value);
}

static void test_empty(void **state)
{
	struct histogram histogram = {0}, other = {0};

	(void)state;
	assert_int_equal(histogram_quantile(&histogram, 500), 0);
	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++)
		assert_int_equal(histogram_octave(&histogram, octave), 0);
	histogram_add(&histogram, 7, 0);
	histogram_merge(&histogram, &other);
	for (size_t i = 0; i < HISTOGRAM_BLOCKS; i++)
		assert_null(histogram.blocks[i]);
	histogram_deinit(&histogram);
}

static void test_one_value(void **state)
{
	static const unsigned quantiles[] = {0, 1, 500, 999, HISTOGRAM_WHOLE};
	static const uint64_t values[] = {0, 1, 511, 512};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct histogram histogram = {0};

		histogram_add(&histogram, values[i], 1);
		for (size_t k = 0; k < 5; k++)
			assert_int_equal(histogram_quantile(&histogram, quantiles[k]),
					 i < 3 ? values[i] : 513);
		histogram_deinit(&histogram);
	}
}

/* 1 to 1000000, each once: the quantile of a rank is the rank. */
static void test_known_quantiles(void **state)
{
	static const unsigned quantiles[] = {1, 10, 500, 900, 950, 990, 999, HISTOGRAM_WHOLE};
	struct histogram histogram = {0};

	(void)state;
	for (uint64_t value = 1; value <= 1000000; value++)
		histogram_add(&histogram, value, 1);
	for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
		const uint64_t exact = quantiles[i] * UINT64_C(1000);
		const uint64_t found = histogram_quantile(&histogram, quantiles[i]);

		assert_int_equal(histogram_bucket(found, HISTOGRAM_BITS),
				 histogram_bucket(exact, HISTOGRAM_BITS));
		assert_true((found > exact ? found - exact : exact - found) * 100 <= exact);
	}
	histogram_deinit(&histogram);
}

/* Ranks are rounded up: of 1000 values the 999th is p99.9, of 1001 the 1000th. */
static void test_ranks(void **state)
{
	struct histogram histogram = {0};

	(void)state;
	histogram_add(&histogram, 10, 998);
	histogram_add(&histogram, 20, 1);
	histogram_add(&histogram, 30, 1);
	assert_int_equal(histogram_quantile(&histogram, 998), 10);
	assert_int_equal(histogram_quantile(&histogram, 999), 20);
	assert_int_equal(histogram_quantile(&histogram, 1000), 30);
	histogram_add(&histogram, 30, 1);
	assert_int_equal(histogram_quantile(&histogram, 999), 30);
	assert_int_equal(histogram_quantile(&histogram, 500), 10);
	histogram_deinit(&histogram);
}

static void test_merging(void **state)
{
	struct histogram all = {0}, halves[2] = {{0}, {0}};
	uint64_t value = 1;

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		value = value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		histogram_add(&all, value >> (i % 64), i);
		histogram_add(&halves[i % 2], value >> (i % 64), i);
	}
	histogram_merge(&halves[0], &halves[1]);
	assert_int_equal(halves[0].total, all.total);
	for (unsigned thousandths = 0; thousandths <= HISTOGRAM_WHOLE; thousandths++)
		assert_int_equal(histogram_quantile(&halves[0], thousandths),
				 histogram_quantile(&all, thousandths));
	histogram_deinit(&all);
	histogram_deinit(&halves[0]);
	histogram_deinit(&halves[1]);
}

static void test_octaves(void **state)
{
	struct histogram histogram = {0};
	uint64_t found = 0;

	(void)state;
	histogram_add(&histogram, 0, 1);
	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		histogram_add(&histogram, UINT64_C(1) << octave, 1);
		histogram_add(&histogram, (UINT64_C(1) << octave) | ((UINT64_C(1) << octave) - 1),
			      octave);
	}
	for (unsigned octave = 0; octave < HISTOGRAM_OCTAVES; octave++) {
		const uint64_t count = histogram_octave(&histogram, octave);

		assert_int_equal(count, octave ? octave + 1 : 2);
		found += count;
	}
	assert_int_equal(found, histogram.total);
	histogram_deinit(&histogram);
}

/* Neither the greatest values nor the greatest counts overflow. */
static void test_maxima(void **state)
{
	struct histogram histogram = {0};

	(void)state;
	histogram_add(&histogram, UINT64_MAX, UINT64_MAX - 1);
	histogram_add(&histogram, UINT64_MAX, 5);
	histogram_add(&histogram, UINT64_C(1) << 63, UINT64_MAX);
	assert_int_equal(histogram.total, UINT64_MAX);
	assert_int_equal(histogram_octave(&histogram, 63), UINT64_MAX);
	assert_true(histogram_quantile(&histogram, 999) >> 63);
	histogram_merge(&histogram, &histogram);
	assert_int_equal(histogram.total, UINT64_MAX);
	histogram_deinit(&histogram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_error_at_all_edges),
		cmocka_unit_test(test_small_values_are_exact),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_one_value),
		cmocka_unit_test(test_known_quantiles),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_merging),
		cmocka_unit_test(test_octaves),
		cmocka_unit_test(test_maxima),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
