/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repairs the breakpoints of a forked child. The tracer copies its tables (breakpoints, arena,
 * journal) from the parent's when the child is announced. The kernel copied the memory before
 * that, while other threads of the parent ran and the tracer went on planting there. So tables and
 * memory can differ in two ways.
 *
 * A breakpoint in the tables is not in the memory: it is planted.
 *
 * A breakpoint is in the memory, but its XOL slot there holds something else. It was planted
 * earlier, by this tracer or one that was killed, was removed from the parent since, and was
 * planted again with another slot. A thread that hits it would continue in the middle of another
 * function. The slot is rewritten; if the child's memory does not contain the slot, the breakpoint
 * is removed and planted again.
 *
 * The same steps repair a file that was mapped again over breakpoints.
 *
 * New memory in the child may be mapped at the addresses of arena blocks that the tables contain
 * and the child does not, since the same gaps are searched. So these blocks, and all references to
 * them in breakpoints, are forgotten before anything is mapped.
 */
#include "engine/trap/fork_child.h"

#include "base/xalloc.h"
#include "engine/trap/breakpoint.h"
#include "recovery/rescue.h"
#include "tracee/arena.h"
#include "tracee/arena_map.h"
#include "tracee/journal.h"
#include "tracee/memory_batch.h"
#include "tracee/space.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKS = 512 };

struct completing {
	struct space *space;
	pid_t tid;
	struct vec missing; /* struct breakpoint * */
};

/* Moves the breakpoints that are not in memory to `missing`; returns how many remain. */
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
	memory_batch_read(space, ranges, count);
	for (size_t i = 0; i < count; i++)
		if (ranges[i].done < length || memcmp(now[i], space->arch->breakpoint, length) != 0)
			vec_push(&completing->missing, &breakpoints[i]);
		else
			breakpoints[there++] = breakpoints[i];
	return there;
}

/* Removes a breakpoint from memory and adds it to `missing`. */
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
	uint64_t block = arena_block(space->arena, breakpoint->xol_slot);

	if (block && arena_is_mapped(space, completing->tid, block) &&
	    space_write(space, breakpoint->xol_slot, code, length) == 0)
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

		if (breakpoint->xol_slot &&
		    displaced_emit(&breakpoint->displaced, breakpoint->xol_slot, expected[i],
				   &length) != 0)
			length = 0;
		ranges[i] = (struct memory_range){
			.address = breakpoint->xol_slot, .buffer = now[i], .length = length};
	}
	memory_batch_read(space, ranges, count);
	for (size_t i = 0; i < count; i++)
		if (ranges[i].done < ranges[i].length ||
		    memcmp(now[i], expected[i], ranges[i].length) != 0)
			mend_slot(completing, breakpoints[i], expected[i], ranges[i].length);
}

/*
 * Moves breakpoints that are in memory, but have lost their XOL slot or their entry in the SIGTRAP
 * handler's tables, to `missing`, so that they are planted again; returns how many remain.
 */
static size_t look_for_places(struct completing *completing, struct breakpoint **breakpoints,
			      size_t count)
{
	const struct space *space = completing->space;
	size_t whole = 0;

	for (size_t i = 0; i < count; i++) {
		struct breakpoint *breakpoint = breakpoints[i];
		bool slot_lost = !breakpoint->xol_slot && !breakpoint->step &&
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

/* Clears references to forgotten blocks, whose addresses may be used again for something else. */
static void forget_places(struct space *space)
{
	size_t cursor = 0;
	void *value;

	while (space->trap && map_next(&space->trap->breakpoints, &cursor, NULL, &value)) {
		struct breakpoint *breakpoint = value;

		if (!arena_block(space->arena, breakpoint->xol_slot))
			breakpoint->xol_slot = 0;
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

/*
 * Returns all breakpoints sorted by address, so that one read covers those of a page; to be freed.
 */
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
