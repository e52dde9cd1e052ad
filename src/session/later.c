/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is left for later stops of a process.
 *
 * A process that is attached to stands still, or one of its threads does, while functions are
 * planted: some microseconds for each. That is nothing for a few, and too long for thousands. So
 * when there are more than AT_ONCE the process runs again, and is stopped once more for as many as
 * can be planted in PAUSE_NS, until all are done. In between threads are served that wait at
 * breakpoints for that long. A call that comes before its function's turn is not seen, as if the
 * tracer had come later. The main program's functions are the last: when they are seen, everything
 * is.
 *
 * Nothing waits that is not known from the beginning: what the process loads later is planted when
 * it is loaded, before anybody can call it.
 *
 * The agent has something to do later, too: see inprocess_install_soon(). It begins when all are
 * planted. Both need a thread at a clean stop, whichever; and where system calls are traced it is
 * left to chance when there is one, as an interrupt could be seen in them. Then nothing waits.
 */
#include "session/attaching.h"
#include "session/private.h"
#include "session/tables.h"

#include "engine/agent/agent.h"
#include "engine/trap/trap.h"
#include "inferior/inferior.h"
#include "inferior/ptrace.h"

#include <signal.h>

enum { AT_ONCE = 256 };
static const uint64_t REST_NS = 1000000;

/* What was found in a module, and has not been planted from `next` on. */
struct waiting_matches {
	struct module *module;
	struct vec found; /* struct match */
	size_t next;
};

static struct waiting_matches *waiting_at(const struct modules *modules, size_t i)
{
	return vec_at(&modules->waiting, i);
}

void later_init(struct modules *modules)
{
	vec_init(&modules->waiting, sizeof(struct waiting_matches));
}

static void drop(struct modules *modules, size_t i)
{
	struct waiting_matches *waiting = waiting_at(modules, i);

	module_unref(waiting->module);
	vec_deinit(&waiting->found);
	vec_remove(&modules->waiting, i);
}

void later_deinit(struct modules *modules)
{
	while (modules->waiting.count)
		drop(modules, modules->waiting.count - 1);
	vec_deinit(&modules->waiting);
}

void later_clone(struct session *session, struct modules *modules, const struct modules *from)
{
	session->has_waiting |= from->waiting.count != 0;
	for (size_t i = 0; i < from->waiting.count; i++) {
		const struct waiting_matches *waiting = waiting_at(from, i);
		struct waiting_matches copy = {waiting->module, VEC_OF(struct match), 0};

		for (size_t k = waiting->next; k < waiting->found.count; k++)
			vec_push(&copy.found, vec_at(&waiting->found, k));
		copy.module->references++;
		vec_push(&modules->waiting, &copy);
	}
}

void later_forget(struct modules *modules, const struct module *module)
{
	for (size_t i = modules->waiting.count; i-- > 0;)
		if (waiting_at(modules, i)->module == module)
			drop(modules, i);
}

bool later_take(struct modules *modules, struct module *module, struct vec *found)
{
	const struct waiting_matches waiting = {module, *found, 0};

	if (!modules->gathers)
		return false;
	module->references++;
	vec_push(&modules->waiting, &waiting);
	vec_init(found, sizeof(struct match));
	return true;
}

/* ------------------------------------------------------------------ planting */

/* The first that is not the main program's, or the first. */
static size_t next_one(const struct modules *modules)
{
	for (size_t i = 0; i < modules->waiting.count; i++)
		if (!waiting_at(modules, i)->module->is_main)
			return i;
	return 0;
}

void later_rest(struct modules *modules)
{
	modules->rests_until = inferior_clock() + REST_NS;
}

bool later_rests(const struct modules *modules)
{
	return inferior_clock() < modules->rests_until;
}

static void rest(struct session *session, struct modules *modules)
{
	later_rest(modules);
	session->has_waiting = true;
}

/* As many as can be until it is `end`. */
static void plant_some(struct session *session, struct thread *thread, uint64_t end)
{
	struct space *space = thread->process->space;
	struct modules *modules = space->modules;

	while (modules->waiting.count) {
		const size_t number = next_one(modules);
		struct waiting_matches *waiting = waiting_at(modules, number);

		if (waiting->next == waiting->found.count) {
			drop(modules, number);
			continue;
		}
		if (inferior_clock() > end) {
			rest(session, modules);
			return;
		}
		if (!waiting->next)
			plant_begin(session, thread, waiting->module, waiting->found.count);
		plant_match(session, thread, waiting->module,
			    vec_at(&waiting->found, waiting->next++));
	}
	debug_say(session, DEBUG_PROCESSES, "process %d: all functions are planted",
		  (int)thread->process->pid);
	tables_plant(session, thread);
	attaching_done(session, thread->process);
	inprocess_install_soon(session, space);
}

