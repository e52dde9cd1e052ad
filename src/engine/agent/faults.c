/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of the agent's own code in a process: it reads what may not be there, and a clock that may
 * be forbidden. A thread that faults there is sent on, and its program learns nothing of it.
 */
#include "engine/agent/private.h"
#include "engine/agent/rings.h"
#include "inferior/journal.h"
#include "inferior/ptrace.h"
#include "inferior/requeue.h"

#include <signal.h>

/*
 * The clock has been forbidden to the thread since (prctl(2), PR_SET_TSC; also by strict
 * seccomp(2)): it is told the time.
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

void agent_mind_clock(struct agent *agent, struct thread *thread)
{
	const struct agent_space *own = thread->process->space->agent;
	siginfo_t info;

	if (own->refused || !own->clock_is_forbidden)
		return;
	/*
	 * The call has begun, or is over, when it is given to the trap engine; a thread that stands
	 * at a fault would not be stepped there, but this one is dealt with, and is queued again by
	 * nobody who has the thread make a system call, either. The record of that has come behind
	 * the stop.
	 */
	if (pt_get_siginfo(thread->tid, &info) == 0) {
		info.si_code = SI_USER;
		pt_set_siginfo(thread->tid, &info);
	}
	thread_take_stop(thread);
	if (thread_is_over(thread))
		return;
	requeue_forget(thread);
	agent_before_signal(thread);
	thread->process->inferior->event = inferior_clock();
	agent_refuse(agent, thread, "a thread may not read the clock any more");
}

/*
 * Where the code at that offset of a unit goes on if it cannot read; 0: it does not read what may
 * not be there.
 */
static uint64_t behind_read(uint64_t offset)
{
	if (offset == AGENT_STRING_WORD || offset == AGENT_STRING_BYTE)
		return AGENT_STRING_END;
	if (offset == AGENT_COPY_WORD)
		return AGENT_COPY_BYTES;
	return offset == AGENT_COPY_BYTE ? AGENT_COPY_END : 0;
}

/* The unit whose code is there: by the books, or where a tracer was killed by its journal. */
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
	/* One that was sent is the program's, wherever it is. */
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
