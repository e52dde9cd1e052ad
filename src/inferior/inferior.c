/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wait loop and the tables of tasks.
 *
 * Every thread is seized (PTRACE_SEIZE), never attached to: seizing sends no SIGSTOP that could
 * be confused with the program's own, and group-stops can be told from other stops.
 *
 * Three orders of events need care.
 *
 *  - A new task's first stop and its parent's announcement (PTRACE_EVENT_CLONE, FORK, VFORK)
 *    come in any order. A status of an unknown tid is therefore kept in `early` until a parent
 *    claims it. One that says that the task is gone is kept for a moment only: it may also be
 *    the last word of a thread that exec swept away, and the tid is used again some day.
 *
 *  - A parent that is killed in between never announces its child, which waits in its first stop.
 *    After a while the child is taken for a process that was found (adopt_orphan()).
 *
 *  - When some code must have a certain thread stopped (detaching, stepping past an instruction
 *    that cannot be moved), thread_stop() waits for that thread alone. What it reports may be
 *    anything: a breakpoint, a signal, a clone. Such a status is kept with the thread
 *    (`deferred`) and comes out of inferior_next() before anything new is waited for. The
 *    interrupt that was asked for stays pending in the kernel and appears later as a harmless
 *    STOP_TRAP.
 *
 *  - A thread that is about to end stops once more (STOP_ENDING), also when it is killed, in
 *    whatever stop it is. It must always be resumed: its process does not end before, nor does an
 *    exec of another thread, and nothing but the tracer's own end makes it go on.
 *
 *  - exec from a thread that is not the leader makes that thread take the leader's tid over,
 *    and the others vanish, some of them without a word. process_keep_only() brings the tables
 *    in line.
 *
 * How to wait for the next stop is worth a choice, as it is a large part of what a traced call
 * costs. Sleeping in waitpid(2) is cheap when tracee and tracer share a processor, and dear
 * when each wakes the other one's processor up from idleness (in a virtual machine 110 µs a
 * traced call). Looking again and again for a short while is the other way round. Which it is
 * depends on the machine and on what else runs there, and changes; so both ways are timed, and
 * the better one is used (waiting.c).
 *
 * Nothing here waits without end for one thread: a thread in uninterruptible sleep (a vfork
 * parent, a dead NFS server) cannot be stopped, and the callers must cope with -ETIMEDOUT.
 */
#include "inferior/inferior.h"

#include "base/xalloc.h"
#include "inferior/abandoned.h"
#include "inferior/prefault.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

struct early_stop {
	pid_t tid;
	int status;
	uint64_t time;
};

enum {
	EARLY_MAX = 4096,
	EARLY_END_NS = 1000000000,
	ORPHAN_NS = 1000000000,
	PATIENCE_NS = 50000000,
	LONG_PATIENCE_NS = 500000000,
	SPIN_NS = 60000,
	OUTSIDE_TRIES = 200,
	OUTSIDE_STOP_MS = 1000,
	OUTSIDE_PAUSE_NS = 200000
};

/* How many there are for the tracer, and most likely for the tracees. */
static int processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 2;
}

struct inferior *inferior_create(void)
{
	struct inferior *inferior = xcalloc(1, sizeof *inferior);

	vec_init(&inferior->early, sizeof(struct early_stop));
	vec_init(&inferior->deferred, sizeof(pid_t));
	abandoned_init(inferior);
	inferior->ptrace_options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
				   PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
				   PTRACE_O_TRACEEXIT;
	inferior->prefault = prefault_create();
	inferior->spin_ns = processors() > 1 ? SPIN_NS : 0;
	return inferior;
}

