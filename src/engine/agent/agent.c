/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's probes in a space: what happens at a stub's breakpoint, at signals, when calls are
 * collected, when libraries are unmapped, at fork, and at the end.
 *
 * A probe stub has a breakpoint, planted like any other. A thread hits it if its call cannot be
 * handled in the process: the tracer has not accepted the return address yet, or there is no free
 * return trampoline. Mostly the tracer can accept the address; then the thread runs through the
 * stub once more, and further calls from there do not stop. Otherwise the trap engine makes a
 * record of the call at this breakpoint.
 *
 * A unit has one more breakpoint, for threads that have no ring for a record, or no room in it. If
 * nothing helps at a return, the true return address gets a breakpoint, and the thread continues
 * there without a record: the trap engine sees the return. This happens if the thread has no ring
 * because a CLONE_VM child runs, whose records could not be told from its parent's.
 */
#include "engine/agent/agent.h"

#include "engine/agent/agent_state.h"
#include "engine/agent/return_trampolines.h"
#include "engine/agent/rings.h"
#include "engine/agent/stack_rules.h"

#include "base/xalloc.h"
#include "engine/agent/buckets.h"
#include "engine/agent/clock.h"
#include "engine/agent/entry_jumps.h"
#include "engine/agent/got_calls.h"
#include "engine/agent/jump_islands.h"
#include "engine/agent/return_addresses.h"
#include "engine/agent/ring_drain.h"
#include "engine/agent/unit.h"
#include "engine/agent/unwinding.h"
#include "engine/core/call_tracker.h"
#include "engine/trap/breakpoint_takeover.h"
#include "engine/trap/pending.h"
#include "tracee/clock.h"
#include "tracee/journal.h"
#include "tracee/memory_batch.h"
#include "tracee/space.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Most children exec soon, and what was installed before that would be lost. */
enum { CHILDHOOD_NS = 20000000 };

struct agent *agent_create(struct trap *trap, struct call_tracker *tracker, agent_decided *decided,
			   agent_function_around *around, agent_points_into *points_into,
			   const struct agent_options *options)
{
	const struct agent_arch *host = arch_x86_64.agent;

	if (!host || (options->records && !host->can_tell_threads()))
		return NULL;
	struct agent *agent = xcalloc(1, sizeof *agent);

	agent->trap = trap;
	agent->tracker = tracker;
	agent->events = call_tracker_events(tracker);
	agent->decided = decided;
	agent->around = around;
	agent->points_into = points_into;
	agent->records = options->records;
	agent->buckets = options->buckets && !options->records;
	agent->lossy = options->lossy;
	agent->lines = options->lines || options->stacks;
	agent->stacks = options->stacks;
	agent->native_frames = options->native_frames;
	agent->buffer = xcalloc(1, RINGS_RECORD_MAX);
	vec_init(&agent->spaces, sizeof(struct space *));
	agent->host = host;
	agent->system_clock = options->clock == AGENT_CLOCK_OF_SYSTEM ||
			      (options->clock == AGENT_CLOCK_ANY && !host->clock_is_steady());
	clocks_begin(agent);
	return agent;
}

void agent_destroy(struct agent *agent)
{
	if (!agent)
		return;
	vec_deinit(&agent->spaces);
	free(agent->buffer);
	free(agent);
}

size_t agent_probes(const struct agent *agent)
{
	return agent->probes;
}

uint64_t agent_generated(const struct agent *agent)
{
	return agent->generated;
}

bool agent_has(const struct space *space, uint64_t address)
{
	return space->agent && map_get(&space->agent->probes, address);
}

void agent_space_gone(struct space *space)
{
	struct agent_space *own = space->agent;

	if (!own)
		return;
	ring_drain_space_gone(space);
	pending_forget_words(space); /* the words are in the memory of the space's units */
	for (size_t i = 0; i < own->units.count; i++)
		unit_destroy(*(struct agent_unit **)vec_at(&own->units, i));
	vec_deinit(&own->units);
	vec_deinit(&own->candidates);
	islands_deinit(own);
	free(own->look.held);
	map_deinit(&own->probes);
	map_deinit(&own->asking);
	free(own);
	space->agent = NULL;
	trap_set_agent(space, false);
}

