/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts in log-linear buckets, in pieces of 2^HISTOGRAM_BITS buckets. Each piece but the first is
 * one power of two, and most functions have times in few of these: 2 KiB each.
 */
#include "base/histogram.h"

#include "base/xalloc.h"

#include <stdbool.h>
#include <stdlib.h>

enum { BLOCK = 1 << HISTOGRAM_BITS };

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void histogram_deinit(struct histogram *histogram)
{
	for (size_t i = 0; i < HISTOGRAM_BLOCKS; i++)
		free(histogram->blocks[i]);
	*histogram = (struct histogram){0};
}

static uint64_t *block_of(struct histogram *histogram, size_t number)
{
	if (!histogram->blocks[number])
		histogram->blocks[number] = xcalloc(BLOCK, sizeof(uint64_t));
	return histogram->blocks[number];
}

void histogram_add(struct histogram *histogram, uint64_t value, uint64_t times)
{
	const size_t bucket = histogram_bucket(value, HISTOGRAM_BITS);

	if (!times)
		return;
	uint64_t *count = &block_of(histogram, bucket / BLOCK)[bucket % BLOCK];

	*count = sum(*count, times);
	histogram->total = sum(histogram->total, times);
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
	for (size_t i = 0; i < HISTOGRAM_BLOCKS; i++) {
		uint64_t *counts = from->blocks[i] ? block_of(to, i) : NULL;

		for (size_t k = 0; counts && k < BLOCK; k++)
			counts[k] = sum(counts[k], from->blocks[i][k]);
	}
	to->total = sum(to->total, from->total);
}

/* Returns `thousandths` of `total`, rounded up, at least 1. */
static uint64_t rank_of(uint64_t total, unsigned thousandths)
{
	const uint64_t rest = total % HISTOGRAM_WHOLE * thousandths;
	const uint64_t rank = total / HISTOGRAM_WHOLE * thousandths +
			      (rest + HISTOGRAM_WHOLE - 1) / HISTOGRAM_WHOLE;

	return rank ? rank : 1;
}

uint64_t histogram_quantile(const struct histogram *histogram, unsigned thousandths)
{
	const uint64_t rank = rank_of(histogram->total, thousandths);
	uint64_t value = 0, seen = 0;

	for (size_t i = 0; i < HISTOGRAM_BLOCKS && seen < rank; i++)
		for (size_t k = 0; histogram->blocks[i] && k < BLOCK && seen < rank; k++) {
			if (!histogram->blocks[i][k])
				continue;
			seen = sum(seen, histogram->blocks[i][k]);
			value = histogram_middle(i * BLOCK + k, HISTOGRAM_BITS);
		}
	return value;
}

uint64_t histogram_octave(const struct histogram *histogram, unsigned octave)
{
	const bool is_first = octave < HISTOGRAM_BITS;
	const uint64_t *counts = histogram->blocks[is_first ? 0 : octave - HISTOGRAM_BITS + 1];
	size_t from = is_first && octave ? (size_t)1 << octave : 0;
	const size_t end = is_first ? (size_t)2 << octave : BLOCK;
	uint64_t found = 0;

	for (; counts && from < end; from++)
		found = sum(found, counts[from]);
	return found;
}
