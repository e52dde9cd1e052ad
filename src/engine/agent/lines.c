/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records that a process has made of its calls become those of the trace.
 *
 * They are fetched before any stop is served, and every few ms besides, in the order of their
 * times, and told to the trap engine (engine/trap/told.h), which keeps all pending calls of a
 * thread. A thread that lacks something (a ring, room in it) runs into a breakpoint; it is given
 * that and sent back to try again.
 *
 * Where nothing helps at a return (its thread has no ring: a child in the same memory runs, whose
 * records could not be told from its parent's), the true return address gets a breakpoint, and the
 * thread goes on there without a record: the trap engine sees the return.
 */
#include "engine/agent/private.h"
#include "engine/agent/rings.h"
#include "engine/trap/told.h"

#include "inferior/journal.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How the process's clock is read. */
struct clocks {
	struct agent_moment now;
	double ns; /* of a unit of the clock */
};

static struct clocks read_clocks(const struct agent *agent)
{
	struct clocks clocks;

	clocks.now = agent_now_measured(agent, &clocks.ns);
	return clocks;
}

/*
 * A reading of the clock, as ns before that moment. What lies behind it, or too far back, was not
 * written by us.
 */
static uint64_t ago(const struct clocks *clocks, uint64_t reading)
{
	uint64_t most = clocks->now.time < clocks->now.epoch ? clocks->now.time : clocks->now.epoch;

	if (reading >= clocks->now.clock)
		return 0;
	double ns = (double)(clocks->now.clock - reading) * clocks->ns;

	return ns < (double)most ? (uint64_t)ns : most;
}

/* ------------------------------------------------------------------ one record */

static const struct agent_unit *unit_of(const struct space *space, size_t number)
{
	const struct vec *units = &space->agent->units;

	return number < units->count ? *(struct agent_unit **)vec_at(units, number) : NULL;
}

static void tell(struct agent *agent, struct thread *thread, const struct clocks *clocks,
		 const struct ring_record *head, struct record *record)
{
	const struct agent_unit *unit = unit_of(thread->process->space, head->unit);
	const struct agent_probe *probe = unit && head->probe < unit->probes_used
						  ? unit->probes[head->probe]
						  : NULL;

	if (!probe || !probe->site || head->slot >= AGENT_SLOT_COUNT)
		return;
	uint64_t ns = ago(clocks, head->time);
	const struct told told = {.site = probe->site,
				  .entry = probe->wish.breakpoint,
				  .place = head->place,
				  .stub = unit->base + AGENT_RETURN_STUBS +
					  (uint64_t)head->slot * AGENT_RETURN_STUB,
				  .return_address = head->return_address,
				  .moment = clocks->now.time,
				  .time = clocks->now.epoch - ns,
				  .clock = clocks->now.time - ns};

	if (record->kind == RECORD_CALL)
		trap_told_call(agent->trap, thread, &told, record);
	else
		trap_told_return(agent->trap, thread, &told, record);
}

/* ------------------------------------------------------------------ all of them */

static struct space *space_at(const struct agent *agent, size_t i)
{
	return *(struct space **)vec_at(&agent->spaces, i);
}

/* The space whose next record is the oldest of all. */
static struct space *find_oldest(const struct agent *agent, struct ring **ring, uint64_t *time)
{
	struct space *found = NULL;

	*time = UINT64_MAX;
	for (size_t i = 0; i < agent->spaces.count; i++) {
		struct space *space = space_at(agent, i);
		uint64_t its;
		struct ring *oldest = rings_oldest(space->agent->rings, &its);

		if (!oldest || its >= *time)
			continue;
		found = space;
		*ring = oldest;
		*time = its;
	}
	return found;
}

static void each_rings(const struct agent *agent, void (*what)(struct rings *))
{
	for (size_t i = 0; i < agent->spaces.count; i++)
		what(space_at(agent, i)->agent->rings);
}

static unsigned find_fullest(const struct agent *agent)
{
	uint64_t most = 0;

	for (size_t i = 0; i < agent->spaces.count; i++) {
		const struct space *space = space_at(agent, i);
		uint64_t bytes = rings_fullest(space->agent->rings);

		most = bytes > most ? bytes : most;
	}
	return (unsigned)((most * AGENT_FULL + AGENT_RING_BYTES - 1) / AGENT_RING_BYTES);
}

/* A thread that waits for memory on our behalf is to be stopped, and to go on without that. */
static void interrupt_stuck(struct inferior *inferior, struct space *space, uint64_t now)
{
	pid_t tid;

	while ((tid = rings_stuck(space->agent->rings, now)) != 0) {
		const struct thread *thread = inferior_thread(inferior, tid);

		if (thread && thread->state == THREAD_RUNNING)
			pt_interrupt(tid);
	}
}

/*
 * Of what is that young it is not known whether all is seen: that a thread makes a record is seen a
 * moment after it has read the clock for that, as its stores wait for what was stored before.
 */
enum { UNSETTLED_NS = 2000 };

static uint64_t settled(const struct clocks *clocks)
{
	const uint64_t young = clocks->ns > 0 ? (uint64_t)(UNSETTLED_NS / clocks->ns) : 0;

	return clocks->now.clock > young ? clocks->now.clock - young : 0;
}

/* The clock at the stop that is being served, or now. */
static uint64_t event_of(const struct inferior *inferior, const struct clocks *clocks)
{
	const uint64_t event = inferior_event_clock(inferior);
	const uint64_t ns = event < clocks->now.time ? clocks->now.time - event : 0;
	const uint64_t ago = clocks->ns > 0 ? (uint64_t)((double)ns / clocks->ns) : 0;

	return ago < clocks->now.clock ? clocks->now.clock - ago : 0;
}

/* Up to which time records can be told now, so that they are in order; `tid`: due to whom. */
static uint64_t time_of_order(const struct agent *agent, uint64_t until, pid_t *tid)
{
	for (size_t i = 0; i < agent->spaces.count; i++) {
		pid_t its = 0;
		const uint64_t floor = rings_floor(space_at(agent, i)->agent->rings, &its);

		if (floor >= until)
			continue;
		until = floor;
		*tid = its;
	}
	return until;
}

static void look_at_all(const struct agent *agent, struct inferior *inferior,
			const struct clocks *clocks)
{
	for (size_t i = 0; i < agent->spaces.count; i++) {
		struct space *space = space_at(agent, i);

		rings_look(space->agent->rings, clocks->now.clock, clocks->now.time);
		interrupt_stuck(inferior, space, clocks->now.time);
	}
}

/*
 * A stop is to be served, and a thread is kept from running in the middle of a record, so that the
 * record may come in its place: it is given the processor first, and some time, as that may be one
 * that another program has, or the machine's host. Not again if that has been in vain.
 */
enum { TURNS = 10, NAP_NS = 50000, PATIENCE_NS = 20000000 };

/* By itself: it stands at no stop that is to be served. */
static bool goes_on(const struct inferior *inferior, pid_t tid)
{
	const struct thread *thread = inferior_thread(inferior, tid);

	return thread && thread->state == THREAD_RUNNING && !strchr("tTZX?", proc_state(tid));
}

static void wait_for_order(struct agent *agent, struct inferior *inferior,
			   const struct clocks *clocks, uint64_t newest)
{
	pid_t tid = 0;
	uint64_t held = time_of_order(agent, newest, &tid);

	for (int i = 0; held < newest && held != agent->given_up; i++) {
		if (i < TURNS)
			sched_yield();
		else if (inferior_clock() - clocks->now.time < PATIENCE_NS &&
			 goes_on(inferior, tid))
			nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
		else
			agent->given_up = held;
		look_at_all(agent, inferior, clocks);
		held = time_of_order(agent, newest, &tid);
	}
}

unsigned agent_fetch(struct agent *agent, struct inferior *inferior, bool in_order)
{
	struct record *record;
	struct ring_record head;
	struct ring *ring = NULL;
	pid_t tid;
	uint64_t time;

	if (!agent || !agent->spaces.count)
		return 0;
	const struct clocks clocks = read_clocks(agent);
	struct space *space;

	const uint64_t newest = in_order ? settled(&clocks) : event_of(inferior, &clocks);

	look_at_all(agent, inferior, &clocks);
	if (!in_order)
		wait_for_order(agent, inferior, &clocks, newest);
	unsigned full = find_fullest(agent);
	const uint64_t until = in_order ? time_of_order(agent, newest, &tid) : newest;

	record = (struct record *)(void *)agent->buffer;
	while ((space = find_oldest(agent, &ring, &time)) && time <= until) {
		struct thread *thread = inferior_thread(inferior, ring_tid(ring));

		if (rings_take(space->agent->rings, ring, &head, record) && thread &&
		    thread->process->space == space)
			tell(agent, thread, &clocks, &head, record);
	}
	each_rings(agent, rings_release);
	/* What is held back is not there sooner by looking again at once. */
	return until < newest && full > AGENT_AT_ONCE ? AGENT_AT_ONCE : full;
}

bool agent_has_rings(const struct agent *agent)
{
	return agent && agent->spaces.count;
}

uint64_t agent_lost(const struct agent *agent)
{
	uint64_t lost = agent->lost;

	for (size_t i = 0; i < agent->spaces.count; i++)
		lost += rings_damaged(space_at(agent, i)->agent->rings);
	return lost;
}

uint64_t agent_dropped(const struct agent *agent)
{
	uint64_t dropped = agent->dropped;

	for (size_t i = 0; i < agent->spaces.count; i++)
		dropped += rings_dropped(space_at(agent, i)->agent->rings);
	return dropped;
}

/* ------------------------------------------------------------------ rings of a space */

int lines_prepare(struct agent *agent, struct thread *thread, const struct agent_unit *unit)
{
	struct space *space = thread->process->space;
	struct agent_space *own = space->agent;
	const uint64_t number = own->units.count;
	int error = 0;

	own->agent = agent;
	if (number > UINT16_MAX)
		return -ENOSPC;
	if (!own->rings) {
		error = rings_create(thread, unit->base + AGENT_SLOTS, unit->base, &own->rings);
		if (!error)
			vec_push(&agent->spaces, &space);
	}
	if (error)
		return error;
	uint64_t words[4] = {rings_address(own->rings), number, true, agent->lossy};

	return space_write(space, unit->base + AGENT_PLANS, words, sizeof words);
}

void lines_space_gone(struct space *space)
{
	struct agent *agent = space->agent->agent;

	if (!space->agent->rings)
		return;
	for (size_t i = agent->spaces.count; i-- > 0;)
		if (space_at(agent, i) == space)
			vec_remove(&agent->spaces, i);
	agent->lost += rings_damaged(space->agent->rings);
	agent->dropped += rings_dropped(space->agent->rings);
	rings_destroy(space->agent->rings);
	space->agent->rings = NULL;
}

/*
 * Fetches all, and of a thread that is stopped also what seems to lie ahead, where processors'
 * clocks differ a little.
 */
static void fetch_whole(struct agent *agent, struct thread *thread, struct rings *rings)
{
	struct record *record = (struct record *)(void *)agent->buffer;
	struct ring *ring = rings_of_thread(rings, thread->tid);

	agent_fetch(agent, thread->process->inferior, false);
	if (!ring || !ring_has_record(ring))
		return;
	const struct clocks clocks = read_clocks(agent);
	struct ring_record head;

	while (ring_has_record(ring))
		if (rings_take(rings, ring, &head, record))
			tell(agent, thread, &clocks, &head, record);
	rings_release(rings);
}

/* It runs no more: who is made next may get its fs base, and must not find its ring. */
void agent_thread_gone(struct agent *agent, struct thread *thread)
{
	struct space *space = thread->process->space;

	if (!agent || !space || !space->agent)
		return;
	unwinding_thread_gone(space, thread->tid);
	if (!space->agent->rings)
		return;
	fetch_whole(agent, thread, space->agent->rings);
	rings_unbind(space->agent->rings, thread->tid);
}

void agent_shared(struct space *space)
{
	if (!space->agent)
		return;
	unwinding_turn_off(space);
	if (space->agent->rings)
		rings_close(space->agent->rings);
}

/* ------------------------------------------------------------------ who lacks something */

bool lines_help(struct agent *agent, struct thread *thread, const struct regs *regs)
{
	const struct space *space = thread->process->space;
	struct rings *rings = space->agent->rings;

	if (!rings)
		return false;
	fetch_whole(agent, thread, rings);
	if (space->references != 1)
		return false;
	if (rings_bind(rings, thread->tid, regs->fs_base))
		return true;
	/*
	 * Where many threads are made at once, each of them comes here with each of its calls, and
	 * hardly any to another stop. Should we die while this one makes calls for us, it goes on
	 * behind our breakpoint, as it may.
	 */
	if (!rings_lack(rings) || !thread_is_clean_stop(thread))
		return false;
	rings_grow(rings, thread);
	return rings_bind(rings, thread->tid, regs->fs_base);
}

bool agent_lacks_rings(const struct space *space)
{
	return space->agent && space->agent->rings && rings_lack(space->agent->rings);
}

bool agent_lacks_any_rings(const struct agent *agent)
{
	bool lacks = false;

	for (size_t i = 0; i < agent->spaces.count; i++)
		lacks |= agent_lacks_rings(space_at(agent, i));
	return lacks;
}

void agent_add_rings(struct thread *thread)
{
	const struct space *space = thread->process->space;

	if (agent_lacks_rings(space))
		rings_grow(space->agent->rings, thread);
}

/*
 * What an operation reads memory by is a parameter in a register, there or kept from there, and
 * points to what does not come.
 */
static bool is_stuck(const struct space *space, const struct regs *regs,
		     const struct capture_plan *plan, const struct capture_op *op)
{
	unsigned place = op->place, index = op->index;

	if (op->kind == CAPTURE_WORD || op->kind == CAPTURE_FLOAT)
		return false;
	if (place == PLACE_SAVED && index < CAPTURE_ARGS_MAX) {
		place = plan->args[index].place;
		index = plan->args[index].index;
	}
	return place == PLACE_GPR && space_is_stuck(space, regs->r[index & 15]);
}

bool lines_would_wait(const struct space *space, const struct regs *regs,
		      const struct capture_plan *plan)
{
	bool stuck = false;

	for (unsigned i = 0; plan && i < plan->entry_count && !stuck; i++)
		stuck = is_stuck(space, regs, plan, &plan->entry[i]);
	for (unsigned i = 0; plan && i < plan->exit_count && !stuck; i++)
		stuck = is_stuck(space, regs, plan, &plan->exit[i]);
	/* Lengths that parameters point to. */
	for (unsigned i = 0; plan && i < plan->arg_count && !stuck; i++)
		stuck = plan->pointed[i] && plan->args[i].place == PLACE_GPR &&
			space_is_stuck(space, regs->r[plan->args[i].index & 15]);
	return stuck;
}

uint64_t lines_mark(const struct thread *thread, uint64_t place)
{
	const struct rings *rings = thread->process->space->agent->rings;

	return place ^ (rings ? rings_head(rings, thread->tid) << 32 : 0);
}

bool lines_redirect_return(struct hook *hook, struct thread *thread, struct regs *regs)
{
	struct agent_unit *unit =
		(struct agent_unit *)(void *)((char *)hook - offsetof(struct agent_unit, full));

	if (!thread->process->space->agent)
		return false;
	bool helped = lines_help(unit->agent, thread, regs);
	uint64_t mark = lines_mark(thread, regs->r[REG_SP] | 1);

	if (helped || (thread->sent_again != mark && thread->process->space->references == 1)) {
		thread->sent_again = mark;
		regs->pc = unit->base + AGENT_RECORD_RETURN;
		return true;
	}
	returns_give_up(unit, thread, regs);
	return false;
}

/* ------------------------------------------------------------------ other threads and processes */

void agent_thread_made(const struct agent *agent, const struct thread *maker, struct thread *made)
{
	struct regs regs;

	if (agent && agent->records && regs_load(maker->tid, &regs) == 0)
		made->maker_base = regs.fs_base;
}

void agent_thread_born(struct agent *agent, struct thread *thread)
{
	const struct space *space = thread->process->space;
	struct regs regs;

	if (space && space->agent && space->agent->rings && regs_load(thread->tid, &regs) == 0 &&
	    ((regs.fs_base && regs.fs_base == thread->maker_base) ||
	     rings_have(space->agent->rings, thread->tid, regs.fs_base)))
		agent_refuse(agent, thread, AGENT_ALIKE);
}

static void note_base(struct thread *thread, void *context)
{
	struct regs regs;

	if (thread->state == THREAD_STOPPED && regs_load(thread->tid, &regs) == 0 && regs.fs_base)
		vec_push(context, &regs.fs_base);
}

static int compare_bases(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

bool lines_share_bases(const struct thread *thread)
{
	struct vec bases = VEC_OF(uint64_t);
	bool shared = false;

	process_each_thread(thread->process, note_base, &bases);
	if (bases.count)
		qsort(bases.items, bases.count, sizeof(uint64_t), compare_bases);
	for (size_t i = 1; i < bases.count; i++)
		shared |= *(uint64_t *)vec_at(&bases, i) == *(uint64_t *)vec_at(&bases, i - 1);
	vec_deinit(&bases);
	return shared;
}

static void note_told(void *context, const struct call *call)
{
	if (call->in_process)
		vec_push(context, call);
}

void lines_take_over(struct agent *agent, struct thread *thread)
{
	const struct memory_source *memory = &thread->process->space->memory;
	struct vec told = VEC_OF(struct call);
	uint64_t word;

	if (thread->calls)
		callstacks_each(thread->calls, note_told, &told);
	for (size_t i = 0; i < told.count; i++) {
		const struct call *call = vec_at(&told, i);

		if (memory_read_word(memory, call->slot, sizeof word, &word))
			returns_untold(agent, thread, call->slot, call->return_address, word);
	}
	vec_deinit(&told);
}

void agent_turn_off(struct space *space)
{
	static const uint64_t off;

	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (agent_is_unit(entry) &&
		    journal_has_mapping(space->journal, entry->address + AGENT_PLANS))
			space_write(space, entry->address + AGENT_PLANS + AGENT_ON, &off,
				    sizeof off);
	}
}
