/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Breakpoints.
 *
 * An int3 is one byte, so writing and removing it is atomic for threads that run there. The int3
 * stays in place for as long as the breakpoint is needed. A thread that hits it continues in an
 * XOL slot, which holds the displaced instruction and a jump back. An instruction that only
 * changes the pc is emulated on the thread's registers instead. So no thread ever has to wait for
 * another.
 *
 * `step` is set only if neither is possible: the instruction depends on its address, or there is
 * no memory for slots. Then the original byte is put back for one single-step while all other
 * threads are stopped.
 */
#include "engine/trap/breakpoint.h"

#include "base/xalloc.h"
#include "recovery/rescue.h"
#include "tracee/arena.h"
#include "tracee/arena_map.h"
#include "tracee/clock.h"
#include "tracee/journal_undo.h"
#include "tracee/memory_batch.h"
#include "tracee/ptrace.h"
#include "tracee/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { INSN_MAX = 16, REMOVED_MAX = 1024, REMOVED_NS = 1000000000 };

struct trap_space *trap_space_of(struct space *space)
{
	struct trap_space *traps = space->trap;

	if (traps)
		return traps;
	traps = space->trap = xcalloc(1, sizeof *traps);
	own_text_init(&traps->own_text);
	vec_init(&traps->removed, sizeof(struct removed_breakpoint));
	vec_init(&traps->first_hits, sizeof(uint64_t));
	vec_init(&traps->pending_words, sizeof(uint32_t *));
	return traps;
}

void trap_space_destroy(struct trap_space *traps)
{
	if (!traps)
		return;
	map_deinit_values(&traps->breakpoints);
	own_text_deinit(&traps->own_text);
	vec_deinit(&traps->removed);
	vec_deinit(&traps->first_hits);
	vec_deinit(&traps->pending_words);
	free(traps);
}

struct breakpoint *breakpoint_find(const struct space *space, uint64_t address)
{
	return space->trap ? map_get(&space->trap->breakpoints, address) : NULL;
}

/* Allocates an XOL slot and writes the displaced instruction into it. */
static int fill_slot(struct breakpoint *breakpoint, struct thread *thread)
{
	struct space *space = thread->process->space;
	uint8_t code[DISPLACED_CODE_MAX];
	size_t length;
	int error = arena_take(space->arena, thread, breakpoint->address, &breakpoint->xol_slot);

	if (error) {
		breakpoint->xol_slot = 0;
		return error;
	}
	error = displaced_emit(&breakpoint->displaced, breakpoint->xol_slot, code, &length);
	if (!error)
		error = space_write(space, breakpoint->xol_slot, code, length);
	if (error) {
		arena_give(space->arena, breakpoint->xol_slot);
		breakpoint->xol_slot = 0;
		return error;
	}
	arena_set_owner(space->arena, breakpoint->xol_slot, breakpoint);
	return 0;
}

static int patch(struct breakpoint *breakpoint, struct thread *thread, const uint8_t *before)
{
	struct space *space = thread->process->space;
	const struct arch *arch = space->arch;

	if (space->trap->planting)
		space->trap->planting(thread, breakpoint->address, arch->breakpoint_length);
	breakpoint->journal = journal_bytes(space->journal, breakpoint->address, before,
					    arch->breakpoint, arch->breakpoint_length);
	journal_set_xol_slot(space->journal, breakpoint->journal, breakpoint->xol_slot);
	rescue_note(thread, breakpoint->address, before, &breakpoint->rescue);
	int error = space->trap->lifted ? 0
					: space_write(space, breakpoint->address, arch->breakpoint,
						      arch->breakpoint_length);

	if (error) {
		journal_forget(space->journal, breakpoint->journal);
		rescue_forget(space, breakpoint->rescue);
	}
	return error;
}

/*
 * Returns true if there is an entry jump of the agent at `address`. A breakpoint over it would
 * keep the agent from finding the jump when it undoes it, and would restore the jump when it is
 * removed itself.
 */
static bool is_jump(const struct space *space, uint64_t address, const uint8_t *bytes,
		    size_t length)
{
	const struct journal_entry *entry = trap_has_agent(space)
						    ? journal_jump_at(space->journal, address)
						    : NULL;

	return entry && entry->length <= length && !memcmp(bytes, entry->after, entry->length);
}

int breakpoint_insert(struct decoder *decoder, struct thread *thread, uint64_t address,
		      struct breakpoint **result)
{
	struct space *space = thread->process->space;
	const struct arch *arch = space->arch;
	struct breakpoint *breakpoint = breakpoint_find(space, address);
	uint8_t bytes[INSN_MAX];

