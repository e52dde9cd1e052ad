/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts, times and their distribution for a row of the table of -c. */
#include "sink/tables/tally.h"

#include "base/xalloc.h"

#include <stdlib.h>

void tally_deinit(struct tally *tally)
{
	if (tally->times)
		histogram_deinit(tally->times);
	free(tally->times);
	*tally = (struct tally){0};
}

static struct histogram *times_of(struct tally *tally)
{
	if (!tally->times)
		tally->times = xcalloc(1, sizeof *tally->times);
	return tally->times;
}

void tally_add(struct tally *sum, const struct tally *tally)
{
	if (tally->timed && (!sum->timed || tally->shortest < sum->shortest))
		sum->shortest = tally->shortest;
	if (tally->longest > sum->longest)
		sum->longest = tally->longest;
	if (tally->first && (!sum->first || tally->first < sum->first))
		sum->first = tally->first;
	if (tally->last > sum->last)
		sum->last = tally->last;
	if (tally->times)
		histogram_merge(times_of(sum), tally->times);
	sum->calls += tally->calls;
	sum->time += tally->time;
	sum->timed += tally->timed;
	sum->sum += tally->sum;
	sum->sums_durations |= tally->sums_durations;
}

/* Calls of several threads need not come in the order of their times. */
void tally_call(struct tally *tally, uint64_t time)
{
	tally->calls++;
	if (!tally->first || time < tally->first)
		tally->first = time;
	if (time > tally->last)
		tally->last = time;
}

void tally_time(struct tally *tally, uint64_t duration)
{
	tally->time += duration;
	if (!tally->timed || duration < tally->shortest)
		tally->shortest = duration;
	if (duration > tally->longest)
		tally->longest = duration;
	tally->timed++;
}

void tally_bucket(struct tally *tally, uint64_t duration, uint64_t times)
{
	histogram_add(times_of(tally), duration, times);
}

uint64_t tally_quantile(const struct tally *tally, unsigned thousandths)
{
	const uint64_t found = tally->times ? histogram_quantile(tally->times, thousandths) : 0;

	if (!tally->times || tally->timed != tally->times->total)
		return found;
	if (found < tally->shortest)
		return tally->shortest;
	return found > tally->longest ? tally->longest : found;
}
