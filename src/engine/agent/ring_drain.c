/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Passes the records that processes have made of their calls to the trace.
 *
 * Rings are drained before any stop is handled, and every few ms, in the order of the records'
 * times. The records are reported to the call tracker (ring_calls.c), and all pending calls of a
 * thread are kept together. A thread that has no ring, or no room in it, runs into a breakpoint;
 * it gets what it lacks and is sent back to try again.
 */
#include "engine/agent/ring_drain.h"

#include "engine/agent/agent_state.h"
#include "engine/agent/clock.h"
#include "engine/agent/ring_calls.h"
#include "engine/agent/rings.h"
#include "engine/agent/script_lines.h"
#include "engine/agent/unit.h"
#include "engine/agent/unwinding.h"
#include "tracee/clock.h"
#include "tracee/journal.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"
#include "tracee/space.h"
#include "tracee/space_memory.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The clocks at one moment, and the rate of the tracees' clock. */
struct clocks {
	struct clock_sample now;
	double ns; /* per unit of agent_clock() */
};

static struct clocks read_clocks(const struct agent *agent)
{
	struct clocks clocks;

	clocks.now = agent_now_measured(agent, &clocks.ns);
	return clocks;
}

/*
 * Converts a reading of the tracees' clock to ns before now. A reading in the future, or too far in
 * the past, is invalid, and is limited.
 */
static uint64_t ago(const struct clocks *clocks, uint64_t reading)
{
	uint64_t most = clocks->now.time < clocks->now.epoch ? clocks->now.time : clocks->now.epoch;

	if (reading >= clocks->now.clock)
		return 0;
	double ns = (double)(clocks->now.clock - reading) * clocks->ns;

	return ns < (double)most ? (uint64_t)ns : most;
}

static void report(struct agent *agent, struct thread *thread, const struct clocks *clocks,
		   const struct ring_record *head, struct record *record)
{
	const uint64_t ns = ago(clocks, head->time);
	const struct ring_moment moment = {.batch = clocks->now.time,
					   .time = clocks->now.time - ns,
					   .wall = clocks->now.epoch - ns};

	ring_calls_report(agent, thread, &moment, head, record);
}

/* ------------------------------------------------------------------ all records */

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

/* Interrupts threads that wait too long for memory in the capture code, to continue without it. */
static void interrupt_stuck(struct tracees *tracees, struct space *space, uint64_t now)
{
	pid_t tid;

	while ((tid = rings_stuck(space->agent->rings, now)) != 0) {
		const struct thread *thread = tracees_thread(tracees, tid);

		if (thread && thread->state == THREAD_RUNNING)
			pt_interrupt(tid);
	}
}

/*
 * The rings may not show yet that a thread makes a record at such a recent time: the store to
 * `busy` becomes visible a moment after the thread has read the clock, behind its earlier stores.
 */
enum { UNSETTLED_NS = 2000 };

static uint64_t settled(const struct clocks *clocks)
{
	const uint64_t young = clocks->ns > 0 ? (uint64_t)(UNSETTLED_NS / clocks->ns) : 0;

	return clocks->now.clock > young ? clocks->now.clock - young : 0;
}

/* The time of the stop that is being handled, or now, as an agent_clock(). */
static uint64_t event_of(const struct tracees *tracees, const struct clocks *clocks)
{
	const uint64_t event = clock_of_event(tracees);
	const uint64_t ns = event < clocks->now.time ? clocks->now.time - event : 0;
	const uint64_t ago = clocks->ns > 0 ? (uint64_t)((double)ns / clocks->ns) : 0;

	return ago < clocks->now.clock ? clocks->now.clock - ago : 0;
}

/* The time up to which records are complete, at most `until`; *tid: the thread that limits it. */
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

static void look_at_all(const struct agent *agent, struct tracees *tracees,
			const struct clocks *clocks)
{
	for (size_t i = 0; i < agent->spaces.count; i++) {
		struct space *space = space_at(agent, i);

		rings_look(space->agent->rings, clocks->now.clock, clocks->now.time);
		interrupt_stuck(tracees, space, clocks->now.time);
	}
}

/*
 * Before a stop is handled: a thread is preempted in the middle of a record that belongs in front
 * of the stop. The thread gets the processor first, and then some time, as another program or the
 * host of the virtual machine may have its processor. If the record is not complete then, the
 * tracer does not wait for it again.
 */
enum { TURNS = 10, NAP_NS = 50000, PATIENCE_NS = 20000000 };

/* Returns true if the thread runs, and does not wait at a stop. */
static bool goes_on(const struct tracees *tracees, pid_t tid)
{
	const struct thread *thread = tracees_thread(tracees, tid);

	return thread && thread->state == THREAD_RUNNING && !strchr("tTZX?", proc_state(tid));
}

