/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Breakpoints that the program has written over: it patches itself, generates code where a library
 * was, or another debugger was at work. Nobody tells us, so from time to time the bytes are looked
 * at, all in one batch. They are not put back: what stands there now may be anything, and is the
 * program's.
 *
 * Our own handler (inferior/rescue.h) takes breakpoints out, too, when somebody hits one whom
 * nobody traces: a child that shares the memory and was made with CLONE_UNTRACED. It would come
 * again, so neither is put back.
 */
#include "engine/trap/breakpoint.h"
#include "engine/trap/trap.h"

#include "base/xalloc.h"
#include "inferior/gather.h"
#include "inferior/journal.h"

#include <stdlib.h>
#include <string.h>

/*
 * Whether anybody would miss it; a return that is not seen is found by the next stop of its thread.
 */
static bool is_missed(const struct breakpoint *breakpoint)
{
	return (breakpoint->site || breakpoint->hook) && !breakpoint->lost;
}

/*
 * Whether `now` is what stood there before us: by the program's hand, or by that of our own
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
	gather_read(space, ranges, count);
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
