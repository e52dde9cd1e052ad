/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exceptions without a stop, if calls are counted.
 *
 * Unwinding needs the true return addresses on the stack. A hook at the unwinder's entry stops the
 * thread for this, and the trap engine takes over its pending calls (agent_hand_over()). A program
 * that throws all the time spends most of its time in such stops. So the functions of libgcc_s.so.1
 * get jumps like functions that the agent catches, and the thread does the work itself
 * (sysdeps/x86_64/agent_unwind.c): it lifts the return trampolines off its stack. When a
 * personality routine has selected a frame (_Unwind_SetIP(), for cleanups and handlers), the thread
 * puts back the trampolines of the calls that were not left. So their counts and times are right.
 *
 * While a thread unwinds, no return trampoline is on its stack, so nothing goes wrong if the tracer
 * or its memory goes away; threads only have to be out of the agent's code, as always. The jumps
 * are removed last (JOURNAL_STAYS): as long as trampolines may be put on stacks, unwinders must be
 * able to take them off.
 *
 * The thread has to know where its stack ends. The tracer tells it at its first stop at an
 * unwinder: the stack that libc has made for a thread ends below its thread control block. On other
 * stacks, as coroutines have, each unwinder stops. Unwinders also stop while another process runs
 * in the memory, as it may run on the stack of a thread.
 */
#include "engine/agent/unwinding.h"

#include "engine/agent/agent_state.h"
#include "engine/agent/entry_jumps.h"
#include "engine/agent/got_calls.h"
#include "engine/agent/patch_candidates.h"
#include "engine/agent/return_trampolines.h"
#include "engine/agent/unit.h"
#include "engine/trap/breakpoint_takeover.h"
#include "tracee/journal_undo.h"
#include "tracee/maps.h"
#include "tracee/proc.h"
#include "tracee/space.h"

#include <string.h>

_Static_assert(sizeof(struct return_trampoline) == AGENT_TRAMPOLINE, "shared layout");

enum { CODE = 32, CFA_MOST = 4096 };

static const char MAIN_STACK[] = "[stack]";

static uint64_t place_of(const struct agent_unit *unit, uint64_t offset)
{
	return unit->base + AGENT_UNWINDING + offset;
}

/* ------------------------------------------------------------------ patch candidates */

bool agent_may_unwind(const struct agent *agent)
{
	return agent && !agent->records && agent->host->can_tell_threads();
}

/*
 * Returns true if _Unwind_GetCFA() is as expected, and only hooks are at the unwinder's functions.
 */
static bool is_known(const struct space *space, const struct agent_unwinder *unwinder,
		     uint64_t *cfa_offset)
{
	uint8_t code[CODE];
	bool known = agent_read_code(space, unwinder->get_cfa, code, sizeof code) == sizeof code &&
		     space->arch->agent->returns_member(code, sizeof code, cfa_offset) &&
		     *cfa_offset <= CFA_MOST;

	for (int i = 0; known && i < UNWINDER_FUNCTIONS; i++)
		known = i == UNWINDER_SET_IP || trap_is_only(space, unwinder->functions[i].address,
							     unwinder->functions[i].hook);
	return known;
}

void agent_add_unwinder_candidate(const struct agent *agent, struct thread *thread,
				  const struct agent_unwinder *unwinder)
{
	struct space *space = thread->process->space;
	struct unwinding *unwinding = &agent_space_of(space)->unwinding;
	const uint64_t set_ip = unwinder->functions[UNWINDER_SET_IP].address;
	struct hook *landing = unwinder->functions[UNWINDER_SET_IP].hook;

	if (!agent_may_unwind(agent) || !space->arch->agent || unwinding->unwinder.get_cfa ||
	    !is_known(space, unwinder, &unwinding->cfa_offset) || trap_is_planted(space, set_ip) ||
	    trap_plant(agent->trap, thread, set_ip, NULL, landing) != 0)
		return;
	unwinding->unwinder = *unwinder;
	for (int i = 0; i < UNWINDER_FUNCTIONS; i++) {
		const struct patch_candidate candidate = {
			.address = unwinder->functions[i].address,
			.length = unwinder->functions[i].length,
			.hook = unwinder->functions[i].hook,
			.part = i == UNWINDER_SET_IP ? UNWINDER_LANDS : UNWINDER_BEGINS};

		agent_add_candidate(space, &candidate);
	}
}

