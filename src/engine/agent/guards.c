/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that begin by accessing memory that is not there, by a computation that raises SIGFPE
 * (a division, or what feenableexcept() asks for), or by what the processor does not know (SIGILL).
 *
 * The program was given a bad pointer, or has protected a page to hear of its use (write barriers
 * and the like). Its handler must see the fault at the function, and may return there. So the jump
 * is taken back for good and a breakpoint put in its place, as at functions that cannot be caught
 * inside.
 *
 * If it is the first instruction, the stub has read from there before (agent_guard.c of the
 * architecture), and the call has not been noted. The thread begins the function anew: nothing has
 * happened at a guard but the push it is, so all is as it was there. The few that fault later
 * (another thread takes the memory away just then, or it may not be written) are noted once more
 * when they are run again, as calls that end by the first.
 *
 * Others fault in what was displaced, within a call that is known. The thread is sent to where that
 * instruction stands in the function.
 *
 * Other threads may be in the stub. What is displaced there goes on behind where the jump has been,
 * as ever, and their calls are noted by the probe, which stays.
 */
#include "engine/agent/private.h"

#include "base/arch.h"
#include "base/memory.h"
#include "engine/agent/agent_arch.h"
#include "inferior/journal.h"
#include "inferior/ptrace.h"

#include <signal.h>
#include <stdint.h>

/* Where a thread is in the stub of a function. */
struct displaced_pc {
	struct agent_probe *probe; /* NULL: nowhere of interest here */
	uint64_t sp;		   /* as it is in the function there */
	uint64_t offset;	   /* in the function */
	bool is_begun;		   /* with what was displaced */
};

static struct displaced_pc at_guard(const struct space *space, const struct regs *regs,
				    struct agent_probe *probe)
{
	struct displaced_pc place = {.sp = regs->r[REG_SP]};
	uint8_t bytes[AGENT_GUARD_BACK], first;
	const uint64_t stub = unit_probe_stub(probe->unit, probe->number);
	uint64_t pushed;

	if (memory_read_exact(&space->memory, stub, &first, sizeof first) &&
	    first == space->arch->agent->leads_to_guard &&
	    memory_read_exact(&space->memory, regs->pc, bytes, sizeof bytes) &&
	    space->arch->agent->is_guard(bytes, &pushed)) {
		place.probe = probe;
		place.sp += pushed;
	}
	return place;
}

static struct displaced_pc find_place(const struct space *space, const struct regs *regs)
{
	static const struct displaced_pc none;
	struct agent_unit *unit = space && space->agent ? agent_unit_at(space->agent, regs->pc)
							: NULL;
	const uint64_t offset = unit ? regs->pc - unit_probe_stub(unit, 0) : UINT64_MAX;
	const uint64_t within = offset % AGENT_PROBE_STUB;
	struct agent_probe *probe = unit && offset / AGENT_PROBE_STUB < unit->probes_used
					    ? unit->probes[offset / AGENT_PROBE_STUB]
					    : NULL;

	struct displaced_pc gate = none;

	gate.probe = unit ? gates_place(space, regs, &gate.sp) : NULL;
	if (gate.probe || !probe || within < AGENT_PROBE_DISPLACED)
		return gate;
	if (within >= AGENT_PROBE_GUARD && within < AGENT_PROBE_GUARDED) {
		const struct displaced_pc guard = at_guard(space, regs, probe);

		if (guard.probe)
			return guard;
	}
	return (struct displaced_pc){.probe = probe, .sp = regs->r[REG_SP], .is_begun = true};
}

/* Of one that has begun: false where what it stands at is no instruction of the function's. */
static bool find_offset(const struct space *space, uint64_t pc, struct displaced_pc *place)
{
	const struct agent_probe *probe = place->probe;
	const uint64_t stub = unit_probe_stub(probe->unit, probe->number);
	const uint64_t displaced = stub + AGENT_PROBE_DISPLACED;

	if (probe->wish.calls) {
		const uint64_t call = probe->wish.breakpoint - probe->address;

		/* The jump to where no code can be: the call itself would have failed. */
		place->sp += pc == displaced ? sizeof(uint64_t) : 0;
		place->offset = pc == displaced ? call : pc - (stub + AGENT_PROBE_FRONT);
		return place->offset <= call;
	}
	uint8_t code[AGENT_MOVED_MAX];
	const size_t length = agent_read_code(space, probe->address, code, sizeof code);
	const size_t found = space->arch->agent->offset_in_function(
		trap_decoder(probe->unit->agent->trap), code, length, pc - displaced);

	place->offset = found;
	return found != SIZE_MAX;
}

static const char *reason_of(int signal)
{
	switch (signal) {
	case SIGFPE:
		return "it raised a floating-point exception";
	case SIGILL:
		return "its first instructions are none of this processor's";
	default:
		return "it was given memory that cannot be accessed";
	}
}

void guards_give_up(struct thread *thread, struct agent_probe *probe, const char *reason)
{
	struct space *space = thread->process->space;
	struct agent *agent = probe->unit->agent;

	/* It may have been taken back before. */
	if (!agent_has_jump(space, probe->address))
		return;
	agent_stop_others(thread); /* who does not stop sits in the kernel */
	kept_make_way(thread, probe->address, probe->address + probe->jump.length);
	journal_undo_bytes(space->journal, space, probe->journal);
	probe->journal = JOURNAL_NO_ENTRY;
	wish_plant(agent->trap, thread, &probe->wish);
	unwinding_update(space);
	agent_decide(agent, probe->site, reason);
}

static bool go_to_function(struct thread *thread, struct regs *regs,
			   const struct displaced_pc *place)
{
	regs->r[REG_SP] = place->sp;
	regs->pc = place->probe->address + place->offset;
	return regs_store(thread->tid, regs) == 0;
}

bool guards_leave(struct thread *thread, struct regs *regs)
{
	const struct displaced_pc place = find_place(thread->process->space, regs);

	return place.probe && !place.is_begun && go_to_function(thread, regs, &place);
}

bool agent_leave(struct thread *thread)
{
	struct regs regs;

	return regs_load(thread->tid, &regs) == 0 &&
	       (detour_leave(thread, &regs) || guards_leave(thread, &regs));
}

/* Some tell where they were raised. */
static void tell_place(struct thread *thread, uint64_t pc)
{
	siginfo_t info;

	if (pt_get_siginfo(thread->tid, &info) != 0)
		return;
	info.si_addr = (void *)(uintptr_t)pc;
	pt_set_siginfo(thread->tid, &info);
}

bool guards_fault(struct thread *thread, struct regs *regs)
{
	const bool tells = thread->stop_signal == SIGFPE || thread->stop_signal == SIGILL;
	struct displaced_pc place = find_place(thread->process->space, regs);

	if (!place.probe ||
	    (place.is_begun && !find_offset(thread->process->space, regs->pc, &place)))
		return false;
	guards_give_up(thread, place.probe, reason_of(thread->stop_signal));
	if (!go_to_function(thread, regs, &place))
		return false;
	if (tells)
		tell_place(thread, regs->pc);
	return !place.is_begun;
}