/* ------------------------------------------------------------------ breakpoints in stubs */

/*
 * Returns true if `word` is a return address that may be replaced: it is behind a call instruction,
 * in code of a module that has unwind rows.
 */
static bool is_return_address(struct agent *agent, const struct space *space, uint64_t word)
{
	uint8_t before[ARCH_CALL_MAX];

	if (agent_read_code(space, word - sizeof before, before, sizeof before) != sizeof before ||
	    !space->arch->ends_with_call(before))
		return false;
	const enum return_place place = agent->events->return_place(agent->events->context, space,
								    word);

	const bool is_unknown = place == RETURN_ELSEWHERE || place == RETURN_UNDESCRIBED ||
				place == RETURN_NOWHERE_UNDESCRIBED;

	agent->generated += is_unknown;
	return !is_unknown;
}

/*
 * Handles a call that was reached by a jump from a function that the agent also catches (a tail
 * call), and cannot be caught itself. Its time is part of that function's call. So it is only
 * counted; if records are made, or the time of each call is kept, returns false, and the trap
 * engine makes a record.
 */
static bool pass(struct agent_unit *unit, struct thread *thread, struct regs *regs, uint32_t number,
		 uint64_t stub)
{
	if (unit->agent->records || unit->agent->buckets) {
		agent_show_caller(unit->agent, thread, regs->r[REG_SP], stub);
		return false;
	}
	unit_add_call(unit, number);
	regs->pc = unit_probe_stub(unit, number) + AGENT_PROBE_DISPLACED;
	return true;
}

/* Makes the unit accept `word` as a return address. Returns false if it must not be. */
static bool learn(struct agent_unit *unit, const struct space *space, const struct regs *regs,
		  const struct agent_probe *probe, uint64_t word, bool is_stub)
{
	if (!probe || !probe->site || ring_drain_would_wait(space, regs, probe->site->plan) ||
	    (!is_stub && !is_return_address(unit->agent, space, word)))
		return false;
	unit_learn(unit, word, is_stub);
	return true;
}

/*
 * Returns false if the stack of the call, which is to be in its record, is one that the code in the
 * process cannot tell.
 */
static bool teach(const struct agent_unit *unit, struct thread *thread, const struct regs *regs)
{
	const struct engine_events *events = unit->agent->events;

	return !unit->lines || !events->teach_stack ||
	       events->teach_stack(events->context, thread, regs);
}

bool agent_redirect(struct hook *hook, struct thread *thread, struct regs *regs)
{
	struct agent_unit *unit = hook->context;
	const struct space *space = thread->process->space;
	uint64_t number = (regs->pc - unit_probe_stub(unit, 0)) / AGENT_PROBE_STUB;
	const struct agent_probe *probe = number < unit->probes_used ? unit->probes[number] : NULL;
	uint64_t word;

	if (!space->agent || !probe ||
	    !memory_read_word(&space->memory, regs->r[REG_SP], sizeof word, &word))
		return false;
	bool is_stub = agent_is_stub(space->agent, word);
	bool known = unit_is_return_stub(unit, word) || unit_knows(unit, word, is_stub);

	/*
	 * Another thread may just have made the unit accept the address. If it was accepted before,
	 * no return trampoline was free, which happens to each call of a deep recursion: do not try
	 * again, as a stop is the most expensive part.
	 */
	bool helped = known && unit->agent->records && ring_drain_help(unit->agent, thread, regs);
	uint64_t mark = ring_drain_mark(thread, regs->r[REG_SP]);
	bool tried = known && !helped &&
		     (thread->agent->sent_again == mark ||
		      !return_trampoline_is_there(space, unit, regs->r[REG_SP],
						  unit_is_return_stub(unit, word)));

	if (tried || (!known && !learn(unit, space, regs, probe, word, is_stub)) ||
	    (!helped && !teach(unit, thread, regs)))
		return is_stub && pass(unit, thread, regs, (uint32_t)number, word);
	thread->agent->sent_again = mark;
	regs->pc = probe_entered(probe);
	return true;
}

