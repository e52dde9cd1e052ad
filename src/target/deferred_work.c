/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queue of deferred work: which space wants what, and when a thread is asked to stop for it.
 *
 * Most work needs a thread at a safe stop. If the process does not stop by itself, one of its
 * threads is interrupted; this file is the only one that does so. A piece of work ends after
 * PAUSE_NS. The process then runs for REST_NS before a thread is interrupted again, so that threads
 * that were kept waiting at breakpoints are served in between.
 *
 * What waits for a patch of the agent, or for a ring, takes every safe stop that comes, also those
 * at breakpoints. Planting takes only the stop that was asked for, and only if that is no
 * breakpoint's: a thread that hits many would make hardly any progress.
 */
#include "target/deferred_work.h"

#include "engine/trap/breakpoint_takeover.h"
#include "engine/trap/sigtrap.h"
#include "target/target_state.h"
#include "tracee/clock.h"
#include "tracee/ptrace.h"
#include "tracee/resume.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <signal.h>

static const uint64_t REST_NS = 1000000;

static unsigned bit(enum work_kind kind)
{
	return 1U << kind;
}

static struct space_work *queue_of(const struct process *process)
{
	return process->space && process->space->modules ? &process->space->modules->work : NULL;
}

void deferred_work_want(struct deferred_work *work, struct space_work *queue, enum work_kind kind)
{
	queue->wanted |= bit(kind);
	work->wanted |= bit(kind);
}

void deferred_work_is_done(struct space_work *queue, enum work_kind kind)
{
	queue->wanted &= ~bit(kind);
}

bool deferred_work_is_wanted(const struct space_work *queue, enum work_kind kind)
{
	return queue->wanted & bit(kind);
}

bool deferred_work_waits(const struct deferred_work *work, enum work_kind kind)
{
	return work->wanted & bit(kind);
}

void deferred_work_tick_for(struct deferred_work *work, enum work_kind kind)
{
	work->wanted |= bit(kind);
}

void deferred_work_rest(struct space_work *queue)
{
	queue->rests_until = clock_now() + REST_NS;
}

void deferred_work_close(struct deferred_work *work)
{
	work->is_closed = true;
}

/* ------------------------------------------------------------------ asking threads to stop */

static bool interrupt(struct thread *thread)
{
	thread->interrupt_taken = false;
	return pt_interrupt(thread->tid) == 0;
}

static void stop_one(struct thread *thread, void *stopped)
{
	pid_t *tid = stopped;

	if (!*tid && thread->state == THREAD_RUNNING && interrupt(thread))
		*tid = thread->tid;
}

/* Interrupts a running thread and returns its tid, or 0 if none runs or none may be interrupted. */
static pid_t ask_any(const struct deferred_work *work, struct process *process)
{
	pid_t tid = 0;

	if (work->may_interrupt)
		process_each_thread(process, stop_one, &tid);
	return tid;
}

void deferred_work_ask(const struct deferred_work *work, struct thread *thread)
{
	if (work->may_interrupt && !work->is_closed)
		interrupt(thread);
}

void deferred_work_ask_due(const struct deferred_work *work, enum work_kind kind, uint64_t now)
{
	const struct work_type *type = &work->types[kind];
	size_t cursor = 0;
	void *value;

	while (map_next(&work->tracees->processes, &cursor, NULL, &value)) {
		struct process *process = value;
		struct space_work *queue = queue_of(process);

		if (!queue || !type->is_due(work->context, process->space, now) ||
		    now - queue->asked[kind] < type->again_ns)
			continue;
		queue->asked[kind] = now;
		ask_any(work, process);
	}
}

/* ------------------------------------------------------------------ before a stop is waited for */

/* Returns true if a thread was asked to stop, and has not stopped yet. */
static bool is_asked(const struct deferred_work *work, struct space_work *queue)
{
	struct thread *thread = queue->stop_asked ? tracees_thread(work->tracees, queue->stop_asked)
						  : NULL;

	/* Without `thread`, it has ended or was detached. */
	if (!thread)
		queue->stop_asked = 0;
	else if (thread->interrupt_taken && thread->state == THREAD_RUNNING)
		interrupt(thread); /* the stop was skipped, and the thread runs on */
	return queue->stop_asked;
}

/* Returns true if this has to be called again soon, whether or not a stop comes. */
static bool prepare(const struct deferred_work *work, enum work_kind kind, struct process *process)
{
	const struct work_type *type = &work->types[kind];
	struct space_work *queue = queue_of(process);

	if (type->needs == WORK_ASKED_STOP && is_asked(work, queue))
		return false;
	if (clock_now() < queue->rests_until)
		return true;
	if (type->look_ahead) {
		if (type->look_ahead(work->context, process) == -EAGAIN)
			return true;
		deferred_work_is_done(queue, kind);
	}
	const pid_t tid = ask_any(work, process);

	if (type->needs == WORK_ASKED_STOP)
		queue->stop_asked = tid;
	return false;
}