void inferior_destroy(struct inferior *inferior)
{
	size_t cursor = 0;
	void *value;

	if (!inferior)
		return;
	while (map_next(&inferior->threads, &cursor, NULL, &value)) {
		thread_destroy(inferior, value);
		cursor = 0;
	}
	map_deinit(&inferior->threads);
	map_deinit(&inferior->processes);
	vec_deinit(&inferior->abandoned);
	vec_deinit(&inferior->early);
	vec_deinit(&inferior->deferred);
	prefault_destroy(inferior->prefault);
	free(inferior);
}

struct thread *inferior_thread(const struct inferior *inferior, pid_t tid)
{
	return map_get(&inferior->threads, (uint64_t)tid);
}

struct process *inferior_process(const struct inferior *inferior, pid_t pid)
{
	return map_get(&inferior->processes, (uint64_t)pid);
}

struct process *process_create(struct inferior *inferior, pid_t pid)
{
	struct process *process = xcalloc(1, sizeof *process);

	process->pid = pid;
	process->inferior = inferior;
	map_put(&inferior->processes, (uint64_t)pid, process);
	return process;
}

struct thread *thread_create(struct inferior *inferior, struct process *process, pid_t tid)
{
	struct thread *thread = xcalloc(1, sizeof *thread);

	thread->tid = tid;
	thread->process = process;
	thread->fresh = true;
	process->threads++;
	map_put(&inferior->threads, (uint64_t)tid, thread);
	return thread;
}

static void forget_deferred(struct inferior *inferior, const struct thread *thread)
{
	const pid_t *tids = inferior->deferred.items;

	for (size_t i = 0; i < inferior->deferred.count; i++)
		if (tids[i] == thread->tid) {
			vec_remove(&inferior->deferred, i);
			return;
		}
}

void process_end_lending(struct inferior *inferior, const struct process *lender)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&inferior->processes, &cursor, NULL, &value)) {
		struct process *process = value;

		if (process->borrows == lender)
			process->borrows = NULL;
	}
}

void thread_destroy(struct inferior *inferior, struct thread *thread)
{
	struct process *process = thread->process;

	if (thread->has_deferred)
		forget_deferred(inferior, thread);
	space_forget_reader(process->space, thread->tid);
	map_remove(&inferior->threads, (uint64_t)thread->tid);
	process->ending -= thread->ending;
	free(thread->system_call);
	free(thread);
	if (--process->threads)
		return;
	if (map_get(&inferior->processes, (uint64_t)process->pid) == process)
		map_remove(&inferior->processes, (uint64_t)process->pid);
	process_end_lending(inferior, process);
	space_unref(process->space);
	free(process);
}

/* A thread of `process` other than `keep`, or NULL. */
static struct thread *other_thread(struct process *process, const struct thread *keep)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&process->inferior->threads, &cursor, NULL, &value)) {
		struct thread *thread = value;

		if (thread->process == process && thread != keep)
			return thread;
	}
	return NULL;
}

void process_keep_only(struct inferior *inferior, struct process *process, struct thread *keep)
{
	struct thread *gone;

	while ((gone = other_thread(process, keep)))
		thread_destroy(inferior, gone);
	process->ending -= keep->ending; /* a leader that exec has brought back */
	keep->ending = false;
	if (keep->tid == process->pid)
		return;
	map_remove(&inferior->threads, (uint64_t)keep->tid);
	keep->tid = process->pid;
	map_put(&inferior->threads, (uint64_t)keep->tid, keep);
}

static bool belongs_to(const struct thread *thread, const struct process *process,
		       const struct space *space)
{
	return process ? thread->process == process : thread->process->space == space;
}

/* One visit may be the end of others: at an exec. */
static void each_thread(struct inferior *inferior, const struct process *process,
			const struct space *space, thread_visit *visit, void *context)
{
	struct vec found = VEC_OF(pid_t);
	size_t cursor = 0;
	void *value;

	while (map_next(&inferior->threads, &cursor, NULL, &value)) {
		const struct thread *thread = value;

		if (belongs_to(thread, process, space))
			vec_push(&found, &thread->tid);
	}
	for (size_t i = 0; i < found.count; i++) {
		struct thread *thread = inferior_thread(inferior, *(pid_t *)vec_at(&found, i));

		if (thread && belongs_to(thread, process, space))
			visit(thread, context);
	}
	vec_deinit(&found);
}