void unwinding_forget(struct space *space, uint64_t low, uint64_t high)
{
	struct unwinding *unwinding = &space->agent->unwinding;
	const uint64_t address = unwinding->unwinder.get_cfa;

	unwinding_update(space);
	if (address >= low && address < high)
		unwinding->unwinder = (struct agent_unwinder){.get_cfa = 0};
}

/* ------------------------------------------------------------------ on and off */

/* The unit that the jumps of all functions of the unwinder lead to, or NULL. */
static struct agent_unit *find_unit(const struct space *space)
{
	const struct agent_space *own = space->agent;
	struct agent_unit *unit = NULL;

	for (int i = 0; i < UNWINDER_FUNCTIONS; i++) {
		const struct agent_probe *probe =
			map_get(&own->probes, own->unwinding.unwinder.functions[i].address);

		if (!probe || !probe->candidate.part || !agent_has_jump(space, probe->address) ||
		    (unit && probe->unit != unit))
			return NULL;
		unit = probe->unit;
	}
	return unit;
}

static void fill_head(const struct agent_space *own, struct unwinding_head *head)
{
	const struct agent_unwinder *unwinder = &own->unwinding.unwinder;

	head->on = own->units.count <= UNWINDING_UNITS;
	head->cfa_offset = own->unwinding.cfa_offset;
	head->outer_low = unwinder->functions[UNWINDER_RETHROW].address;
	head->outer_high = head->outer_low + unwinder->functions[UNWINDER_RETHROW].length;
	for (size_t i = 0; i < own->units.count && i < UNWINDING_UNITS; i++)
		head->units[head->unit_count++] =
			(*(struct agent_unit **)vec_at(&own->units, i))->base;
}

static void set_on(struct space *space, const struct agent_unit *unit, uint64_t on)
{
	space_write(space, place_of(unit, offsetof(struct unwinding_head, on)), &on, sizeof on);
}

void unwinding_update(struct space *space)
{
	struct agent_space *own = space->agent;
	struct unwinding_head head = {.on = 0};

	if (!own->unwinding.unwinder.get_cfa)
		return;
	struct agent_unit *unit = find_unit(space);

	if (own->unwinding.unit && own->unwinding.unit != unit)
		set_on(space, own->unwinding.unit, 0);
	own->unwinding.unit = unit;
	if (!unit || space->references != 1)
		return;
	own->unwinding.is_off = false;
	fill_head(own, &head);
	space_write(space, place_of(unit, 0), &head, sizeof head);
}

void unwinding_turn_off(struct space *space)
{
	struct unwinding *unwinding = &space->agent->unwinding;

	unwinding->is_off = true;
	if (unwinding->unit)
		set_on(space, unwinding->unit, 0);
}

void agent_stop_unwinders(struct agent *agent, struct thread *thread)
{
	struct space *space = thread->process->space;
	const struct agent_space *own = space->agent;

	for (int i = 0; own && i < UNWINDER_FUNCTIONS; i++) {
		struct agent_probe *probe = map_get(&own->probes,
						    own->unwinding.unwinder.functions[i].address);

		if (!probe || !probe->candidate.part || !agent_has_jump(space, probe->address))
			continue;
		journal_undo_bytes(space->journal, space, probe->journal);
		probe->journal = JOURNAL_NO_ENTRY;
		candidate_plant(agent->trap, thread, &probe->candidate);
	}
	if (own)
		unwinding_update(space);
}

