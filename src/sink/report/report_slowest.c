/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls that the report lists one by one.
 *
 * A trace may have any number of calls, a page only some thousands. Those of interest are the
 * slowest: of all, of a row of a table, and of a cell of the heat map, so that there is something
 * to look at behind each number. A call that is in several of these lists exists once.
 */
#include "sink/report/report_slowest.h"

#include "base/xalloc.h"

#include <stdlib.h>

enum { ROOM_FIRST = 4 };

void report_call_release(struct report_call *call)
{
	if (!call || --call->users)
		return;
	free(call->arguments);
	free(call->result);
	free(call->statement);
	free(call->caller);
	free(call);
}

bool report_slowest_wants(const struct report_slowest *slowest, unsigned most, uint64_t duration)
{
	return slowest->count < most || duration > slowest->calls[0]->duration;
}

/* Puts a call where one that is not longer is free: at `place` or below it. */
static void sink_down(struct report_slowest *slowest, unsigned place, struct report_call *call)
{
	for (;;) {
		unsigned child = 2 * place + 1;

		if (child + 1 < slowest->count &&
		    slowest->calls[child + 1]->duration < slowest->calls[child]->duration)
			child++;
		if (child >= slowest->count || slowest->calls[child]->duration >= call->duration)
			break;
		slowest->calls[place] = slowest->calls[child];
		place = child;
	}
	slowest->calls[place] = call;
}

static void rise(struct report_slowest *slowest, unsigned place, struct report_call *call)
{
	while (place && slowest->calls[(place - 1) / 2]->duration > call->duration) {
		slowest->calls[place] = slowest->calls[(place - 1) / 2];
		place = (place - 1) / 2;
	}
	slowest->calls[place] = call;
}

void report_slowest_add(struct report_slowest *slowest, unsigned most, struct report_call *call)
{
	call->users++;
	if (slowest->count == most) {
		report_call_release(slowest->calls[0]);
		sink_down(slowest, 0, call);
		return;
	}
	/* The room is a power of two, and full when the count is one. */
	if (slowest->count == 0 ||
	    (slowest->count >= ROOM_FIRST && !(slowest->count & (slowest->count - 1))))
		slowest->calls = xreallocarray(slowest->calls,
					       slowest->count ? slowest->count * 2 : ROOM_FIRST,
					       sizeof(void *));
	rise(slowest, slowest->count++, call);
}

void report_slowest_merge(struct report_slowest *to, unsigned most, struct report_slowest *from)
{
	for (unsigned i = 0; i < from->count; i++)
		if (report_slowest_wants(to, most, from->calls[i]->duration))
			report_slowest_add(to, most, from->calls[i]);
	report_slowest_deinit(from);
}

void report_slowest_deinit(struct report_slowest *slowest)
{
	for (unsigned i = 0; i < slowest->count; i++)
		report_call_release(slowest->calls[i]);
	free(slowest->calls);
	*slowest = (struct report_slowest){0};
}