	*result = breakpoint;
	if (breakpoint)
		return 0;
	size_t length = memory_read(&space->memory, address, bytes, sizeof bytes);

	if (length < arch->breakpoint_length)
		return -EFAULT;
	if (!memcmp(bytes, arch->breakpoint, arch->breakpoint_length))
		return -EEXIST;
	if (is_jump(space, address, bytes, length))
		return -EBUSY;
	if (!own_text_has(&trap_space_of(space)->own_text, space, thread->tid, address))
		return -EXDEV;
	breakpoint = xcalloc(1, sizeof *breakpoint);
	breakpoint->address = address;
	breakpoint->step = arch->displace(decoder, bytes, length, address,
					  &breakpoint->displaced) != 0 ||
			   (breakpoint->displaced.kind == DISPLACED_COPY &&
			    fill_slot(breakpoint, thread) != 0);
	int error = patch(breakpoint, thread, bytes);

	if (error) {
		if (breakpoint->xol_slot)
			arena_give(space->arena, breakpoint->xol_slot);
		free(breakpoint);
		return error;
	}
	map_put(&space->trap->breakpoints, address, breakpoint);
	*result = breakpoint;
	return 0;
}

/* Rewrites the XOL slot, which no thread has entered so far. */
static bool fill_again(const struct breakpoint *breakpoint, struct space *space)
{
	uint8_t code[DISPLACED_CODE_MAX];
	size_t length;

	return breakpoint->xol_slot &&
	       displaced_emit(&breakpoint->displaced, breakpoint->xol_slot, code, &length) == 0 &&
	       space_write(space, breakpoint->xol_slot, code, length) == 0;
}

void breakpoint_settle(struct decoder *decoder, struct space *space, struct breakpoint *breakpoint)
{
	const struct arch *arch = space->arch;
	const struct journal_entry *entry = journal_entry(space->journal, breakpoint->journal);
	struct displaced now = {.length = 0};
	uint8_t bytes[INSN_MAX];

	breakpoint->settled = true;
	if (breakpoint->step || !entry)
		return;
	const size_t length = memory_read(&space->memory, breakpoint->address, bytes, sizeof bytes);

	if (length < arch->breakpoint_length)
		return;
	memcpy(bytes, entry->before, arch->breakpoint_length);
	const bool same_kind = arch->displace(decoder, bytes, length, breakpoint->address, &now) ==
				       0 &&
			       now.kind == breakpoint->displaced.kind;

	if (same_kind && !memcmp(&now, &breakpoint->displaced, sizeof now))
		return;
	breakpoint->displaced = now;
	breakpoint->step = !same_kind ||
			   (now.kind == DISPLACED_COPY && !fill_again(breakpoint, space));
	if (breakpoint->step)
		journal_set_xol_slot(space->journal, breakpoint->journal, 0);
}

void breakpoint_put(struct space *space, struct breakpoint *breakpoint, enum journal_when when)
{
	breakpoint->when = when;
	journal_set_when(space->journal, breakpoint->journal, when);
	rescue_mark(space, breakpoint->rescue, when == JOURNAL_LAST ? RESCUE_LAST : RESCUE_WAIT);
}

static void discard(struct space *space, struct breakpoint *breakpoint)
{
	map_remove(&space->trap->breakpoints, breakpoint->address);
	space->trap->freed++;
	rescue_forget(space, breakpoint->rescue);
	if (breakpoint->xol_slot)
		arena_give(space->arena, breakpoint->xol_slot);
	free(breakpoint);
}

static void note_removed(struct space *space, const struct breakpoint *breakpoint)
{
	const struct journal_entry *entry = journal_entry(space->journal, breakpoint->journal);
	struct trap_space *trap = space->trap;
	struct removed_breakpoint removed = {.address = breakpoint->address, .time = clock_now()};

	if (!entry || entry->kind != JOURNAL_BYTES)
		return;
	memcpy(removed.before, entry->before, sizeof removed.before);
	if (trap->removed.count < REMOVED_MAX) {
		vec_push(&trap->removed, &removed);
		return;
	}
	*(struct removed_breakpoint *)vec_at(&trap->removed, trap->removed_next) = removed;
	trap->removed_next = (trap->removed_next + 1) % REMOVED_MAX;
}

/*
 * Removes from a child's memory the breakpoints that were removed from its parent while the kernel
 * copied the memory, or before the child was reported.
 */