void process_each_thread(struct process *process, thread_visit *visit, void *context)
{
	each_thread(process->inferior, process, NULL, visit, context);
}

void space_each_thread(struct inferior *inferior, struct space *space, thread_visit *visit,
		       void *context)
{
	each_thread(inferior, NULL, space, visit, context);
}

/* Drops the ends of tasks that nobody has announced in time. */
static void drop_stale(struct inferior *inferior)
{
	uint64_t now = inferior_clock();

	for (size_t i = inferior->early.count; i-- > 0;) {
		const struct early_stop *stop = vec_at(&inferior->early, i);

		if (!WIFSTOPPED(stop->status) && now - stop->time > EARLY_END_NS)
			vec_remove_fast(&inferior->early, i);
	}
}

/* Takes the kept first stop of `tid` out of the early ones. */
static bool take_early(struct inferior *inferior, pid_t tid, int *status)
{
	drop_stale(inferior);
	for (size_t i = 0; i < inferior->early.count; i++) {
		const struct early_stop *stop = vec_at(&inferior->early, i);

		if (stop->tid != tid)
			continue;
		*status = stop->status;
		vec_remove_fast(&inferior->early, i);
		return true;
	}
	return false;
}

static void keep_early(struct inferior *inferior, pid_t tid, int status)
{
	int old;

	if (abandoned_let_go(inferior, tid, status))
		return;
	waiting_take(tid, &status);
	/*
	 * It was killed before its first stop was seen. Nobody may announce it any more (its parent
	 * may have been killed, too), so it must not wait here to be known.
	 */
	if (stop_status_decode(status).kind == STOP_ENDING) {
		pt_continue(tid, 0);
		return;
	}
	/* Its end may come before its parent announces it: then it replaces the first stop. */
	take_early(inferior, tid, &old);
	if (inferior->early.count == EARLY_MAX)
		vec_remove(&inferior->early, 0);
	vec_push(&inferior->early, &(struct early_stop){tid, status, inferior_clock()});
}

static void fill_stop(struct stop *stop, struct thread *thread, int status)
{
	const struct stop_status decoded = stop_status_decode(status);
	const uint64_t now = inferior_clock();

	*stop = (struct stop){.kind = decoded.kind,
			      .signal = decoded.signal,
			      .thread = thread,
			      .time = now,
			      .since = now,
			      .first = thread->fresh};
	thread->process->inferior->event = stop->time;
	thread->fresh = false;
	thread->state = THREAD_STOPPED;
	thread->stop = decoded.kind;
	thread->stop_signal = decoded.signal;
	if (thread->process->space)
		thread->process->space->reader = thread->tid;
	if (decoded.kind >= STOP_CLONE && decoded.kind <= STOP_EXEC)
		pt_event_message(thread->tid, &stop->message);
}

void thread_defer(struct thread *thread, int wait_status)
{
	if (!thread->has_deferred)
		vec_push(&thread->process->inferior->deferred, &thread->tid);
	thread->has_deferred = true;
	thread->deferred_status = wait_status;
	thread->deferred_since = inferior_clock();
}

bool thread_take_deferred(struct inferior *inferior, struct thread *thread, struct stop *stop)
{
	if (!thread->has_deferred)
		return false;
	forget_deferred(inferior, thread);
	thread->has_deferred = false;
	fill_stop(stop, thread, thread->deferred_status);
	stop->since = thread->deferred_since;
	return true;
}

