/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guards: what reads the memory that a function begins by reading, in the probe's stub, before the
 * call is counted or recorded (sysdeps/x86_64/agent_guard.c).
 *
 * Where one faults, the program is about to: it was given a bad pointer, or a page that it has
 * protected to hear of its use (write barriers and the like). Its handler must see the fault at the
 * function, and may return there. So the jump is taken back for good and a breakpoint put in its
 * place, as at functions that cannot be caught inside; the thread begins the function anew. Nothing
 * has happened at a guard but the push it is, so at the function's beginning all is as it was.
 *
 * Another thread may take the memory away between a guard and what was displaced, which faults in
 * the stub then. Of these functions that is as far from its beginning there as in the function, so
 * the handler finds the thread in the function, without the jump, too. The call has been noted; if
 * it was the first instruction, it is once more when that is run again, as one that ends by the
 * other.
 *
 * Other threads may be in the stub. What is displaced there goes on behind where the jump has been,
 * as ever, and their calls are noted by the probe, which stays.
 */
#include "engine/agent/private.h"

#include "base/arch.h"
#include "base/memory.h"
#include "engine/agent/agent_arch.h"
#include "inferior/journal.h"

/* Where a thread is in the stub of a function that begins by reading memory. */
struct guarded {
	struct agent_probe *probe; /* NULL: it is not */
	uint64_t sp;		   /* as it is in the function there */
	uint64_t offset;	   /* in the function */
	bool is_begun;		   /* behind the guards */
};

static struct guarded at_guard(const struct space *space, const struct regs *regs,
			       struct agent_probe *probe)
{
	struct guarded guarded = {.sp = regs->r[REG_SP]};
	uint8_t bytes[AGENT_GUARD_BACK];
	uint64_t pushed;

	if (memory_read_exact(&space->memory, regs->pc, bytes, sizeof bytes) &&
	    space->arch->agent->is_guard(bytes, &pushed)) {
		guarded.probe = probe;
		guarded.sp += pushed;
	}
	return guarded;
}

static bool has_guards(const struct space *space, uint64_t stub)
{
	uint8_t first;

	return memory_read_exact(&space->memory, stub, &first, sizeof first) &&
	       first == space->arch->agent->leads_to_guards;
}

static struct guarded find_guarded(const struct space *space, const struct regs *regs)
{
	static const struct guarded none;
	struct agent_unit *unit = space && space->agent ? agent_unit_at(space->agent, regs->pc)
							: NULL;
	const uint64_t offset = unit ? regs->pc - unit_probe_stub(unit, 0) : UINT64_MAX;
	const uint64_t within = offset % AGENT_PROBE_STUB;
	struct agent_probe *probe = unit && offset / AGENT_PROBE_STUB < unit->probes_used
					    ? unit->probes[offset / AGENT_PROBE_STUB]
					    : NULL;

	if (!probe || within < AGENT_PROBE_DISPLACED || within >= AGENT_PROBE_GUARDED ||
	    !has_guards(space, regs->pc - within))
		return none;
	if (within >= AGENT_PROBE_GUARDS)
		return at_guard(space, regs, probe);
	/* All instructions that are displaced begin where the jump has been. */
	if (within >= AGENT_PROBE_DISPLACED + AGENT_JUMP)
		return none;
	return (struct guarded){
		.probe = probe,
		.sp = regs->r[REG_SP],
		.offset = within - AGENT_PROBE_DISPLACED,
		.is_begun = true,
	};
}

/* It may have been taken back before. */
static bool has_jump(const struct space *space, const struct agent_probe *probe)
{
	const struct journal_entry *entry = journal_entry(space->journal, probe->journal);

	return entry && entry->kind == JOURNAL_JUMP && entry->address == probe->address;
}

static void give_up(struct thread *thread, struct agent_probe *probe)
{
	struct space *space = thread->process->space;
	struct agent *agent = probe->unit->agent;

	if (!has_jump(space, probe))
		return;
	agent_stop_others(thread); /* who does not stop sits in the kernel */
	journal_undo_bytes(space->journal, space, probe->journal);
	probe->journal = JOURNAL_NO_ENTRY;
	trap_plant(agent->trap, thread, probe->address, probe->site, NULL);
	agent->decided(agent->events->context, probe->site,
		       "it was given memory that cannot be read");
}

static bool go_to_function(struct thread *thread, struct regs *regs, const struct guarded *guarded)
{
	regs->r[REG_SP] = guarded->sp;
	regs->pc = guarded->probe->address + guarded->offset;
	return regs_store(thread->tid, regs) == 0;
}

bool guards_leave(struct thread *thread, struct regs *regs)
{
	const struct guarded guarded = find_guarded(thread->process->space, regs);

	return guarded.probe && !guarded.is_begun && go_to_function(thread, regs, &guarded);
}

bool agent_leave(struct thread *thread)
{
	struct regs regs;

	return regs_load(thread->tid, &regs) == 0 && guards_leave(thread, &regs);
}

bool guards_fault(struct thread *thread, struct regs *regs)
{
	const struct guarded guarded = find_guarded(thread->process->space, regs);

	if (!guarded.probe)
		return false;
	give_up(thread, guarded.probe);
	return go_to_function(thread, regs, &guarded) && !guarded.is_begun;
}
