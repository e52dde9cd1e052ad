/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of the agent's own code in a process: it reads memory that may be unreadable, and a clock
 * that may be forbidden. A thread that faults there continues behind the read, and the program gets
 * no signal.
 */
#include "engine/agent/faults.h"

#include "engine/agent/agent_state.h"
#include "engine/agent/guards.h"
#include "engine/agent/rings.h"
#include "engine/agent/unit.h"
#include "engine/trap/adopt.h"
#include "tracee/journal.h"
#include "tracee/ptrace.h"

#include <signal.h>

/*
 * The clock was forbidden to the thread after the unit was made (prctl(2), PR_SET_TSC; strict
 * seccomp(2)): the tracer sets the time in its registers.
 */
static bool tell_time(const struct space *space, struct regs *regs)
{
	const struct agent_arch *arch = space->arch->agent;
	uint8_t bytes[AGENT_CLOCK_BYTES];

	if (!memory_read_exact(&space->memory, regs->pc, bytes, sizeof bytes) ||
	    !arch->emulate_clock(bytes, regs))
		return false;
	if (space->agent)
		space->agent->clock_is_forbidden = true;
	return true;
}

/*
 * Where the code at that offset of a unit continues after a fault; 0: it does not read memory that
 * may be unreadable.
 */
static uint64_t behind_read(uint64_t offset)
{
	if (offset == AGENT_STRING_WORD || offset == AGENT_STRING_BYTE)
		return AGENT_STRING_END;
	if (offset == AGENT_COPY_WORD)
		return AGENT_COPY_BYTES;
	if (offset == AGENT_LOAD)
		return AGENT_LOAD_FAILED;
	if (offset == AGENT_MATCH_WORD)
		return AGENT_MATCH_FAILED;
	return offset == AGENT_COPY_BYTE ? AGENT_COPY_END : 0;
}

/* The unit whose code contains `pc`; for an orphan, by the journal. */
static bool find_code(const struct space *space, uint64_t pc, uint64_t *base)
{
	const struct agent_space *own = space->agent;

	for (size_t i = 0; own && i < own->units.count; i++) {
		*base = (*(struct agent_unit **)vec_at(&own->units, i))->base;
		if (pc - *base < AGENT_CODE_BYTES)
			return true;
	}
	for (size_t i = 0; !own && i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		*base = entry ? entry->address : 0;
		if (agent_is_unit(entry) && pc - *base < AGENT_CODE_BYTES)
			return true;
	}
	return false;
}

bool agent_fault(struct thread *thread, bool interrupted)
{
	const struct space *space = thread->process->space;
	struct regs regs;
	uint64_t base;

	if (!space || !space->arch->agent || regs_load(thread->tid, &regs) != 0)
		return false;
	/* A signal that was sent is the program's, wherever the thread is. */
	if (!interrupted && !pt_signal_is_fault(thread->tid))
		return false;
	if (!interrupted && guards_fault(thread, &regs))
		return true;
	if (!find_code(space, regs.pc, &base))
		return !interrupted && trap_runs_our_code(space, &regs) &&
		       tell_time(space, &regs) && regs_store(thread->tid, &regs) == 0;
	uint64_t without = behind_read(regs.pc - base);
	bool reads = without != 0;

	if (reads && (!interrupted || (space->agent && space->agent->rings &&
				       rings_was_stuck(space->agent->rings, thread->tid))))
		regs.pc = base + without;
	else if (reads || interrupted || !tell_time(space, &regs))
		return false;
	return regs_store(thread->tid, &regs) == 0;
}

bool agent_read_fault(struct thread *thread)
{
	return agent_fault(thread, false);
}