/* A stop that was kept: deferred ones, and first stops whose task has been announced since. */
static bool next_kept(struct inferior *inferior, struct stop *stop)
{
	if (inferior->deferred.count) {
		pid_t tid = *(pid_t *)vec_at(&inferior->deferred, 0);
		struct thread *thread = inferior_thread(inferior, tid);

		return thread_take_deferred(inferior, thread, stop);
	}
	drop_stale(inferior);
	for (size_t i = 0; i < inferior->early.count; i++) {
		const struct early_stop *early = vec_at(&inferior->early, i);
		struct thread *thread = inferior_thread(inferior, early->tid);
		int status = early->status;

		if (!thread || !thread->fresh)
			continue;
		vec_remove_fast(&inferior->early, i);
		fill_stop(stop, thread, status);
		return true;
	}
	return false;
}

static bool has_unannounced(const struct inferior *inferior)
{
	for (size_t i = 0; i < inferior->early.count; i++)
		if (WIFSTOPPED(((const struct early_stop *)vec_at(&inferior->early, i))->status))
			return true;
	return false;
}

/*
 * A process whose first stop nobody has announced in time. It comes as one that has not been looked
 * at.
 */
static bool adopt_orphan(struct inferior *inferior, struct stop *stop)
{
	uint64_t now = inferior_clock();

	for (size_t i = 0; i < inferior->early.count; i++) {
		const struct early_stop *early = vec_at(&inferior->early, i);
		pid_t tid = early->tid;
		int status = early->status;

		if (!WIFSTOPPED(status) || now - early->time < ORPHAN_NS ||
		    proc_status_number(tid, "Tgid") != tid)
			continue;
		struct process *process = process_create(inferior, tid);

		process->starting = true;
		vec_remove_fast(&inferior->early, i);
		fill_stop(stop, thread_create(inferior, process, tid), status);
		return true;
	}
	return false;
}

/* A thread that was left as it is would be told about again and again. */
static void take_unresumed(struct inferior *inferior)
{
	struct thread *last = inferior_thread(inferior, inferior->last_stopped);

	if (last && last->state == THREAD_STOPPED && last->stop == STOP_SIGNAL)
		thread_take_stop(last);
	inferior->last_stopped = 0;
}

int inferior_next(struct inferior *inferior, bool block, struct stop *stop)
{
	int status;

	inferior->event = 0;
	if ((inferior->deferred.count || inferior->early.count) && next_kept(inferior, stop))
		return 0;
	take_unresumed(inferior);
	for (;;) {
		bool unannounced = block && has_unannounced(inferior);
		pid_t tid = waiting_next(&inferior->waiting, block && !unannounced, &status);

		if (tid < 0)
			return tid;
		if (tid == 0 && unannounced) {
			if (adopt_orphan(inferior, stop))
				return 0;
			if (nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL) != 0)
				return -EINTR;
			continue;
		}
		if (tid == 0)
			return -EAGAIN;
		struct thread *thread = inferior_thread(inferior, tid);

		if (thread) {
			fill_stop(stop, thread, status);
			inferior->last_stopped = tid;
			return 0;
		}
		/*
		 * exec in a non-leader thread of which the leader is long gone: the status
		 * comes for a tid that we have dropped.
		 */
		struct process *process = inferior_process(inferior, tid);

		if (process && stop_status_decode(status).kind == STOP_EXEC) {
			thread = thread_create(inferior, process, tid);
			thread->fresh = false; /* the process is known */
			fill_stop(stop, thread, status);
			return 0;
		}
		keep_early(inferior, tid, status);
	}
}

bool thread_note_ending(struct thread *thread)
{
	struct process *process = thread->process;

	process->ending += !thread->ending;
	thread->ending = true;
	return process->ending == process->threads;
}

bool thread_is_clean_stop(const struct thread *thread)
{
	return thread->state == THREAD_STOPPED &&
	       (thread->stop == STOP_SIGNAL || thread->stop == STOP_TRAP);
}

/*
 * Whether a thread is in an uninterruptible sleep that may last: in vfork(2), where it has a child.
 * What it waits for else, a page or the lock of its memory, it gets soon, on a machine under load
 * not at once.
 */
