/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a pair of stops adds to the time between a call's entry and return. It is measured at
 * start, and then followed because it changes with the processors that tracer and tracee run on
 * (from 6 to 60 µs within one trace on a virtual machine): see overhead.c.
 */
#ifndef TRACER_ENGINE_CORE_OVERHEAD_H
#define TRACER_ENGINE_CORE_OVERHEAD_H

#include <stdint.h>

/* Ns for which a thread may wait for a processor at a stop: tracer and tracee may share one. */
enum { WAITED_NS = 10000 };

/*
 * Returns ns that a pair of stops has taken, without those that the thread has waited for a
 * processor meanwhile because others had it. On a busy machine these are a multiple of the rest,
 * and a query that waits for a server instead would be shown as nothing if they were taken off.
 * Up to WAITED_NS are part of the stops.
 */
static inline uint64_t overhead_unhindered(uint64_t took, uint64_t waited)
{
	if (waited <= WAITED_NS)
		return took;
	return took > waited ? took - waited : 0;
}

/* The upper bound of the estimate, unless more was measured at start. */
enum { OVERHEAD_MOST_NS = 45000 };

struct overhead {
	uint64_t start; /* ns, as measured at start; 0: nothing is subtracted */
	uint64_t now;	/* ns, present estimate, for a call's own pair of stops */
	/*
	 * ns, what half of the pairs take at most, for the stops inside a call. They add up: an
	 * estimate that is mostly too high would take milliseconds from a call with thousands of
	 * calls inside, and show it as shorter than these.
	 */
	uint64_t middle;
};

/* What was measured at start. */
struct stop_costs {
	uint64_t pair;	    /* ns from resuming a thread until its next stop is known */
	uint64_t processor; /* ns of these in which the thread has a processor */
};

static inline void overhead_init(struct overhead *overhead, uint64_t calibrated)
{
	*overhead = (struct overhead){calibrated, calibrated, calibrated};
}

/*
 * Updates the estimate by `added`, the ns that a pair of stops has added to a call. The estimate
 * settles where nine in ten of the values in its range are below it: a call shorter than the noise
 * of stopping shows as nothing, rather than as time that the call never took. What a longer call
 * loses by that is bounded.
 */
void overhead_learn(struct overhead *overhead, uint64_t added);

/*
 * Returns the call's own ns: `raw` without one pair of stops and without `inner`, the cost of the
 * stops inside the call.
 */
uint64_t overhead_take_off(const struct overhead *overhead, uint64_t raw, uint64_t inner);

#endif
