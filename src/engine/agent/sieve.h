/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which addresses may be of interest: the pieces of memory, modulo the sieve's size, that have one.
 * Code is full of bytes that might be a branch, some 250,000 in a megabyte, and a process waits
 * while they are looked at. This tells nearly all at once that lead nowhere special; what it lets
 * through has to be looked up.
 *
 * It fits into a processor's nearest cache, and 10,000 functions leave most of it empty.
 */
#ifndef TRACER_ENGINE_AGENT_SIEVE_H
#define TRACER_ENGINE_AGENT_SIEVE_H

#include <stdbool.h>
#include <stdint.h>

enum { SIEVE_BITS = 1 << 17, SIEVE_PIECE = 16 };

/* All zero: nothing is of interest; all ones: everything. */
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
