/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One of N calls (--sample), chosen where a call is caught, in the tracer or in the tracee.
 *
 * Each call is chosen by a random number of its own. Every Nth call would not do: a loop of N
 * different calls would always show the same one. The state of the random numbers belongs to one
 * thread of the tracee, or to the tracer, so nobody waits for anybody, and no two threads go
 * through the same numbers.
 *
 * The numbers are those of a Weyl sequence (a sum of one odd constant), each mixed so that it shows
 * nothing of the one before. That is no secret, but it is fair, and takes two multiplications.
 *
 * Freestanding, like the executor of capture plans (record/capture.h).
 */
#ifndef TRACER_RECORD_SAMPLING_H
#define TRACER_RECORD_SAMPLING_H

#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

enum { SAMPLING_MOST = 1000000000 };

/* Returns what capture_plan.chosen_below is for one of `n` calls; 0 if all are chosen (0, 1). */
static inline uint64_t sampling_limit(uint64_t n)
{
	return n > 1 ? UINT64_MAX / n : 0;
}

/* Returns whether the next call is chosen, and advances *state, which is any number at first. */
static inline bool sampling_chooses(uint64_t *state, uint64_t limit)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	return !limit || hash_mix(*state) < limit;
}

/* Chooses by the id of a call: always the same. */
static inline bool sampling_chooses_id(uint64_t call, uint64_t limit)
{
	return sampling_chooses(&call, limit);
}

#endif