bool agent_redirect_return(struct hook *hook, struct thread *thread, struct regs *regs)
{
	struct agent_unit *unit = hook->context;

	if (!thread->process->space->agent)
		return false;
	bool helped = ring_drain_help(unit->agent, thread, regs);
	uint64_t mark = ring_drain_mark(thread, regs->r[REG_SP] | 1);

	if (helped ||
	    (thread->agent->sent_again != mark && thread->process->space->references == 1)) {
		thread->agent->sent_again = mark;
		regs->pc = unit->base + AGENT_RECORD_RETURN;
		return true;
	}
	return_addresses_give_up(unit, thread, regs);
	return false;
}

bool agent_has_chosen(const struct thread *thread, uint64_t place)
{
	const struct agent_space *own = thread->process->space->agent;

	return own && own->rings && rings_take_chosen(own->rings, thread->tid, place);
}

/* ------------------------------------------------------------------ counts */

static void collect_one(struct agent_probe *probe, const struct unit_count *now, double ns,
			agent_counted *counted, void *context)
{
	struct vec buckets = VEC_OF(struct record_bucket);

	/* The program may have written over the counters. */
	if (now->calls < probe->calls || now->time < probe->time)
		return;
	buckets_collect(probe->unit, probe->number, ns, &buckets);
	const struct agent_count count = {
		.calls = now->calls - probe->calls,
		.time = (uint64_t)((double)(now->time - probe->time) * ns),
		.buckets = buckets.items,
		.bucket_count = buckets.count};

	if (probe->site && (count.calls || now->time != probe->time || buckets.count))
		counted(context, probe->site, &count);
	vec_deinit(&buckets);
	probe->calls = now->calls;
	probe->time = now->time;
}

void agent_collect(struct agent *agent, struct space *space, agent_counted *counted, void *context)
{
	if (!agent || agent->records || !space->agent || !space->agent->probes.count)
		return;
	double ns = agent_ns(agent);

	for (size_t i = 0; i < space->agent->units.count; i++) {
		const struct agent_unit *unit = *(struct agent_unit **)vec_at(&space->agent->units,
									      i);
		struct unit_count *counts = unit_counts(unit);

		for (uint32_t k = 0; k < unit->probes_used; k++)
			if (unit->probes[k] && unit->probes[k]->site)
				collect_one(unit->probes[k], &counts[k], ns, counted, context);
		free(counts);
	}
}

/* ------------------------------------------------------------------ unmapped libraries */

static void forget_candidates(struct agent_space *own, uint64_t low, uint64_t high)
{
	for (size_t i = own->candidates.count; i-- > 0;) {
		const struct patch_candidate *candidate = vec_at(&own->candidates, i);

		if (candidate->address >= low && candidate->address < high)
			vec_remove_fast(&own->candidates, i);
	}
}

static void forget_asking(struct agent_space *own, uint64_t low, uint64_t high)
{
	struct vec gone = VEC_OF(uint64_t);
	size_t cursor = 0;
	uint64_t address;
	void *value;

	while (map_next(&own->asking, &cursor, &address, &value))
		if (address >= low && address < high)
			vec_push(&gone, &address);
	for (size_t i = 0; i < gone.count; i++)
		map_remove(&own->asking, *(uint64_t *)vec_at(&gone, i));
	vec_deinit(&gone);
}

/* The number is not free yet: a return trampoline may still refer to it. */
static void drop(struct space *space, struct agent_probe *probe)
{
	map_remove(&space->agent->probes, probe->address);
	journal_forget(space->journal, probe->journal);
	trap_unplant(space, unit_probe_stub(probe->unit, probe->number) + AGENT_PROBE_BREAKPOINT);
	if (probe->jump.length < AGENT_JUMP)
		island_free(space->agent, probe->address);
	probe->unit->probes[probe->number] = NULL;
	probe->unit->dropped++;
	free(probe);
}

void agent_forget(struct space *space, uint64_t low, uint64_t high)
{
	struct agent_space *own = space->agent;
	struct vec gone = VEC_OF(struct agent_probe *);
	size_t cursor = 0;
	void *value;

	if (!own)
		return;
	forget_candidates(own, low, high);
	forget_asking(own, low, high);
	stack_rules_forget(space);
	for (size_t i = 0; i < own->units.count; i++)
		unit_unlearn(*(struct agent_unit **)vec_at(&own->units, i), low, high);
	while (map_next(&own->probes, &cursor, NULL, &value)) {
		struct agent_probe *probe = value;

		if (probe->address >= low && probe->address < high)
			vec_push(&gone, &probe);
	}
	for (size_t i = 0; i < gone.count; i++)
		drop(space, *(struct agent_probe **)vec_at(&gone, i));
	unwinding_forget(space, low, high);
	vec_deinit(&gone);
}

