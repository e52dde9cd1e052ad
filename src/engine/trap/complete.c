/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The breakpoints of a forked child. Its books are copied from its parent's when it is announced;
 * its memory was copied before that, while other threads of the parent ran and the tracer went on
 * planting there. Two things can differ.
 *
 * A breakpoint of the books is not in the memory: it is planted.
 *
 * It is there, but its slot holds something else: it stood there before, as this tracer or one that
 * was killed had planted it, has been taken out of the parent since and put in again, with another
 * slot. The thread that hits it would go on in the middle of another function. The slot is written
 * anew, or, where it is not in the child's memory at all, the breakpoint taken out and planted like
 * those of the first kind.
 *
 * The same holds where a file has been mapped anew over breakpoints.
 *
 * What is put into the child's memory may take the very places that the books have for blocks which
 * are not in it: the same gaps are looked for. So these are forgotten before anything is mapped,
 * and the breakpoints know of no place in them.
 */
#include "engine/trap/breakpoint.h"
#include "engine/trap/trap.h"

#include "base/xalloc.h"
#include "inferior/arena.h"
#include "inferior/gather.h"
#include "inferior/journal.h"
#include "inferior/rescue.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKS = 512 };

struct completing {
	struct space *space;
	pid_t tid;
	struct vec missing; /* struct breakpoint * */
};

/* Takes the missing ones out of `breakpoints`; how many remain. */
static size_t look_for_bytes(struct completing *completing, struct breakpoint **breakpoints,
			     size_t count)
{
	struct space *space = completing->space;
	uint8_t now[LOOKS][sizeof space->arch->breakpoint];
	struct memory_range ranges[LOOKS];
	size_t length = space->arch->breakpoint_length;
	size_t there = 0;

	for (size_t i = 0; i < count; i++)
		ranges[i] = (struct memory_range){
			.address = breakpoints[i]->address, .buffer = now[i], .length = length};
	gather_read(space, ranges, count);
	for (size_t i = 0; i < count; i++)
		if (ranges[i].done < length || memcmp(now[i], space->arch->breakpoint, length) != 0)
			vec_push(&completing->missing, &breakpoints[i]);
		else
			breakpoints[there++] = breakpoints[i];
	return there;
}

/* Makes it one of those that are missing. */
static void take_out(struct completing *completing, struct breakpoint *breakpoint)
{
	struct space *space = completing->space;
	const struct journal_entry *entry = journal_entry(space->journal, breakpoint->journal);

	space_write(space, breakpoint->address, entry->before, space->arch->breakpoint_length);
	vec_push(&completing->missing, &breakpoint);
}

static void mend_slot(struct completing *completing, struct breakpoint *breakpoint,
		      const uint8_t *code, size_t length)
{
	struct space *space = completing->space;
	uint64_t block = arena_block(space->arena, breakpoint->slot);

	if (block && arena_is_mapped(space, completing->tid, block) &&
	    space_write(space, breakpoint->slot, code, length) == 0)
		return;
	take_out(completing, breakpoint);
}

static void look_for_slots(struct completing *completing, struct breakpoint **breakpoints,
			   size_t count)
{
	struct space *space = completing->space;
	uint8_t expected[LOOKS][DISPLACED_CODE_MAX];
	uint8_t now[LOOKS][DISPLACED_CODE_MAX];
	struct memory_range ranges[LOOKS];

	for (size_t i = 0; i < count; i++) {
		const struct breakpoint *breakpoint = breakpoints[i];
		size_t length = 0;

		if (breakpoint->slot && displaced_emit(&breakpoint->displaced, breakpoint->slot,
						       expected[i], &length) != 0)
			length = 0;
		ranges[i] = (struct memory_range){
			.address = breakpoint->slot, .buffer = now[i], .length = length};
	}
	gather_read(space, ranges, count);
	for (size_t i = 0; i < count; i++)
		if (ranges[i].done < ranges[i].length ||
		    memcmp(now[i], expected[i], ranges[i].length) != 0)
			mend_slot(completing, breakpoints[i], expected[i], ranges[i].length);
}

/*
 * Those that are in the memory but have lost their slot, or the handler's note of what belongs
 * there, are taken out and planted again.
 */
static size_t look_for_places(struct completing *completing, struct breakpoint **breakpoints,
			      size_t count)
{
	const struct space *space = completing->space;
	size_t whole = 0;

	for (size_t i = 0; i < count; i++) {
		struct breakpoint *breakpoint = breakpoints[i];
		bool slot_lost = !breakpoint->slot && !breakpoint->step &&
				 breakpoint->displaced.kind == DISPLACED_COPY;

		if (slot_lost || (space->rescue && !breakpoint->rescue))
			take_out(completing, breakpoint);
		else
			breakpoints[whole++] = breakpoint;
	}
	return whole;
}

static void look(struct completing *completing, struct breakpoint **breakpoints, size_t count)
{
	count = look_for_bytes(completing, breakpoints, count);
	count = look_for_places(completing, breakpoints, count);
	look_for_slots(completing, breakpoints, count);
}

/* Blocks that are forgotten may come again, for something else. */
static void forget_places(struct space *space)
{
	size_t cursor = 0;
	void *value;

	while (space->trap && map_next(&space->trap->breakpoints, &cursor, NULL, &value)) {
		struct breakpoint *breakpoint = value;

		if (!arena_block(space->arena, breakpoint->slot))
			breakpoint->slot = 0;
		if (!rescue_holds(space, breakpoint->rescue))
			breakpoint->rescue = 0;
	}
}

void trap_forget_missing(struct space *space)
{
	space_forget_missing(space);
	forget_places(space);
}

static int compare(const void *left, const void *right)
{
	const struct breakpoint *const *a = left, *const *b = right;

	return ((*a)->address > (*b)->address) - ((*a)->address < (*b)->address);
}

/* All of them by their addresses, so that those of a page are looked at together; to be freed. */
static struct breakpoint **in_order(const struct space *space, size_t *count)
{
	const size_t room = space->trap ? space->trap->breakpoints.count : 0;
	struct breakpoint **all = xcalloc(room + 1, sizeof(struct breakpoint *));
	size_t cursor = 0;
	void *value;

	while (*count < room && map_next(&space->trap->breakpoints, &cursor, NULL, &value))
		all[(*count)++] = value;
	qsort(all, *count, sizeof(struct breakpoint *), compare);
	return all;
}

void breakpoints_complete(struct decoder *decoder, struct thread *thread)
{
	struct space *space = thread->process->space;
	struct completing completing = {space, thread->tid, VEC_OF(struct breakpoint *)};
	size_t count = 0;
	struct breakpoint **all = in_order(space, &count);

	for (size_t i = 0; i < count; i += LOOKS)
		look(&completing, all + i, count - i < LOOKS ? count - i : LOOKS);
	free(all);
	if (completing.missing.count) {
		arena_forget_missing(space->arena, &space->memory);
		forget_places(space);
	}
	for (size_t i = 0; i < completing.missing.count; i++)
		breakpoint_plant_again(decoder, thread,
				       *(struct breakpoint **)vec_at(&completing.missing, i));
	vec_deinit(&completing.missing);
}
