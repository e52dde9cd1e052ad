/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates the overhead of a pair of stops, which is subtracted from the durations of calls.
 *
 * What a pair has added to a call is known if the call neither waited nor was preempted, which the
 * kernel's count of the thread's turns tells: it then had a processor all the time that it took,
 * and a small part of the stops'. The rest of the time between the stops is theirs. Some calls are
 * looked at so (call_tracker.c). Where the kernel does not count, the shortest calls are taken for
 * nothing but stops, and a program that makes no others loses up to OVERHEAD_MOST_NS of each.
 */
#include "engine/core/overhead.h"

enum { STEP_NS = 128 };

void overhead_learn(struct overhead *overhead, uint64_t added)
{
	uint64_t most = 3 * overhead->start > OVERHEAD_MOST_NS ? 3 * overhead->start
							       : OVERHEAD_MOST_NS;

	if (!overhead->start || added > 2 * most)
		return;
	/* Nine steps up for each step down: stable when one call in ten is above. */
	if (added > overhead->now)
		overhead->now += 9 * STEP_NS;
	else if (overhead->now > STEP_NS)
		overhead->now -= STEP_NS;
	if (overhead->now > most)
		overhead->now = most;
	if (added > overhead->middle)
		overhead->middle += STEP_NS;
	else if (overhead->middle > STEP_NS)
		overhead->middle -= STEP_NS;
	if (overhead->middle > overhead->now)
		overhead->middle = overhead->now;
}

uint64_t overhead_take_off(const struct overhead *overhead, uint64_t raw, uint64_t inner)
{
	uint64_t cost = inner + overhead->now;

	return raw > cost ? raw - cost : 0;
}