/* ------------------------------------------------------------------ fork */

/* The candidate counts in agent_probes() as the parent's, whatever becomes of it in the child. */
static void inherit(struct agent_space *own, const struct patch_candidate *candidate)
{
	struct patch_candidate copy = *candidate;

	copy.was_granted = true;
	vec_push(&own->candidates, &copy);
}

void agent_fork(struct space *child, const struct space *parent)
{
	size_t cursor = 0;
	uint64_t address;
	void *value;

	if (!parent->agent)
		return;
	struct agent_space *own = agent_space_of(child);

	child->kernel_code = parent->kernel_code;
	own->unwinding.unwinder = parent->agent->unwinding.unwinder;
	own->unwinding.cfa_offset = parent->agent->unwinding.cfa_offset;
	own->refused = parent->agent->refused;
	own->due = clock_now() + CHILDHOOD_NS;
	for (size_t i = 0; i < parent->agent->candidates.count; i++)
		inherit(own, vec_at(&parent->agent->candidates, i));
	while (map_next(&parent->agent->probes, &cursor, NULL, &value))
		inherit(own, &((struct agent_probe *)value)->candidate);
	cursor = 0;
	while (map_next(&parent->agent->asking, &cursor, &address, &value))
		map_put(&own->asking, address, own);
}

static void hand_over_one(struct thread *thread, void *context)
{
	if (thread->state == THREAD_STOPPED)
		agent_hand_over(context, thread);
}

/* Calls on stacks that no thread is on still return by their trampolines. */
static void withdraw(struct agent *agent, struct thread *thread)
{
	struct space *space = thread->process->space;
	size_t cursor = 0;
	void *value;

	agent_stop_others(thread); /* a thread that does not stop is in the kernel */
	space_each_thread(thread->process->tracees, space, hand_over_one, agent);
	agent_undo_jumps(space, true);
	while (map_next(&space->agent->probes, &cursor, NULL, &value)) {
		struct agent_probe *probe = value;

		probe->journal = JOURNAL_NO_ENTRY;
		candidate_plant(agent->trap, thread, &probe->candidate);
		agent_decide(agent, probe->site, space->agent->refused);
	}
}

void agent_refuse(struct agent *agent, struct thread *thread, const char *reason)
{
	const struct agent_space *own = agent_space_of(thread->process->space);
	size_t cursor = 0;
	void *value;

	while (!own->refused && map_next(&own->probes, &cursor, NULL, &value)) {
		struct agent_probe *probe = value;

		agent->probes -= probe->is_counted;
		probe->is_counted = false;
	}
	agent_withdraw(agent, thread, reason);
}

void agent_withdraw(struct agent *agent, struct thread *thread, const char *reason)
{
	struct agent_space *own = agent_space_of(thread->process->space);

	if (own->refused)
		return;
	own->refused = reason;
	for (size_t i = 0; i < own->candidates.count; i++)
		agent_decide(agent, ((struct patch_candidate *)vec_at(&own->candidates, i))->site,
			     reason);
	vec_clear(&own->candidates);
	if (own->units.count)
		withdraw(agent, thread);
}

void agent_thread_born(struct agent *agent, struct thread *thread)
{
	if (ring_drain_has_known_base(thread))
		agent_refuse(agent, thread, AGENT_ALIKE);
}

void agent_settle(struct agent *agent, struct thread *thread)
{
	struct space *space = thread->process->space;
	struct agent_space *own = space->agent;

	if (!own || own->units.count)
		return;
	agent_restore_returns(space);
	agent_undo_jumps(space, true);
	return_addresses_take_over(agent, thread);
	const bool gathers = space_has_only(thread) && memory_batch_begin(space);

	for (size_t i = 0; i < own->candidates.count; i++)
		candidate_plant(agent->trap, thread, vec_at(&own->candidates, i));
	if (gathers)
		memory_batch_end(space);
	if (own->refused || thread->process->silent)
		vec_clear(&own->candidates);
}