static void heal_removed(struct space *child, const struct space *parent)
{
	const size_t length = child->arch->breakpoint_length, count = parent->trap->removed.count;
	const uint64_t now = clock_now();
	struct memory_range *ranges = xcalloc(count + 1, sizeof *ranges);
	uint8_t *there = xcalloc(count + 1, length);

	for (size_t i = 0; i < count; i++) {
		const struct removed_breakpoint *removed = vec_at(&parent->trap->removed, i);
		const bool is_wanted = now - removed->time < REMOVED_NS &&
				       !breakpoint_find(child, removed->address);

		ranges[i] = (struct memory_range){removed->address, there + i * length,
						  is_wanted ? length : 0, 0};
	}
	memory_batch_read(child, ranges, count);
	for (size_t i = 0; i < count; i++) {
		const struct removed_breakpoint *removed = vec_at(&parent->trap->removed, i);

		if (ranges[i].done && ranges[i].done == ranges[i].length &&
		    !memcmp(ranges[i].buffer, child->arch->breakpoint, length))
			space_write(child, removed->address, removed->before, length);
	}
	free(ranges);
	free(there);
}

void breakpoint_remove(struct space *space, struct breakpoint *breakpoint)
{
	note_removed(space, breakpoint);
	journal_undo_bytes(space->journal, space, breakpoint->journal);
	discard(space, breakpoint);
}

void breakpoint_covered(struct space *space, struct breakpoint *breakpoint)
{
	note_removed(space, breakpoint);
	journal_forget(space->journal, breakpoint->journal);
	discard(space, breakpoint);
}

void breakpoints_forget(struct space *space, uint64_t low, uint64_t high)
{
	struct vec gone = VEC_OF(struct breakpoint *);
	size_t cursor = 0;
	void *value;

	if (!space->trap)
		return;
	own_text_forget(&space->trap->own_text);
	while (map_next(&space->trap->breakpoints, &cursor, NULL, &value)) {
		struct breakpoint *breakpoint = value;

		if (breakpoint->address >= low && breakpoint->address < high)
			vec_push(&gone, &breakpoint);
	}
	for (size_t i = 0; i < gone.count; i++) {
		struct breakpoint *breakpoint = *(struct breakpoint **)vec_at(&gone, i);

		journal_forget(space->journal, breakpoint->journal);
		discard(space, breakpoint);
	}
	vec_deinit(&gone);
}

int breakpoint_plant_again(struct decoder *decoder, struct thread *thread,
			   struct breakpoint *breakpoint)
{
	struct space *space = thread->process->space;
	struct breakpoint kept = *breakpoint;
	struct breakpoint *fresh;

	journal_forget(space->journal, breakpoint->journal);
	discard(space, breakpoint);
	int error = breakpoint_insert(decoder, thread, kept.address, &fresh);

	if (error)
		return error;
	fresh->site = kept.site;
	fresh->hook = kept.hook;
	fresh->is_return = kept.is_return;
	fresh->is_pad = kept.is_pad;
	fresh->is_part = kept.is_part;
	fresh->verify = kept.verify;
	fresh->recent = kept.recent;
	if (kept.when)
		breakpoint_put(space, fresh, kept.when);
	return 0;
}

int breakpoint_verify(struct decoder *decoder, struct thread *thread, struct breakpoint *breakpoint)
{
	struct space *space = thread->process->space;
	const struct arch *arch = space->arch;
	uint8_t now[sizeof arch->breakpoint];

	if (space->trap->lifted ||
	    (memory_read_exact(&space->memory, breakpoint->address, now, arch->breakpoint_length) &&
	     !memcmp(now, arch->breakpoint, arch->breakpoint_length)))
		return 0;
	return breakpoint_plant_again(decoder, thread, breakpoint);
}

void breakpoints_copy(struct space *child, const struct space *parent)
{
	size_t cursor = 0;
	void *value;

	journal_copy(child->journal, parent->journal);
	arena_copy(child->arena, parent->arena);
	rescue_copy(child, parent);
	if (!parent->trap)
		return;
	trap_space_of(child)->exchanged = parent->trap->exchanged;
	child->trap->leaves = parent->trap->leaves;
	child->trap->was_orphaned = parent->trap->was_orphaned;
	child->trap->full = parent->trap->full;
	for (size_t i = 0; i < parent->trap->first_hits.count; i++)
		vec_push(&child->trap->first_hits, vec_at(&parent->trap->first_hits, i));
	while (map_next(&parent->trap->breakpoints, &cursor, NULL, &value)) {
		struct breakpoint *breakpoint = xmemdup(value, sizeof *breakpoint);

		map_put(&child->trap->breakpoints, breakpoint->address, breakpoint);
		if (breakpoint->xol_slot)
			arena_set_owner(child->arena, breakpoint->xol_slot, breakpoint);
	}
	heal_removed(child, parent);
}

