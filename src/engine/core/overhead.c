/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Estimates the overhead of a pair of stops, which is subtracted from the durations of calls. */
#include "engine/core/overhead.h"

enum { STEP_NS = 32 };

void overhead_learn(struct overhead *overhead, uint64_t raw)
{
	uint64_t most = 3 * overhead->start > OVERHEAD_MOST_NS ? 3 * overhead->start
							       : OVERHEAD_MOST_NS;

	if (!overhead->start || raw > 2 * most)
		return;
	/* Nine steps up for each step down: stable when one call in ten is above. */
	if (raw > overhead->now)
		overhead->now += 9 * STEP_NS;
	else if (overhead->now > STEP_NS)
		overhead->now -= STEP_NS;
	if (overhead->now > most)
		overhead->now = most;
	if (raw > overhead->middle)
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