static void wait_for_order(struct agent *agent, struct tracees *tracees,
			   const struct clocks *clocks, uint64_t newest)
{
	pid_t tid = 0;
	uint64_t held = time_of_order(agent, newest, &tid);

	for (int i = 0; held < newest && held != agent->given_up; i++) {
		if (i < TURNS)
			sched_yield();
		else if (clock_now() - clocks->now.time < PATIENCE_NS && goes_on(tracees, tid))
			nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
		else
			agent->given_up = held;
		look_at_all(agent, tracees, clocks);
		held = time_of_order(agent, newest, &tid);
	}
}

unsigned agent_drain_rings(struct agent *agent, struct tracees *tracees, bool in_order)
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

	const uint64_t newest = in_order ? settled(&clocks) : event_of(tracees, &clocks);

	look_at_all(agent, tracees, &clocks);
	if (!in_order)
		wait_for_order(agent, tracees, &clocks, newest);
	unsigned full = find_fullest(agent);
	const uint64_t until = in_order ? time_of_order(agent, newest, &tid) : newest;

	record = (struct record *)(void *)agent->buffer;
	while ((space = find_oldest(agent, &ring, &time)) && time <= until) {
		struct thread *thread = tracees_thread(tracees, ring_tid(ring));

		if (rings_take(space->agent->rings, ring, &head, record) && thread &&
		    thread->process->space == space)
			report(agent, thread, &clocks, &head, record);
	}
	each_rings(agent, rings_release);
	/* Records that are held back do not become ready by draining again at once. */
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

int ring_drain_prepare(struct agent *agent, struct thread *thread, struct agent_unit *unit)
{
	struct space *space = thread->process->space;
	struct agent_space *own = space->agent;
	const uint64_t number = own->units.count;
	int error = 0;

	own->agent = agent;
	if (number > UINT16_MAX)
		return -ENOSPC;
	if (!own->rings) {
		error = rings_create(thread, unit->base + AGENT_TRAMPOLINES, unit->base,
				     &own->rings);
		if (!error)
			vec_push(&agent->spaces, &space);
	}
	if (!error && agent->lines)
		error = script_lines_begin(agent, space, unit);
	if (error)
		return error;
	uint64_t words[4] = {rings_address(own->rings), number, true, agent->lossy};

	return space_write(space, unit->base + AGENT_PLANS, words, sizeof words);
}

void ring_drain_space_gone(struct space *space)
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
 * Drains all rings; and all of the ring of a stopped thread, including records that seem to be in
 * the future because processors' clocks differ a little.
 */
static void fetch_whole(struct agent *agent, struct thread *thread, struct rings *rings)
{
	struct record *record = (struct record *)(void *)agent->buffer;
	struct ring *ring = rings_of_thread(rings, thread->tid);

	agent_drain_rings(agent, thread->process->tracees, false);
	if (!ring || !ring_has_record(ring))
		return;
	const struct clocks clocks = read_clocks(agent);
	struct ring_record head;

	while (ring_has_record(ring))
		if (rings_take(rings, ring, &head, record))
			report(agent, thread, &clocks, &head, record);
	rings_release(rings);
}

/* The thread's ring is freed at once: the next thread may get its fs base, and must not find it. */
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

/* ------------------------------------------------------------------ threads without a ring */

bool ring_drain_help(struct agent *agent, struct thread *thread, const struct regs *regs)
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
	 * If a program makes many threads at once, each thread stops here at each of its calls, and
	 * hardly any stops elsewhere. If the tracer dies while this thread makes remote calls, the
	 * thread continues behind the breakpoint, which is harmless.
	 */
	if (!rings_lack(rings) || !thread_is_safe_stop(thread))
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
 * Returns true if the operation reads memory by a parameter in a register, or saved from one, that
 * points to memory that does not arrive.
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

bool ring_drain_would_wait(const struct space *space, const struct regs *regs,
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

uint64_t ring_drain_mark(const struct thread *thread, uint64_t place)
{
	const struct rings *rings = thread->process->space->agent->rings;

	return place ^ (rings ? rings_head(rings, thread->tid) << 32 : 0);
}

/* ------------------------------------------------------------------ other threads and processes */

void agent_thread_made(const struct agent *agent, const struct thread *maker, struct thread *made)
{
	struct regs regs;

	if (agent && agent->records && regs_load(maker->tid, &regs) == 0)
		made->agent->maker_base = regs.fs_base;
}

bool ring_drain_has_known_base(const struct thread *thread)
{
	const struct space *space = thread->process->space;
	struct regs regs;

	return space && space->agent && space->agent->rings && regs_load(thread->tid, &regs) == 0 &&
	       ((regs.fs_base && regs.fs_base == thread->agent->maker_base) ||
		rings_have(space->agent->rings, thread->tid, regs.fs_base));
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

bool ring_drain_share_bases(const struct thread *thread)
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