/* Returns true if it has to be called again soon. */
static bool prepare_all(struct deferred_work *work, enum work_kind kind)
{
	size_t cursor = 0;
	bool is_soon = false;
	void *value;

	if (!(work->wanted & bit(kind)))
		return false;
	work->wanted &= ~bit(kind);
	while (map_next(&work->tracees->processes, &cursor, NULL, &value)) {
		struct process *process = value;
		const struct space_work *queue = queue_of(process);

		/*
		 * The parent of a CLONE_VM child may block SIGTRAP, and cannot be given another
		 * mask before it is back from vfork(2).
		 */
		if (!queue || !deferred_work_is_wanted(queue, kind) ||
		    (work->types[kind].is_left_to_parent && process->shares_parent_vm))
			continue;
		is_soon |= prepare(work, kind, process);
		if (deferred_work_is_wanted(queue, kind))
			work->wanted |= bit(kind);
	}
	return is_soon;
}

/* Rings are drained more often than words are looked at. */
static unsigned period(const struct deferred_work *work)
{
	if (work->runs.period_us || !(work->wanted & bit(WORK_WORDS)))
		return work->runs.period_us;
	return work->types[WORK_WORDS].tick_us;
}

struct wake_up deferred_work_next(struct deferred_work *work)
{
	struct wake_up wake = work->runs;

	wake.at_once |= prepare_all(work, WORK_PLANTING);
	wake.at_once |= prepare_all(work, WORK_PATCHING);
	wake.period_us = period(work);
	return wake;
}

void deferred_work_run(struct deferred_work *work, bool is_stopped)
{
	work->runs = work->types[WORK_DRAINING].run(work->context, is_stopped);
}

unsigned deferred_work_tick(struct deferred_work *work)
{
	const struct work_type *type = &work->types[WORK_WORDS];
	size_t cursor = 0;
	void *value;
	bool is_due = false;

	while (map_next(&work->tracees->threads, &cursor, NULL, &value)) {
		struct thread *thread = value;
		const struct space *space = thread->process->space;

		if (!space || !space->modules || !type->is_due(work->context, space, 0))
			continue;
		is_due = true;
		if (thread->state == THREAD_RUNNING && thread->tid == thread->process->pid &&
		    type->has_news(work->context, space))
			interrupt(thread);
	}
	if (!is_due)
		work->wanted &= ~bit(WORK_WORDS);
	return period(work);
}

/* ------------------------------------------------------------------ stops */

/* Returns the kind of work that any safe stop allows and that is due, or WORK_KINDS. */
static enum work_kind due_kind(const struct deferred_work *work, const struct space *space,
			       uint64_t now)
{
	enum work_kind kind = 0;

	while (kind < WORK_KINDS && (work->types[kind].needs != WORK_SAFE_STOP ||
				     !work->types[kind].is_due(work->context, space, now)))
		kind++;
	return kind;
}

/* Returns the kind of work to do at this stop, or WORK_KINDS. */
static enum work_kind choose(const struct deferred_work *work, const struct stop *stop)
{
	const struct thread *thread = stop->thread;
	struct space_work *queue = thread ? queue_of(thread->process) : NULL;

	if (!queue)
		return WORK_KINDS;
	if (queue->stop_asked == thread->tid && stop->kind != STOP_SIGNAL) {
		queue->stop_asked = 0;
		if (!thread->process->space->modules->suspended_for)
			return WORK_PLANTING;
	}
	return deferred_work_is_wanted(queue, WORK_PLANTING)
		       ? WORK_KINDS
		       : due_kind(work, thread->process->space, stop->time);
}

bool deferred_work_serve(struct deferred_work *work, const struct stop *stop)
{
	struct thread *thread = stop->thread;
	const enum work_kind kind = choose(work, stop);

	if (kind == WORK_KINDS)
		return false;
	/*
	 * The thread was stopped while work was done at another thread's stop; more would be too
	 * long.
	 */
	if (stop->time - stop->since > PAUSE_NS / 4) {
		if (work->types[kind].needs == WORK_ASKED_STOP) {
			deferred_work_rest(queue_of(thread->process));
			deferred_work_want(work, queue_of(thread->process), kind);
		}
		return false;
	}
	if (work->is_closed || stop->first || thread->state != THREAD_STOPPED ||
	    !thread_is_safe_stop(thread))
		return false;
	/*
	 * The thread is put back to its breakpoint. Otherwise its pc would seem to be inside of the
	 * function that it has just called.
	 */
	bool put_back = stop->kind == STOP_SIGNAL && trap_put_back(thread);

	/*
	 * A thread that is past any other breakpoint would go on from there, without the displaced
	 * instruction, if the tracer were killed during a remote call.
	 */
	if (stop->kind == STOP_SIGNAL && stop->signal == SIGTRAP && !put_back)
		return false;
	work->types[kind].piece(work->context, thread);
	if (put_back)
		thread_resume(thread, sigtrap_to_deliver(thread));
	return put_back;
}

void deferred_work_at_trap(struct deferred_work *work, struct thread *thread)
{
	const struct space_work *queue = queue_of(thread->process);

	for (int kind = 0; queue && kind < WORK_KINDS; kind++) {
		const struct work_type *type = &work->types[kind];

		if (type->needs == WORK_TRAP_STOP &&
		    (type->is_due ? type->is_due(work->context, thread->process->space, 0)
				  : deferred_work_is_wanted(queue, (enum work_kind)kind)))
			type->piece(work->context, thread);
	}
}
