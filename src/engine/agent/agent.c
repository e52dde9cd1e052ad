/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's probes in a space: what was counted, what becomes of them when libraries go, at fork,
 * at the end.
 *
 * A probe's stub has a breakpoint, planted like any other: who hits it could not be dealt with
 * inside, since it is not known whether its return address is one, or as there is no slot for it.
 * The tracer looks, and mostly can tell: then the address is noted as good, and the thread goes
 * through the stub once more; from then on calls from there do not stop. Otherwise the breakpoint's
 * probe makes a record of the call, like the trap engine's.
 */
#include "engine/agent/private.h"
#include "engine/agent/rings.h"

#include "base/xalloc.h"
#include "engine/trap/pending.h"
#include "inferior/gather.h"
#include "inferior/journal.h"
#include "inferior/ptrace.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Most children exec soon: by then what would have been installed would be gone. */
enum { STOP_MS = 1000, CHILDHOOD_NS = 20000000 };

struct agent *agent_create(struct trap *trap, const struct engine_events *events,
			   agent_decided *decided, agent_function_around *around,
			   agent_points_into *points_into, const struct agent_options *options)
{
	const struct agent_arch *host = arch_x86_64.agent;

	if (!host || (options->records && !host->can_tell_threads()))
		return NULL;
	struct agent *agent = xcalloc(1, sizeof *agent);

	agent->trap = trap;
	agent->events = events;
	agent->decided = decided;
	agent->around = around;
	agent->points_into = points_into;
	agent->records = options->records;
	agent->lossy = options->lossy;
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

struct agent_space *agent_space_of(struct space *space)
{
	if (!space->agent) {
		space->agent = xcalloc(1, sizeof *space->agent);
		vec_init(&space->agent->wishes, sizeof(struct agent_wish));
		vec_init(&space->agent->units, sizeof(struct agent_unit *));
	}
	return space->agent;
}

void agent_decide(const struct agent *agent, const struct probe_site *site, const char *reason)
{
	if (site)
		agent->decided(agent->events->context, site, reason);
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
	lines_space_gone(space);
	pending_forget_words(space); /* they are in the memory of its units */
	for (size_t i = 0; i < own->units.count; i++)
		unit_destroy(*(struct agent_unit **)vec_at(&own->units, i));
	vec_deinit(&own->units);
	vec_deinit(&own->wishes);
	detours_deinit(own);
	free(own->look.held);
	map_deinit(&own->probes);
	map_deinit(&own->asking);
	free(own);
	space->agent = NULL;
}

/* ------------------------------------------------------------------ at the stub's breakpoint */

bool agent_is_stub(const struct agent_space *own, uint64_t address)
{
	for (size_t i = 0; i < own->units.count; i++)
		if (unit_is_return_stub(*(struct agent_unit **)vec_at(&own->units, i), address))
			return true;
	return false;
}

/*
 * Whether a word is a return address that may be replaced: behind an instruction that calls, of
 * code in a module that unwinders know how to walk through.
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
 * What was jumped to by what is caught inside cannot be: its time is part of the other one's. A
 * count is all there is of it, or the trap engine makes a record.
 */
static bool pass(struct agent_unit *unit, struct thread *thread, struct regs *regs, uint32_t number,
		 uint64_t stub)
{
	if (unit->agent->records) {
		agent_show_caller(unit->agent, thread, regs->r[REG_SP], stub);
		return false;
	}
	unit_add_call(unit, number);
	regs->pc = unit_probe_stub(unit, number) + AGENT_PROBE_DISPLACED;
	return true;
}

/* Whether calls that return to `word` can be caught inside from now on. */
static bool learn(struct agent_unit *unit, const struct space *space, const struct regs *regs,
		  const struct agent_probe *probe, uint64_t word, bool is_stub)
{
	if (!probe || !probe->site || lines_would_wait(space, regs, probe->site->plan) ||
	    (!is_stub && !is_return_address(unit->agent, space, word)))
		return false;
	unit_learn(unit, word, is_stub);
	return true;
}

bool agent_redirect(struct hook *hook, struct thread *thread, struct regs *regs)
{
	struct agent_unit *unit = (struct agent_unit *)(void *)hook;
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
	 * It may have become known only now, by another thread. If it was, there is no slot for it,
	 * which deep recursion gets to call by call: that is not tried again, as a stop is what
	 * costs most.
	 */
	bool helped = known && unit->agent->records && lines_help(unit->agent, thread, regs);
	uint64_t mark = lines_mark(thread, regs->r[REG_SP]);
	bool tried = known && !helped &&
		     (thread->sent_again == mark ||
		      !return_slot_is_there(space, unit, regs->r[REG_SP],
					    unit_is_return_stub(unit, word)));

	if (tried || (!known && !learn(unit, space, regs, probe, word, is_stub)))
		return is_stub && pass(unit, thread, regs, (uint32_t)number, word);
	thread->sent_again = mark;
	regs->pc = probe_entered(probe);
	return true;
}

/* ------------------------------------------------------------------ signals */

struct agent_unit *agent_unit_at(const struct agent_space *own, uint64_t pc)
{
	for (size_t i = 0; i < own->units.count; i++) {
		struct agent_unit *unit = *(struct agent_unit **)vec_at(&own->units, i);

		if (pc - unit->base < AGENT_TEXT_BYTES)
			return unit;
	}
	return NULL;
}

/* Where the breakpoint of a probe's stub has been run into, that is its end, too. */
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

/* A thread in a unit's code that is to be let run out of it. */
struct running_out {
	const struct agent_unit *unit;
	const struct space *space;
};

/* Until it is out again it is in the vDSO only to read the clock for us. */
static bool is_inside(const void *context, uint64_t pc)
{
	const struct running_out *running = context;
	const struct agent_unit *unit = running->unit;

	if (space_has_kernel_code(running->space, pc))
		return true;
	return pc - unit->base < AGENT_TEXT_BYTES && !is_behind_breakpoint(unit, pc) &&
	       !is_full(unit, pc);
}

/* In the code proper, which ends at its exits, or at the breakpoint of is_full(). */
static bool leads_to_exit(const void *context, uint64_t pc)
{
	const struct agent_unit *unit = ((const struct running_out *)context)->unit;

	return pc - unit->base < AGENT_CODE_BYTES && !is_full(unit, pc);
}

static void run_out(struct thread *thread, const struct agent_unit *unit)
{
	const struct space *space = thread->process->space;
	const struct running_out running = {unit, space};
	struct trap_code code = {
		.inside = is_inside, .context = &running, .leads_to_exit = leads_to_exit};
	const uint8_t *exits = space->arch->agent->code + AGENT_EXITS +
			       (unit->agent->records ? AGENT_EXIT_COUNT * sizeof(uint32_t) : 0);
	uint32_t offset;

	for (size_t i = 0; i < AGENT_EXIT_COUNT; i++) {
		memcpy(&offset, exits + i * sizeof offset, sizeof offset);
		code.exits[i] = unit->base + offset;
	}
	trap_step_out(thread, &code);
}

/* The unit whose code a thread runs, or the vDSO on behalf of it. */
static struct agent_unit *unit_running(const struct space *space, const struct regs *regs)
{
	struct agent_unit *unit = agent_unit_at(space->agent, regs->pc);

	return unit ? unit : agent_unit_at(space->agent, clock_reader(space, regs));
}

/*
 * A handler must not see a pc in our code, nor return there. At a breakpoint the call is as if not
 * made yet.
 */
void agent_before_signal(struct thread *thread)
{
	const struct agent_space *own = thread->process->space ? thread->process->space->agent
							       : NULL;
	struct regs regs;

	if (!own || !own->units.count || regs_load(thread->tid, &regs) != 0 ||
	    detour_leave(thread, &regs))
		return;
	struct agent_unit *unit = unit_running(thread->process->space, &regs);

	if (!unit || guards_leave(thread, &regs))
		return;
	const uint64_t before = regs.pc;

	/*
	 * There at first, the call has been dealt with; the trap of its breakpoint is no signal of
	 * the program's.
	 */
	run_out(thread, unit);
	if (regs_load(thread->tid, &regs) == 0 && regs.pc != before && is_full(unit, regs.pc)) {
		/* The return is the trap engine's; what is behind the breakpoint leads there. */
		returns_give_up(unit, thread, &regs);
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
 * The probe at whose stub's beginning, or detour, the thread has come by a single step, not by
 * anything of ours.
 */
static const struct agent_probe *stepped_to(const struct thread *thread, struct regs *regs)
{
	const struct agent_space *own = thread->process->space ? thread->process->space->agent
							       : NULL;
	siginfo_t info;

	if (!own || !own->units.count || pt_get_siginfo(thread->tid, &info) != 0 ||
	    info.si_code != TRAP_TRACE || regs_load(thread->tid, regs) != 0)
		return NULL;
	const struct agent_probe *detoured = detour_probe(own, regs->pc);

	if (detoured)
		return detoured;
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

/* ------------------------------------------------------------------ counts */

static void collect_one(struct agent_probe *probe, const struct unit_count *count, double ns,
			agent_counted *counted, void *context)
{
	/* The program can write there, too. */
	if (count->calls < probe->calls || count->time < probe->time)
		return;
	if (probe->site && (count->calls != probe->calls || count->time != probe->time))
		counted(context, probe->site, count->calls - probe->calls,
			(uint64_t)((double)(count->time - probe->time) * ns));
	probe->calls = count->calls;
	probe->time = count->time;
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

/* ------------------------------------------------------------------ libraries go */

static void forget_wishes(struct agent_space *own, uint64_t low, uint64_t high)
{
	for (size_t i = own->wishes.count; i-- > 0;) {
		const struct agent_wish *wish = vec_at(&own->wishes, i);

		if (wish->address >= low && wish->address < high)
			vec_remove_fast(&own->wishes, i);
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

/* Its number stays: a call that was left may still have a slot. */
static void drop(struct space *space, struct agent_probe *probe)
{
	map_remove(&space->agent->probes, probe->address);
	journal_forget(space->journal, probe->journal);
	trap_unplant(space, unit_probe_stub(probe->unit, probe->number) + AGENT_PROBE_BREAKPOINT);
	if (probe->jump.length < AGENT_JUMP)
		detour_free(space->agent, probe->address);
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
	forget_wishes(own, low, high);
	forget_asking(own, low, high);
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

/* It counts where it was planted, whatever becomes of it there. */
static void inherit(struct agent_space *own, const struct agent_wish *wish)
{
	struct agent_wish copy = *wish;

	copy.was_granted = true;
	vec_push(&own->wishes, &copy);
}

void agent_fork(struct space *child, const struct space *parent)
{
	size_t cursor = 0;
	uint64_t address;
	void *value;

	child->has_remains = parent->has_remains;
	if (!parent->agent)
		return;
	struct agent_space *own = agent_space_of(child);

	child->kernel_code = parent->kernel_code;
	own->unwinding.unwinder = parent->agent->unwinding.unwinder;
	own->unwinding.cfa_offset = parent->agent->unwinding.cfa_offset;
	own->refused = parent->agent->refused;
	own->due = inferior_clock() + CHILDHOOD_NS;
	for (size_t i = 0; i < parent->agent->wishes.count; i++)
		inherit(own, vec_at(&parent->agent->wishes, i));
	while (map_next(&parent->agent->probes, &cursor, NULL, &value))
		inherit(own, &((struct agent_probe *)value)->wish);
	cursor = 0;
	while (map_next(&parent->agent->asking, &cursor, &address, &value))
		map_put(&own->asking, address, own);
}

struct stopping {
	const struct thread *except;
	bool all;
};

static void stop_other(struct thread *thread, void *context)
{
	struct stopping *stopping = context;

	if (thread != stopping->except && thread->state == THREAD_RUNNING)
		thread_stop(thread->process->inferior, thread, STOP_MS);
	stopping->all &= thread->state == THREAD_STOPPED;
}

bool agent_stop_others(const struct thread *thread)
{
	struct stopping stopping = {thread, true};

	space_each_thread(thread->process->inferior, thread->process->space, stop_other, &stopping);
	return stopping.all;
}

static void hand_over_one(struct thread *thread, void *context)
{
	if (thread->state == THREAD_STOPPED)
		agent_hand_over(context, thread);
}

/* Calls on stacks that no thread is on go on returning by their stubs. */
static void withdraw(struct agent *agent, struct thread *thread)
{
	struct space *space = thread->process->space;
	size_t cursor = 0;
	void *value;

	agent_stop_others(thread); /* who does not stop sits in the kernel */
	space_each_thread(thread->process->inferior, space, hand_over_one, agent);
	agent_undo_jumps(space, true);
	while (map_next(&space->agent->probes, &cursor, NULL, &value)) {
		struct agent_probe *probe = value;

		probe->journal = JOURNAL_NO_ENTRY;
		wish_plant(agent->trap, thread, &probe->wish);
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
	for (size_t i = 0; i < own->wishes.count; i++)
		agent_decide(agent, ((struct agent_wish *)vec_at(&own->wishes, i))->site, reason);
	vec_clear(&own->wishes);
	if (own->units.count)
		withdraw(agent, thread);
}

void agent_settle(struct agent *agent, struct thread *thread)
{
	struct space *space = thread->process->space;
	struct agent_space *own = space->agent;

	if (!own || own->units.count)
		return;
	agent_restore_returns(space);
	agent_undo_jumps(space, true);
	lines_take_over(agent, thread);
	const bool gathers = space_has_only(thread) && gather_begin(space);

	for (size_t i = 0; i < own->wishes.count; i++)
		wish_plant(agent->trap, thread, vec_at(&own->wishes, i));
	if (gathers)
		gather_end(space);
	if (own->refused || thread->process->silent)
		vec_clear(&own->wishes);
}
