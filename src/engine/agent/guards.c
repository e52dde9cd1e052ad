/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults in the first instructions of a function that the agent catches: an access to unreadable
 * memory, a computation that raises SIGFPE (a division, or what feenableexcept() enables), or an
 * instruction that the processor lacks (SIGILL).
 *
 * The program passed a bad pointer, or has protected a page to be notified of its use (write
 * barriers and the like). Its signal handler must see the fault in the function, and may return
 * there. So the jump is removed for good and replaced by a breakpoint, as at functions that the
 * agent cannot catch.
 *
 * If the function's first instruction accesses memory, the stub has a guard that reads from there
 * before the call is counted or recorded (sysdeps/x86_64/agent_guard.c). After a fault there the
 * thread begins the function again: a guard has only pushed a word, so the thread's state is as it
 * was. Some accesses fault behind the guard (another thread unmaps the memory just then, or it is
 * read-only). Such a call is counted once more when the function is run again; both calls end with
 * the same return.
 *
 * Other faults are in a displaced instruction, within a call that has begun. The thread is moved to
 * that instruction in the function.
 *
 * Other threads may be in the stub. Its displaced instructions still lead to the code behind the
 * jump, and the calls of these threads are the probe's, which stays.
 */
#include "engine/agent/guards.h"

#include "base/arch.h"
#include "base/memory.h"
#include "engine/agent/agent_arch.h"
#include "engine/agent/agent_state.h"
#include "engine/agent/entry_jumps.h"
#include "engine/agent/gates.h"
#include "engine/agent/jump_islands.h"
#include "engine/agent/kept.h"
#include "engine/agent/unit.h"
#include "tracee/ptrace.h"

#include <signal.h>
#include <stdint.h>

/* A thread's place in a probe stub. */
struct displaced_pc {
	/* NULL: the thread needs no change */
	struct agent_probe *probe;
	uint64_t sp;	 /* the thread's stack pointer at that place in the function */
	uint64_t offset; /* of that place from the function's beginning */
	bool is_begun;	 /* in a displaced instruction */
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

/* Sets `offset` of a displaced instruction; false: the pc is not at one of the function's. */
static bool find_offset(const struct space *space, uint64_t pc, struct displaced_pc *place)
{
	const struct agent_probe *probe = place->probe;
	const uint64_t stub = unit_probe_stub(probe->unit, probe->number);
	const uint64_t displaced = stub + AGENT_PROBE_DISPLACED;

	if (probe->candidate.calls) {
		const uint64_t call = probe->candidate.breakpoint - probe->address;

		/* The displaced jump had an invalid target: the call itself would have failed. */
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
	       (island_leave(thread, &regs) || guards_leave(thread, &regs));
}

/* SIGFPE and SIGILL have the pc in si_addr. */
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
	probe_give_up(thread, place.probe, reason_of(thread->stop_signal));
	if (!go_to_function(thread, regs, &place))
		return false;
	if (tells)
		tell_place(thread, regs->pc);
	return !place.is_begun;
}