/*
 * Writes all breakpoints (`in`) or removes them; skips an address that holds neither the
 * breakpoint nor the original byte.
 */
static void exchange(struct space *space, bool in)
{
	size_t length = space->arch->breakpoint_length;
	uint8_t now[sizeof space->arch->breakpoint];
	size_t cursor = 0;
	void *value;

	while (space->trap && map_next(&space->trap->breakpoints, &cursor, NULL, &value)) {
		const struct breakpoint *breakpoint = value;
		const struct journal_entry *entry = journal_entry(space->journal,
								  breakpoint->journal);

		if (entry && memory_read_exact(&space->memory, entry->address, now, length) &&
		    !memcmp(now, in ? entry->before : entry->after, length))
			space_write(space, entry->address, in ? entry->after : entry->before,
				    length);
	}
}

void breakpoints_lift(struct space *space)
{
	if (space->trap)
		space->trap->lifted = true;
	exchange(space, false);
}

void breakpoints_lower(struct space *space)
{
	if (space->trap)
		space->trap->lifted = false;
	exchange(space, true);
}

bool breakpoint_is_hit(const struct thread *thread)
{
	siginfo_t info;

	return pt_get_siginfo(thread->tid, &info) == 0 && info.si_code == SI_KERNEL;
}

bool breakpoint_is_stale(const struct thread *thread, uint64_t address)
{
	struct space *space = thread->process->space;
	const struct arch *arch = space->arch;
	uint8_t now[sizeof arch->breakpoint], whole[sizeof arch->long_breakpoint];

	return breakpoint_is_hit(thread) &&
	       memory_read_exact(&space->memory, address, now, arch->breakpoint_length) &&
	       memcmp(now, arch->breakpoint, arch->breakpoint_length) != 0 &&
	       !(memory_read_exact(&space->memory,
				   address + arch->breakpoint_pc_offset - sizeof whole, whole,
				   sizeof whole) &&
		 !memcmp(whole, arch->long_breakpoint, sizeof whole));
}

void breakpoint_adopt(struct decoder *decoder, struct space *space, size_t entry)
{
	const struct journal_entry *patch = journal_entry(space->journal, entry);
	const struct arch *arch = space->arch;
	uint8_t bytes[INSN_MAX];

	if (!patch || patch->kind != JOURNAL_BYTES || patch->length != arch->breakpoint_length ||
	    memcmp(patch->after, arch->breakpoint, arch->breakpoint_length) != 0)
		return;
	struct breakpoint *breakpoint = xcalloc(1, sizeof *breakpoint);
	size_t length = memory_read(&space->memory, patch->address, bytes, sizeof bytes);

	memcpy(bytes, patch->before, arch->breakpoint_length);
	breakpoint->address = patch->address;
	breakpoint->journal = entry;
	if (length > arch->breakpoint_length &&
	    arch->displace(decoder, bytes, length, patch->address, &breakpoint->displaced) == 0)
		breakpoint->xol_slot = patch->xol_slot;
	free(map_remove(&trap_space_of(space)->breakpoints, breakpoint->address));
	space->trap->freed++;
	map_put(&space->trap->breakpoints, breakpoint->address, breakpoint);
	if (breakpoint->xol_slot)
		arena_set_owner(space->arena, breakpoint->xol_slot, breakpoint);
}

static int write_stack(void *context, uint64_t address, const void *bytes, size_t length)
{
	return space_write(context, address, bytes, length);
}

int breakpoint_pass(const struct breakpoint *breakpoint, struct space *space, struct regs *regs)
{
	if (breakpoint->xol_slot) {
		regs->pc = breakpoint->xol_slot;
		return 0;
	}
	/* The emulation needs the instruction's own address, not the pc behind the int3. */
	uint64_t pc = regs->pc;

	regs->pc = breakpoint->address;
	int error = displaced_emulate(&breakpoint->displaced, regs, &space->memory, write_stack,
				      space);

	if (error)
		regs->pc = pc;
	return error;
}

bool breakpoint_program_pc(const struct space *space, uint64_t pc, uint64_t *program_pc,
			   bool *not_begun)
{
	uint64_t slot;

	if (!arena_xol_slot_at(space->arena, pc, &slot))
		return false;
	const struct breakpoint *breakpoint = arena_owner(space->arena, slot);

	if (!breakpoint)
		return false;
	*program_pc = displaced_program_pc(&breakpoint->displaced, slot, pc);
	*not_begun = *program_pc == breakpoint->address;
	return true;
}
