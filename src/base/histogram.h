/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts of values in buckets whose width grows with the value, so that the relative error is the
 * same everywhere: a power of two is divided into 2^bits buckets of one width (the principle of
 * HdrHistogram). Values below 2^(bits + 1) have a bucket each. All values of 64 bits have one.
 *
 * A bucket stands for its middle, which differs from each value in it by 1 / 2^(bits + 1) of the
 * value at most: 0.2 % for the 8 bits of a struct histogram.
 */
#ifndef TRACER_BASE_HISTOGRAM_H
#define TRACER_BASE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

/*
 * BITS: of a struct histogram. BLOCKS: how many pieces of 2^BITS buckets it has. OCTAVES: the
 * powers of two that 64 bits have.
 */
enum {
	HISTOGRAM_BITS = 8,
	HISTOGRAM_BLOCKS = 65 - HISTOGRAM_BITS,
	HISTOGRAM_OCTAVES = 64,
	HISTOGRAM_WHOLE = 1000 /* the quantile of all values */
};

/* The number of buckets, if a power of two has 2^bits. */
static inline size_t histogram_buckets(unsigned bits)
{
	return (size_t)(65 - bits) << bits;
}

/* The bucket of a value. */
static inline size_t histogram_bucket(uint64_t value, unsigned bits)
{
	const unsigned top = 63U - (unsigned)__builtin_clzll(value | UINT64_C(1) << bits);
	const unsigned shift = top - bits;

	return ((size_t)shift << bits) + (size_t)(value >> shift);
}

/* The least value of a bucket, below histogram_buckets(bits). */
static inline uint64_t histogram_low(size_t bucket, unsigned bits)
{
	const size_t block = bucket >> bits;
	const uint64_t within = bucket & ((UINT64_C(1) << bits) - 1);

	return block ? (within | UINT64_C(1) << bits) << (block - 1) : within;
}

/* The value in the middle of a bucket. */
static inline uint64_t histogram_middle(size_t bucket, unsigned bits)
{
	const size_t block = bucket >> bits;

	return histogram_low(bucket, bits) + (block > 1 ? UINT64_C(1) << (block - 2) : 0);
}

/* Memory is allocated for the pieces that have counts. Zeros are an empty histogram. */
struct histogram {
	uint64_t total;
	uint64_t *blocks[HISTOGRAM_BLOCKS]; /* each NULL, or 2^HISTOGRAM_BITS counts; owned */
};

void histogram_deinit(struct histogram *histogram);
/* Counts `value` so many times. No count overflows: it stays at its maximum. */
void histogram_add(struct histogram *histogram, uint64_t value, uint64_t times);
/* Adds the counts of `from`. */
void histogram_merge(struct histogram *to, const struct histogram *from);
/*
 * Returns the value that so many thousandths of all values do not exceed: the middle of the bucket
 * that the value of the rank total * thousandths / 1000, rounded up, is in. 0 if there are none.
 */
uint64_t histogram_quantile(const struct histogram *histogram, unsigned thousandths);
/*
 * Returns how many values are in [2^octave, 2^(octave + 1)), for an octave below HISTOGRAM_OCTAVES.
 * 0 is in octave 0.
 */
uint64_t histogram_octave(const struct histogram *histogram, unsigned octave);

#endif
