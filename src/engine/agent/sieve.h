/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A filter for addresses: a set of 16-byte pieces of memory, modulo the size of the sieve. False
 * positives are possible, false negatives are not. Code has some 250,000 bytes per megabyte that
 * could be branches, and a process waits while they are examined. The sieve rejects nearly all
 * branches whose target is of no interest; the others have to be looked up.
 *
 * It fits into the first-level cache of a processor; 10,000 functions leave most of it empty.
 */
#ifndef TRACER_ENGINE_AGENT_SIEVE_H
#define TRACER_ENGINE_AGENT_SIEVE_H

#include <stdbool.h>
#include <stdint.h>

enum { SIEVE_BITS = 1 << 17, SIEVE_PIECE = 16 };

/* All zero: contains nothing; all ones: contains everything. */
struct sieve {
	uint64_t words[SIEVE_BITS / 64];
};

static inline void sieve_add(struct sieve *sieve, uint64_t address)
{
	uint64_t bit = address / SIEVE_PIECE % SIEVE_BITS;

	sieve->words[bit / 64] |= UINT64_C(1) << bit % 64;
}

static inline bool sieve_has(const struct sieve *sieve, uint64_t address)
{
	uint64_t bit = address / SIEVE_PIECE % SIEVE_BITS;

	return sieve->words[bit / 64] >> bit % 64 & 1;
}

#endif
