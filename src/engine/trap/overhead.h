/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a pair of stops adds to the time between a call's entry and its return: measured at
 * start, then followed, as it changes with where tracer and tracee run (from 6 to 60 µs within
 * one trace on a virtual machine).
 */
#ifndef TRACER_ENGINE_TRAP_OVERHEAD_H
#define TRACER_ENGINE_TRAP_OVERHEAD_H

#include <stdint.h>

enum {
	OVERHEAD_MOST_NS = 45000
}; /* more is taken for the call's own time, unless more was measured */

struct overhead {
	uint64_t start; /* ns, as calibrated; 0: nothing is taken off */
	uint64_t now;	/* ns, as estimated */
};

static inline void overhead_init(struct overhead *overhead, uint64_t calibrated)
{
	*overhead = (struct overhead){calibrated, calibrated};
}

/*
 * Takes the time between the stops of a call that had no stops inside, in ns. The estimate
 * settles where nine in ten of the calls in its range stay below: what is shorter than the
 * noise of stopping shows as nothing rather than as something that was never the call's. What a
 * longer call loses by that is bounded.
 */
void overhead_learn(struct overhead *overhead, uint64_t raw);

/*
 * The call's own time: `raw` without one pair of stops and without `inner`, what stops inside
 * it cost.
 */
uint64_t overhead_take_off(const struct overhead *overhead, uint64_t raw, uint64_t inner);

#endif