void later_begin(const struct session *session, struct modules *modules)
{
	modules->gathers = !session->syscalls;
}

void later_start(struct session *session, struct thread *thread)
{
	struct modules *modules = thread->process->space->modules;
	size_t count = 0;

	modules->gathers = false;
	for (size_t i = 0; i < modules->waiting.count; i++)
		count += waiting_at(modules, i)->found.count;
	if (count > AT_ONCE)
		rest(session, modules); /* to find them has taken its time already */
	else
		plant_some(session, thread, AGENT_NO_LIMIT);
}

/* ------------------------------------------------------------------ stops */

static void stop_one(struct thread *thread, void *stopped)
{
	pid_t *tid = stopped;

	if (*tid || thread->state != THREAD_RUNNING)
		return;
	thread->interrupt_taken = false;
	if (pt_interrupt(thread->tid) == 0)
		*tid = thread->tid;
}

pid_t later_stop(const struct session *session, struct process *process)
{
	pid_t tid = 0;

	/*
	 * An interrupt ends some calls with EINTR where another stop takes its place, as those at
	 * system calls do, so that it cannot be seen to that they are made again
	 * (inferior/retry.c). Then it is left to the first breakpoint.
	 */
	if (!session->syscalls)
		process_each_thread(process, stop_one, &tid);
	return tid;
}

/* The stop that was asked for was passed over, and the thread runs on. */
static void ask_again(const struct session *session, const struct modules *modules)
{
	struct thread *thread = inferior_thread(session->inferior, modules->stop_asked);

	if (!thread->interrupt_taken || thread->state != THREAD_RUNNING)
		return;
	thread->interrupt_taken = false;
	pt_interrupt(thread->tid);
}

/* Whether it is to be looked at again soon, whatever comes. */
static bool ask(const struct session *session, struct process *process)
{
	struct modules *modules = process->space->modules;

	/* It has been swept away, or let go. */
	if (modules->stop_asked && !inferior_thread(session->inferior, modules->stop_asked))
		modules->stop_asked = 0;
	if (modules->stop_asked) {
		ask_again(session, modules);
		return false;
	}
	if (later_rests(modules))
		return true;
	modules->stop_asked = later_stop(session, process);
	return false;
}

bool later_ask(struct session *session)
{
	size_t cursor = 0;
	bool is_soon = false;
	void *value;

	session->has_waiting = false;
	while (map_next(&session->inferior->processes, &cursor, NULL, &value)) {
		struct process *process = value;

		/*
		 * A child in its parent's memory leaves that to its parent, which may block SIGTRAP
		 * and cannot be helped before it is back from vfork(2).
		 */
		if (process->borrower || !process->space || !process->space->modules ||
		    !process->space->modules->waiting.count)
			continue;
		session->has_waiting = true;
		is_soon |= ask(session, process);
	}
	return is_soon;
}

bool later_serve(struct session *session, const struct stop *stop)
{
	struct thread *thread = stop->thread;
	struct space *space = thread ? thread->process->space : NULL;
	struct modules *modules = space ? space->modules : NULL;
	const bool asked = modules && modules->stop_asked == thread->tid;
	const bool installs = modules && !modules->waiting.count &&
			      inprocess_is_due(session, space, stop->time);

	/* Not at a breakpoint: threads that meet many would hardly go on. */
	if (asked && stop->kind != STOP_SIGNAL)
		modules->stop_asked = 0;
	const bool plants = asked && !modules->stop_asked && !modules->suspended_for;

	/* It has stood while something was done at another's stop: that is enough for once. */
	if (stop->time - stop->since > PAUSE_NS / 4) {
		if (plants)
			rest(session, modules);
		return false;
	}

	if (session->leaving || stop->first || !(plants || installs) ||
	    thread->state != THREAD_STOPPED || !thread_is_clean_stop(thread))
		return false;
	/* Else what it has just called would be what it is in. */
	bool put_back = stop->kind == STOP_SIGNAL && trap_put_back(thread);

	/*
	 * One that stands behind another breakpoint would go on from there, should we die while it
	 * makes a call for us.
	 */
	if (stop->kind == STOP_SIGNAL && stop->signal == SIGTRAP && !put_back)
		return false;
	/* It may come from vfork(2), and stand until these are planted. */
	masking_unblock_one(session, thread);
	if (plants)
		plant_some(session, thread, inferior_clock() + PAUSE_NS);
	else
		inprocess_install(session, thread);
	if (put_back)
		thread_resume(thread, thread->sigtrap_own ? SIGTRAP : 0);
	return put_back;
}
