/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent engine needs to know about breakpoints when it replaces one by an entry jump: the
 * breakpoint's purposes, the code under it, and the threads that have hit it.
 */
#include "engine/trap/breakpoint_takeover.h"

#include "engine/trap/breakpoint.h"
#include "engine/trap/sigtrap.h"
#include "engine/trap/trap.h"
#include "engine/trap/trap_state.h"
#include "tracee/clock.h"
#include "tracee/journal.h"

#include <signal.h>
#include <string.h>

/* Bound of trap_first_hits(): the agent engine needs no more patch candidates than that. */
enum { HITS_MAX = 65536 };

void trap_set_agent(struct space *space, bool has_agent)
{
	if (has_agent || space->trap)
		trap_space_of(space)->has_agent = has_agent;
}

bool trap_is_planted(const struct space *space, uint64_t address)
{
	return breakpoint_find(space, address);
}

void trap_watch_planting(struct space *space, trap_planting *planting)
{
	space->trap->planting = planting;
}

void trap_unplant(struct space *space, uint64_t address)
{
	struct breakpoint *breakpoint = breakpoint_find(space, address);

	if (breakpoint)
		breakpoint_remove(space, breakpoint);
}

void trap_covered(struct space *space, uint64_t address)
{
	struct breakpoint *breakpoint = breakpoint_find(space, address);

	if (breakpoint)
		breakpoint_covered(space, breakpoint);
}

static bool is_call_by_pointer(const struct breakpoint *breakpoint)
{
	return breakpoint->hook && breakpoint->hook->chosen && !breakpoint->site;
}

bool trap_is_written_over(const struct space *space, uint64_t address)
{
	const struct arch *arch = space->arch;
	uint8_t now[sizeof arch->breakpoint];

	return breakpoint_find(space, address) && !space->trap->lifted &&
	       memory_read_exact(&space->memory, address, now, arch->breakpoint_length) &&
	       memcmp(now, arch->breakpoint, arch->breakpoint_length) != 0;
}

bool trap_is_only(const struct space *space, uint64_t address, const struct hook *hook)
{
	const struct breakpoint *breakpoint = breakpoint_find(space, address);

	return breakpoint && !breakpoint->is_return && breakpoint->hook == hook &&
	       !breakpoint->site == (hook != NULL);
}

/*
 * Returns true if the breakpoint serves a single purpose and may be replaced by an entry jump
 * while a thread is stopped at it.
 */
static bool is_plain(const struct breakpoint *breakpoint)
{
	return breakpoint && !breakpoint->is_return &&
	       (is_call_by_pointer(breakpoint) || (breakpoint->site && !breakpoint->hook));
}

size_t trap_read_code(const struct space *space, uint64_t address, void *buffer, size_t length)
{
	uint8_t *bytes = buffer;

	length = memory_read_pages(&space->memory, address, buffer, length);
	for (size_t i = 0; i < length; i++) {
		const struct breakpoint *breakpoint = bytes[i] == space->arch->breakpoint[0]
							      ? breakpoint_find(space, address + i)
							      : NULL;
		const struct journal_entry *entry =
			breakpoint ? journal_entry(space->journal, breakpoint->journal) : NULL;

		if (entry)
			bytes[i] = entry->before[0];
	}
	return length;
}

bool trap_program_pc(const struct space *space, uint64_t pc, uint64_t *program_pc)
{
	bool not_begun;

	return breakpoint_program_pc(space, pc, program_pc, &not_begun);
}

void breakpoint_note_hit(struct space *space, const struct breakpoint *breakpoint)
{
	struct vec *hits = &space->trap->first_hits;

	if (trap_has_agent(space) && (breakpoint->site || is_call_by_pointer(breakpoint)) &&
	    !breakpoint->settled && hits->count < HITS_MAX)
		vec_push(hits, &breakpoint->address);
}

/*
 * Returns true if a thread that has hit the breakpoint may be set back to it: a hit has no effect
 * until it is handled.
 */
static bool can_be_hit_again(const struct space *space, uint64_t address)
{
	const struct breakpoint *breakpoint = breakpoint_find(space, address);
	const struct hook *hook = breakpoint ? breakpoint->hook : NULL;

	return is_plain(breakpoint) || (hook && !hook->on_system_call && !hook->chosen &&
					trap_is_only(space, address, hook));
}

bool trap_put_back(struct thread *thread)
{
	struct space *space = thread->process->space;
	struct regs regs;

	if (thread->stop != STOP_SIGNAL || thread->stop_signal != SIGTRAP ||
	    thread->trap->unblocked || regs_load(thread->tid, &regs) != 0 ||
	    !can_be_hit_again(space, regs.pc - space->arch->breakpoint_pc_offset) ||
	    !sigtrap_is_hit(thread))
		return false;
	regs.pc -= space->arch->breakpoint_pc_offset;
	regs_store(thread->tid, &regs);
	breakpoint_note_hit(space, breakpoint_find(space, regs.pc));
	sigtrap_hit(thread, clock_now());
	sigtrap_repair(thread);
	return true;
}

bool trap_turn_back(struct thread *thread)
{
	struct stop stop;

	return thread->has_deferred && trap_put_back(thread) &&
	       thread_take_deferred(thread->process->tracees, thread, &stop);
}

bool trap_swallow_hit(struct thread *thread)
{
	struct space *space = thread->process->space;
	struct regs regs;

	if (thread->stop_signal != SIGTRAP || !sigtrap_is_hit(thread) ||
	    regs_load(thread->tid, &regs) != 0)
		return false;
	regs.pc -= space->arch->breakpoint_pc_offset;
	const struct breakpoint *breakpoint = breakpoint_find(space, regs.pc);

	/* If the breakpoint was removed, the thread runs the instruction that is there now. */
	if (!breakpoint || breakpoint_pass(breakpoint, space, &regs) == 0)
		regs_store(thread->tid, &regs);
	sigtrap_hit(thread, clock_now());
	sigtrap_repair(thread);
	return true;
}

struct vec *trap_first_hits(const struct space *space)
{
	return space->trap ? &space->trap->first_hits : NULL;
}

bool trap_has_exchanged_stacks(const struct space *space)
{
	return space->trap && space->trap->exchanged;
}