/* ------------------------------------------------------------------ stacks */

static void unbind(struct space *space, uint32_t number)
{
	static const uint64_t nobody;
	struct unwinding *unwinding = &space->agent->unwinding;

	unwinding->threads[number] = 0;
	if (unwinding->unit)
		space_write(
			space,
			place_of(unwinding->unit, unwinding_offset(number) +
							  offsetof(struct unwinding_thread, base)),
			&nobody, sizeof nobody);
}

void unwinding_thread_gone(struct space *space, pid_t tid)
{
	for (uint32_t i = 0; i < UNWINDING_THREADS; i++)
		if (space->agent->unwinding.threads[i] == tid)
			unbind(space, i);
}

/* Finds the bounds of the thread's current stack. False: the stack may be another thread's. */
static bool find_stack(const struct thread *thread, const struct regs *regs,
		       struct unwinding_thread *found)
{
	struct maps maps;
	bool is_known = false;

	if (maps_read(thread->tid, &maps) != 0)
		return false;
	const struct mapping *mapping = maps_find(&maps, regs->r[REG_SP]);

	if (mapping) {
		const bool is_thread = regs->fs_base > regs->r[REG_SP] &&
				       regs->fs_base < mapping->end;

		is_known = is_thread || !strcmp(mapping->path, MAIN_STACK);
		found->low = mapping->start;
		found->high = is_thread ? regs->fs_base : proc_start_stack(thread->tid);
		is_known &= found->high > regs->r[REG_SP] && found->high <= mapping->end;
	}
	maps_deinit(&maps);
	return is_known;
}

/* The stub of the unwinder that the thread has entered, or 0. */
static uint64_t find_stub(const struct agent_unit *unit, uint64_t pc)
{
	const uint64_t first = unit_probe_stub(unit, 0);
	const uint64_t number = (pc - first) / AGENT_PROBE_STUB;
	const bool is_stub = pc > first && number < unit->probes_used && unit->probes[number] &&
			     unit->probes[number]->candidate.part == UNWINDER_BEGINS;

	return is_stub ? unit_probe_stub(unit, (uint32_t)number) : 0;
}

static bool is_bound(const struct unwinding *unwinding, pid_t tid)
{
	for (uint32_t i = 0; i < UNWINDING_THREADS; i++)
		if (unwinding->threads[i] == tid)
			return true;
	return false;
}

static bool bind(struct space *space, pid_t tid, const struct unwinding_thread *entry)
{
	struct unwinding *unwinding = &space->agent->unwinding;
	const uint32_t number = unwinding_hash(entry->base);

	for (uint32_t i = 0; i < UNWINDING_TRIES; i++) {
		const uint32_t at = (number + i) % UNWINDING_THREADS;

		if (unwinding->threads[at])
			continue;
		if (space_write(space, place_of(unwinding->unit, unwinding_offset(at)), entry,
				sizeof *entry) != 0)
			return false;
		unwinding->threads[at] = tid;
		return true;
	}
	return false;
}

/*
 * A bound thread that stops nevertheless is on another stack, or has too many calls on it. But if
 * patched unwinders were turned off meanwhile, because another process ran in the space, it may try
 * again.
 */
bool agent_bind_stack(struct thread *thread, struct regs *regs)
{
	struct space *space = thread->process->space;
	struct unwinding *unwinding = space->agent ? &space->agent->unwinding : NULL;
	struct unwinding_thread entry = {.base = regs->fs_base};
	const uint64_t stub = unwinding && unwinding->unit ? find_stub(unwinding->unit, regs->pc)
							   : 0;

	if (!stub || space->references != 1 || !entry.base)
		return false;
	const bool was_off = unwinding->is_off;

	unwinding_update(space);
	if (is_bound(unwinding, thread->tid)
		    ? !was_off
		    : !find_stack(thread, regs, &entry) || !bind(space, thread->tid, &entry))
		return false;
	regs->pc = stub;
	return true;
}
