/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Breakpoints that the program has written over: it patches itself, generates code where a library
 * was, or another debugger was at work. No event reports that, so the bytes are compared from time
 * to time, all in one batch. The breakpoints are not written again: the bytes there may be
 * anything, and are the program's.
 *
 * The tracer's SIGTRAP handler (recovery/rescue.h) also removes a breakpoint when an untraced task
 * hits it, such as a child with shared memory made with CLONE_UNTRACED. That would happen again,
 * so these breakpoints are not written again either.
 */
#include "engine/trap/overwritten.h"

#include "base/xalloc.h"
#include "engine/trap/breakpoint.h"
#include "tracee/journal.h"
#include "tracee/memory_batch.h"

#include <stdlib.h>
#include <string.h>

/*
 * Returns true if the loss is to be reported. A lost return breakpoint is not: the next stop of
 * the thread finds that the call is over.
 */
static bool is_missed(const struct breakpoint *breakpoint)
{
	return (breakpoint->site || breakpoint->hook) && !breakpoint->lost;
}

/*
 * Returns true if `now` is the original code, restored by the program or by the tracer's SIGTRAP
 * handler.
 */
static bool is_before(const struct space *space, const struct breakpoint *breakpoint,
		      const uint8_t *now)
{
	const struct journal_entry *entry = journal_entry(space->journal, breakpoint->journal);

	return entry && !memcmp(now, entry->before, space->arch->breakpoint_length);
}

static size_t collect(const struct space *space, struct breakpoint **found)
{
	size_t cursor = 0, count = 0;
	void *value;

	while (map_next(&space->trap->breakpoints, &cursor, NULL, &value))
		if (is_missed(value))
			found[count++] = value;
	return count;
}

void trap_check(struct space *space, trap_overwritten *overwritten, void *context)
{
	const struct arch *arch = space->arch;
	size_t length = arch->breakpoint_length;
	size_t room = space->trap ? space->trap->breakpoints.count : 0;

	if (!room)
		return;
	struct breakpoint **found = xcalloc(room, sizeof(struct breakpoint *));
	struct memory_range *ranges = xcalloc(room, sizeof *ranges);
	uint8_t *bytes = xcalloc(room, length);
	size_t count = collect(space, found);

	for (size_t i = 0; i < count; i++)
		ranges[i] = (struct memory_range){found[i]->address, bytes + i * length, length, 0};
	memory_batch_read(space, ranges, count);
	for (size_t i = 0; i < count; i++) {
		if (ranges[i].done < length ||
		    !memcmp(bytes + i * length, arch->breakpoint, length))
			continue;
		found[i]->lost = true;
		overwritten(context, found[i]->site, found[i]->hook,
			    is_before(space, found[i], bytes + i * length));
	}
	free(found);
	free(ranges);
	free(bytes);
}
