/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals that find a thread in the agent's code. No handler of the program may see a pc in there,
 * or return there: the thread is stepped to an exit, or put back to where its call has not begun.
 */
#include "engine/agent/agent_signals.h"

#include "engine/agent/agent.h"
#include "engine/agent/agent_state.h"
#include "engine/agent/clock.h"
#include "engine/agent/faults.h"
#include "engine/agent/got_calls.h"
#include "engine/agent/guards.h"
#include "engine/agent/jump_islands.h"
#include "engine/agent/return_addresses.h"
#include "engine/agent/rings.h"
#include "engine/agent/unit.h"
#include "engine/trap/xol_signals.h"
#include "tracee/ptrace.h"

#include <signal.h>
#include <string.h>
#include <time.h>

/* True at the pc behind the breakpoint of a probe stub, where a thread is that has hit it. */
static bool is_behind_breakpoint(const struct agent_unit *unit, uint64_t pc)
{
	uint64_t offset = pc - unit_probe_stub(unit, 0);

	return offset < (uint64_t)unit->probes_used * AGENT_PROBE_STUB &&
	       offset % AGENT_PROBE_STUB == AGENT_PROBE_BREAKPOINT + 1;
}

static bool is_full(const struct agent_unit *unit, uint64_t pc)
{
	return pc == unit->base + AGENT_RECORD_FULL + 1;
}

/* A thread in a unit's code that is stepped out of it. */
struct running_out {
	const struct agent_unit *unit;
	const struct space *space;
};

/* Before the thread has left the unit, it is in the vDSO only to read the agent's clock. */
static bool is_inside(const void *context, uint64_t pc)
{
	const struct running_out *running = context;
	const struct agent_unit *unit = running->unit;

	if (space_has_kernel_code(running->space, pc))
		return true;
	return pc - unit->base < AGENT_TEXT_BYTES && !is_behind_breakpoint(unit, pc) &&
	       !is_full(unit, pc);
}

/* True in the code proper, which has the exits; the breakpoint of is_full() also ends it. */
static bool leads_to_exit(const void *context, uint64_t pc)
{
	const struct agent_unit *unit = ((const struct running_out *)context)->unit;

	return pc - unit->base < AGENT_CODE_BYTES && !is_full(unit, pc);
}

static void run_out(struct thread *thread, const struct agent_unit *unit)
{
	const struct space *space = thread->process->space;
	const struct running_out running = {unit, space};
	struct trap_code code = {.inside = is_inside,
				 .context = &running,
				 .fault = agent_read_fault,
				 .leads_to_exit = leads_to_exit};
	const uint8_t *exits = space->arch->agent->code + AGENT_EXITS +
			       (unit->agent->records ? AGENT_EXIT_COUNT * sizeof(uint32_t) : 0);
	uint32_t offset;

	for (size_t i = 0; i < AGENT_EXIT_COUNT; i++) {
		memcpy(&offset, exits + i * sizeof offset, sizeof offset);
		code.exits[i] = unit->base + offset;
	}
	trap_step_out(thread, &code);
}

/* The unit whose code a thread runs, or for which it runs the vDSO. */
static struct agent_unit *unit_running(const struct space *space, const struct regs *regs)
{
	struct agent_unit *unit = agent_unit_at(space->agent, regs->pc);

	return unit ? unit : agent_unit_at(space->agent, clock_reader(space, regs));
}

/*
 * A signal handler must not see a pc in the agent's code, nor return there. If the thread gets to a
 * breakpoint, it is put back to where the call has not begun.
 */
void agent_before_signal(struct thread *thread)
{
	const struct agent_space *own = thread->process->space ? thread->process->space->agent
							       : NULL;
	struct regs regs;

	if (!own || !own->units.count || regs_load(thread->tid, &regs) != 0 ||
	    island_leave(thread, &regs))
		return;
	struct agent_unit *unit = unit_running(thread->process->space, &regs);

	if (!unit || guards_leave(thread, &regs))
		return;
	const uint64_t before = regs.pc;

	/*
	 * If the thread is at a breakpoint already, the stop has been handled; else the SIGTRAP of
	 * the breakpoint that it runs into here is not the program's.
	 */
	run_out(thread, unit);
	if (regs_load(thread->tid, &regs) == 0 && regs.pc != before && is_full(unit, regs.pc)) {
		/* The trap engine sees the return; the code behind the breakpoint leads to it. */
		return_addresses_give_up(unit, thread, &regs);
		run_out(thread, unit);
	}
	if (regs_load(thread->tid, &regs) != 0 || regs.pc == before ||
	    !is_behind_breakpoint(unit, regs.pc))
		return;
	const struct agent_probe *probe =
		unit->probes[(regs.pc - unit_probe_stub(unit, 0)) / AGENT_PROBE_STUB];

	if (probe) {
		probe_turn_back(probe, &regs);
		regs_store(thread->tid, &regs);
	}
}

/*
 * The probe whose stub or island begins at the thread's pc, if the thread got there by a
 * single-step that the tracer has not made.
 */
static const struct agent_probe *stepped_to(const struct thread *thread, struct regs *regs)
{
	const struct agent_space *own = thread->process->space ? thread->process->space->agent
							       : NULL;
	siginfo_t info;

	if (!own || !own->units.count || pt_get_siginfo(thread->tid, &info) != 0 ||
	    info.si_code != TRAP_TRACE || regs_load(thread->tid, regs) != 0)
		return NULL;
	const struct agent_probe *islanded = island_probe(own, regs->pc);

	if (islanded)
		return islanded;
	const struct agent_unit *unit = agent_unit_at(own, regs->pc);
	uint64_t offset = unit ? regs->pc - unit_probe_stub(unit, 0) : UINT64_MAX;

	return unit && offset % AGENT_PROBE_STUB == 0 &&
			       offset / AGENT_PROBE_STUB < unit->probes_used
		       ? unit->probes[offset / AGENT_PROBE_STUB]
		       : NULL;
}

bool agent_stepped(struct agent *agent, struct thread *thread)
{
	struct regs regs;
	const struct agent_probe *probe = stepped_to(thread, &regs);

	if (!probe)
		return false;
	regs.pc = probe->address;
	if (regs_store(thread->tid, &regs) != 0)
		return false;
	agent_refuse(agent, thread, "the program steps itself");
	return true;
}