static bool sleeps_long(const struct thread *thread, uint64_t waited)
{
	struct vec children = VEC_OF(pid_t);

	if (waited < PATIENCE_NS || proc_state(thread->tid) != 'D')
		return false;
	proc_children(thread->process->pid, thread->tid, &children);
	bool may_last = children.count > 0;

	vec_deinit(&children);
	return may_last || waited > LONG_PATIENCE_NS;
}

/* `may_sleep`: give up early on a thread in uninterruptible sleep. */
static int wait_for_status(const struct thread *thread, int *wait_status, unsigned timeout_ms,
			   bool may_sleep)
{
	struct inferior *inferior = thread->process->inferior;
	uint64_t start = inferior_clock();
	uint64_t deadline = start + (uint64_t)timeout_ms * 1000000U;
	long pause = 2000;

	for (;;) {
		pid_t tid = waiting_poll(thread->tid, wait_status);

		if (tid < 0 && errno != EINTR)
			return -ESRCH;
		uint64_t now = inferior_clock();

		if (tid > 0) {
			inferior->event = now;
			return 0;
		}

		/* A leader that has ended is not told about before the last of its threads. */
		if (now - start > PATIENCE_NS && proc_state(thread->tid) == 'Z')
			return -ESRCH;
		if (now > deadline || (may_sleep && sleeps_long(thread, now - start)))
			return -ETIMEDOUT;
		/* A sleep of 2 us takes 60 (prctl(2), PR_SET_TIMERSLACK), more than most stops. */
		if (now - start < inferior->spin_ns)
			continue;
		nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
		pause = pause < 1000000 ? pause * 2 : pause;
	}
}

int thread_wait(struct thread *thread, int *wait_status, unsigned timeout_ms)
{
	return wait_for_status(thread, wait_status, timeout_ms, false);
}

int thread_stop(struct inferior *inferior, struct thread *thread, unsigned timeout_ms)
{
	int status;

	if (thread->state == THREAD_STOPPED)
		return 0;
	/* A task that was announced stops by itself; its first stop may have come already. */
	if (!(thread->fresh && take_early(inferior, thread->tid, &status))) {
		if (!thread->fresh && pt_interrupt(thread->tid) == -ESRCH)
			return -ESRCH;
		int error = wait_for_status(thread, &status, timeout_ms, true);

		/*
		 * The interrupt comes behind the stops of a system call, unless one of them has
		 * taken its place.
		 */
		while (!error && stop_status_decode(status).kind == STOP_SYSCALL) {
			pt_interrupt(thread->tid);
			thread_pass_syscall(thread);
			error = wait_for_status(thread, &status, timeout_ms, true);
		}
		if (error)
			return error;
	}
	struct stop_status decoded = stop_status_decode(status);

	if (decoded.kind == STOP_EXITED || decoded.kind == STOP_KILLED) {
		thread_defer(thread, status);
		return -ESRCH;
	}
	thread_keep_stop(thread, status);
	return 0;
}

void thread_stop_outside(struct thread *thread, thread_test *inside, const void *context)
{
	struct inferior *inferior = thread->process->inferior;
	struct stop stop;

	for (int i = 0; i < OUTSIDE_TRIES; i++) {
		if (thread_stop(inferior, thread, OUTSIDE_STOP_MS) != 0 ||
		    !thread_is_clean_stop(thread) ||
		    (thread->stop == STOP_SIGNAL && thread->stop_signal == SIGTRAP) ||
		    !inside(thread, context) || !thread_take_deferred(inferior, thread, &stop))
			return;
		thread_resume(thread, stop.kind == STOP_SIGNAL ? stop.signal : 0);
		nanosleep(&(struct timespec){.tv_nsec = OUTSIDE_PAUSE_NS}, NULL);
	}
}
