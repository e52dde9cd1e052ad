/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wait loop and the tables of tasks.
 *
 * Every thread is seized (PTRACE_SEIZE), not attached to: seizing sends no SIGSTOP that could be
 * confused with the program's own, and lets group-stops be told from other stops.
 *
 * These orders of events need care:
 *
 *  - A new task's first stop and its parent's report (PTRACE_EVENT_CLONE, FORK, VFORK) come in any
 *    order. The status of an unknown tid is therefore kept in `early` until a parent claims it. A
 *    status that says that the task is gone is kept for 1 s only: it may belong to a thread that an
 *    exec has removed, and the kernel may reuse the tid.
 *
 *  - A parent that is killed before its report leaves a child that waits in its first stop. After
 *    one second the child is treated like a newly found process (adopt_orphan()).
 *
 *  - Detaching, and stepping an instruction that cannot be displaced, need one certain thread
 *    stopped. thread_stop() waits for that thread alone. The thread may report anything: a
 *    breakpoint, a signal, a clone. Its status is kept with the thread (`deferred`), and
 *    tracees_next() returns it before it waits for a new one. The interrupt stays pending in the
 *    kernel and causes a harmless STOP_TRAP later.
 *
 *  - A thread that is about to end stops once more (STOP_ENDING), also when it is killed in another
 *    stop. It must always be resumed: its process does not end before, an exec of another thread
 *    waits for it, and only the end of the tracer would resume it otherwise.
 *
 *  - After an exec by a thread that is not the leader, this thread has the leader's tid, and the
 *    other threads vanish, some of them without a status. process_keep_only() updates the tables.
 *
 * The way of waiting is a large part of the cost of a traced call. Sleeping in waitpid(2) is cheap
 * if tracee and tracer share a processor. It is expensive if each has to wake the other's processor
 * from idle (in a virtual machine 110 us per traced call); polling for a short while is cheaper
 * then. That depends on the machine and its load, and changes. So both ways are timed, and the
 * faster one is used (waiting.c).
 *
 * No function waits without limit for a single thread: a thread in uninterruptible sleep (a vfork
 * parent, a dead NFS server) cannot be stopped, and callers must handle -ETIMEDOUT.
 */
#include "tracee/tracee.h"

#include "base/xalloc.h"
#include "tracee/abandoned.h"
#include "tracee/clock.h"
#include "tracee/prefault.h"
#include "tracee/proc.h"
#include "tracee/processors.h"
#include "tracee/ptrace.h"
#include "tracee/resume.h"
#include "tracee/space.h"
#include "tracee/state.h"

#include <errno.h>
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

struct tracees *tracees_create(const struct state_sizes *sizes)
{
	struct tracees *tracees = xcalloc(1, sizeof *tracees);

	tracees->sizes = sizes;
	vec_init(&tracees->early, sizeof(struct early_stop));
	vec_init(&tracees->deferred, sizeof(pid_t));
	abandoned_init(tracees);
	tracees->ptrace_options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
				  PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
	tracees->prefault = prefault_create();
	tracees->spin_ns = processors_count() > 1 ? SPIN_NS : 0;
	return tracees;
}

void tracees_destroy(struct tracees *tracees)
{
	size_t cursor = 0;
	void *value;

	if (!tracees)
		return;
	while (map_next(&tracees->threads, &cursor, NULL, &value)) {
		thread_destroy(tracees, value);
		cursor = 0;
	}
	map_deinit(&tracees->threads);
	map_deinit(&tracees->processes);
	vec_deinit(&tracees->abandoned);
	vec_deinit(&tracees->early);
	vec_deinit(&tracees->deferred);
	prefault_destroy(tracees->prefault);
	free(tracees);
}

struct thread *tracees_thread(const struct tracees *tracees, pid_t tid)
{
	return map_get(&tracees->threads, (uint64_t)tid);
}

struct process *tracees_process(const struct tracees *tracees, pid_t pid)
{
	return map_get(&tracees->processes, (uint64_t)pid);
}

struct process *process_create(struct tracees *tracees, pid_t pid)
{
	struct process *process = state_new_process(tracees->sizes);

	process->pid = pid;
	process->tracees = tracees;
	map_put(&tracees->processes, (uint64_t)pid, process);
	return process;
}

struct thread *thread_create(struct tracees *tracees, struct process *process, pid_t tid)
{
	struct thread *thread = state_new_thread(tracees->sizes);

	thread->tid = tid;
	thread->process = process;
	thread->fresh = true;
	process->threads++;
	map_put(&tracees->threads, (uint64_t)tid, thread);
	return thread;
}

void process_end_lending(struct tracees *tracees, const struct process *lender)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&tracees->processes, &cursor, NULL, &value)) {
		struct process *process = value;

		if (process->vm_parent == lender)
			process->vm_parent = NULL;
	}
}

void thread_destroy(struct tracees *tracees, struct thread *thread)
{
	struct process *process = thread->process;

	thread_forget_deferred(tracees, thread);
	space_forget_reader(process->space, thread->tid);
	map_remove(&tracees->threads, (uint64_t)thread->tid);
	process->ending -= thread->ending;
	state_free_thread(thread);
	if (--process->threads)
		return;
	if (map_get(&tracees->processes, (uint64_t)process->pid) == process)
		map_remove(&tracees->processes, (uint64_t)process->pid);
	process_end_lending(tracees, process);
	space_unref(process->space);
	state_free_process(process);
}

/* A thread of `process` other than `keep`, or NULL. */
static struct thread *other_thread(struct process *process, const struct thread *keep)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&process->tracees->threads, &cursor, NULL, &value)) {
		struct thread *thread = value;

		if (thread->process == process && thread != keep)
			return thread;
	}
	return NULL;
}

void process_keep_only(struct tracees *tracees, struct process *process, struct thread *keep)
{
	struct thread *gone;

	while ((gone = other_thread(process, keep)))
		thread_destroy(tracees, gone);
	process->ending -= keep->ending; /* a former leader whose tid the exec has reused */
	keep->ending = false;
	if (keep->tid == process->pid)
		return;
	map_remove(&tracees->threads, (uint64_t)keep->tid);
	keep->tid = process->pid;
	map_put(&tracees->threads, (uint64_t)keep->tid, keep);
}

static bool belongs_to(const struct thread *thread, const struct process *process,
		       const struct space *space)
{
	return process ? thread->process == process : thread->process->space == space;
}

/* `visit` may destroy other threads (an exec does), so the tids are collected first. */
static void each_thread(struct tracees *tracees, const struct process *process,
			const struct space *space, thread_visit *visit, void *context)
{
	struct vec found = VEC_OF(pid_t);
	size_t cursor = 0;
	void *value;

	while (map_next(&tracees->threads, &cursor, NULL, &value)) {
		const struct thread *thread = value;

		if (belongs_to(thread, process, space))
			vec_push(&found, &thread->tid);
	}
	for (size_t i = 0; i < found.count; i++) {
		struct thread *thread = tracees_thread(tracees, *(pid_t *)vec_at(&found, i));

		if (thread && belongs_to(thread, process, space))
			visit(thread, context);
	}
	vec_deinit(&found);
}

void process_each_thread(struct process *process, thread_visit *visit, void *context)
{
	each_thread(process->tracees, process, NULL, visit, context);
}

void space_each_thread(struct tracees *tracees, struct space *space, thread_visit *visit,
		       void *context)
{
	each_thread(tracees, NULL, space, visit, context);
}

/* Drops exit statuses of tasks that no parent has reported in time. */
static void drop_stale(struct tracees *tracees)
{
	uint64_t now = clock_now();

	for (size_t i = tracees->early.count; i-- > 0;) {
		const struct early_stop *stop = vec_at(&tracees->early, i);

		if (!WIFSTOPPED(stop->status) && now - stop->time > EARLY_END_NS)
			vec_remove_fast(&tracees->early, i);
	}
}

/* Removes the status of `tid` from `early`. Returns false if there is none. */
static bool take_early(struct tracees *tracees, pid_t tid, int *status)
{
	drop_stale(tracees);
	for (size_t i = 0; i < tracees->early.count; i++) {
		const struct early_stop *stop = vec_at(&tracees->early, i);

		if (stop->tid != tid)
			continue;
		*status = stop->status;
		vec_remove_fast(&tracees->early, i);
		return true;
	}
	return false;
}

static void keep_early(struct tracees *tracees, pid_t tid, int status)
{
	int old;

	if (abandoned_let_go(tracees, tid, status))
		return;
	waiting_take(tid, &status);
	/*
	 * The task was killed before its first stop was seen. Its parent may never report it (it
	 * may have been killed, too), so the task is resumed now.
	 */
	if (stop_status_decode(status).kind == STOP_ENDING) {
		pt_continue(tid, 0);
		return;
	}
	/* The task may end before its parent reports it: its end replaces the first stop. */
	take_early(tracees, tid, &old);
	if (tracees->early.count == EARLY_MAX)
		vec_remove(&tracees->early, 0);
	vec_push(&tracees->early, &(struct early_stop){tid, status, clock_now()});
}

static void fill_stop(struct stop *stop, struct thread *thread, int status)
{
	const struct stop_status decoded = stop_status_decode(status);
	const uint64_t now = clock_now();

	*stop = (struct stop){.kind = decoded.kind,
			      .signal = decoded.signal,
			      .thread = thread,
			      .time = now,
			      .since = now,
			      .first = thread->fresh};
	thread->process->tracees->event = stop->time;
	thread->fresh = false;
	thread->state = THREAD_STOPPED;
	thread->stop = decoded.kind;
	thread->stop_signal = decoded.signal;
	if (thread->process->space)
		thread->process->space->reader = thread->tid;
	if (decoded.kind >= STOP_CLONE && decoded.kind <= STOP_EXEC)
		pt_event_message(thread->tid, &stop->message);
}

bool thread_take_deferred(struct tracees *tracees, struct thread *thread, struct stop *stop)
{
	if (!thread->has_deferred)
		return false;
	thread_forget_deferred(tracees, thread);
	fill_stop(stop, thread, thread->deferred_status);
	stop->since = thread->deferred_since;
	return true;
}

/* Returns a kept stop: a deferred one, or the first stop of a task that has been reported since. */
static bool next_kept(struct tracees *tracees, struct stop *stop)
{
	if (tracees->deferred.count) {
		pid_t tid = *(pid_t *)vec_at(&tracees->deferred, 0);
		struct thread *thread = tracees_thread(tracees, tid);

		return thread_take_deferred(tracees, thread, stop);
	}
	drop_stale(tracees);
	for (size_t i = 0; i < tracees->early.count; i++) {
		const struct early_stop *early = vec_at(&tracees->early, i);
		struct thread *thread = tracees_thread(tracees, early->tid);
		int status = early->status;

		if (!thread || !thread->fresh)
			continue;
		vec_remove_fast(&tracees->early, i);
		fill_stop(stop, thread, status);
		return true;
	}
	return false;
}

static bool has_unannounced(const struct tracees *tracees)
{
	for (size_t i = 0; i < tracees->early.count; i++)
		if (WIFSTOPPED(((const struct early_stop *)vec_at(&tracees->early, i))->status))
			return true;
	return false;
}

/*
 * Creates a process for a first stop that no parent has reported in time. It is `starting`, like a
 * process that was just attached.
 */
static bool adopt_orphan(struct tracees *tracees, struct stop *stop)
{
	uint64_t now = clock_now();

	for (size_t i = 0; i < tracees->early.count; i++) {
		const struct early_stop *early = vec_at(&tracees->early, i);
		pid_t tid = early->tid;
		int status = early->status;

		if (!WIFSTOPPED(status) || now - early->time < ORPHAN_NS ||
		    proc_status_number(tid, "Tgid") != tid)
			continue;
		struct process *process = process_create(tracees, tid);

		process->starting = true;
		vec_remove_fast(&tracees->early, i);
		fill_stop(stop, thread_create(tracees, process, tid), status);
		return true;
	}
	return false;
}

/*
 * The last stop is collected if the thread was not resumed: waitid(2) would report it again and
 * again.
 */
static void take_unresumed(struct tracees *tracees)
{
	struct thread *last = tracees_thread(tracees, tracees->last_stopped);

	if (last && last->state == THREAD_STOPPED && last->stop == STOP_SIGNAL)
		thread_take_stop(last);
	tracees->last_stopped = 0;
}

int tracees_next(struct tracees *tracees, bool block, struct stop *stop)
{
	int status;

	tracees->event = 0;
	if ((tracees->deferred.count || tracees->early.count) && next_kept(tracees, stop))
		return 0;
	take_unresumed(tracees);
	for (;;) {
		bool unannounced = block && has_unannounced(tracees);
		pid_t tid = waiting_next(&tracees->waiting, block && !unannounced, &status);

		if (tid < 0)
			return tid;
		if (tid == 0 && unannounced) {
			if (adopt_orphan(tracees, stop))
				return 0;
			if (nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL) != 0)
				return -EINTR;
			continue;
		}
		if (tid == 0)
			return -EAGAIN;
		struct thread *thread = tracees_thread(tracees, tid);

		if (thread) {
			fill_stop(stop, thread, status);
			tracees->last_stopped = tid;
			return 0;
		}
		/*
		 * An exec by a thread that is not the leader, after the leader has ended: the
		 * status comes for a tid that is not in the table any more.
		 */
		struct process *process = tracees_process(tracees, tid);

		if (process && stop_status_decode(status).kind == STOP_EXEC) {
			thread = thread_create(tracees, process, tid);
			thread->fresh = false; /* the process is known */
			fill_stop(stop, thread, status);
			return 0;
		}
		keep_early(tracees, tid, status);
	}
}

void tracees_settle_abandoned(struct tracees *tracees, unsigned timeout_ms)
{
	uint64_t deadline = clock_now() + (uint64_t)timeout_ms * 1000000U;
	struct stop stop;

	while (tracees->abandoned.count && clock_now() < deadline) {
		if (tracees_next(tracees, false, &stop) == -ECHILD)
			return;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

bool thread_note_ending(struct thread *thread)
{
	struct process *process = thread->process;

	process->ending += !thread->ending;
	thread->ending = true;
	return process->ending == process->threads;
}

bool thread_is_safe_stop(const struct thread *thread)
{
	return thread->state == THREAD_STOPPED &&
	       (thread->stop == STOP_SIGNAL || thread->stop == STOP_TRAP);
}

/*
 * Returns true if a thread is in an uninterruptible sleep that may last: in vfork(2), when it has a
 * child. Other such sleeps, for a page or the lock of its memory map, end soon, but not at once
 * under load.
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

/* `may_sleep`: give up early if the thread is in uninterruptible sleep. */
static int wait_for_status(const struct thread *thread, int *wait_status, unsigned timeout_ms,
			   bool may_sleep)
{
	struct tracees *tracees = thread->process->tracees;
	uint64_t start = clock_now();
	uint64_t deadline = start + (uint64_t)timeout_ms * 1000000U;
	long pause = 2000;

	for (;;) {
		pid_t tid = waiting_poll(thread->tid, wait_status);

		if (tid < 0 && errno != EINTR)
			return -ESRCH;
		uint64_t now = clock_now();

		if (tid > 0) {
			tracees->event = now;
			return 0;
		}

		/* The end of a leader is not reported before all other threads have ended. */
		if (now - start > PATIENCE_NS && proc_state(thread->tid) == 'Z')
			return -ESRCH;
		if (now > deadline || (may_sleep && sleeps_long(thread, now - start)))
			return -ETIMEDOUT;
		/*
		 * A sleep of 2 us takes 60 us (prctl(2), PR_SET_TIMERSLACK), longer than most stops
		 * take.
		 */
		if (now - start < tracees->spin_ns)
			continue;
		nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
		pause = pause < 1000000 ? pause * 2 : pause;
	}
}

int thread_wait(struct thread *thread, int *wait_status, unsigned timeout_ms)
{
	return wait_for_status(thread, wait_status, timeout_ms, false);
}

int thread_stop(struct tracees *tracees, struct thread *thread, unsigned timeout_ms)
{
	int status;

	if (thread->state == THREAD_STOPPED)
		return 0;
	/* A newly reported task stops by itself; its first stop may be there already. */
	if (!(thread->fresh && take_early(tracees, thread->tid, &status))) {
		if (!thread->fresh && pt_interrupt(thread->tid) == -ESRCH)
			return -ESRCH;
		int error = wait_for_status(thread, &status, timeout_ms, true);

		/*
		 * The kernel reports the interrupt after the stops of a system call, or one of
		 * these stops has replaced it. So the interrupt is requested again.
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
	struct tracees *tracees = thread->process->tracees;
	struct stop stop;

	for (int i = 0; i < OUTSIDE_TRIES; i++) {
		if (thread_stop(tracees, thread, OUTSIDE_STOP_MS) != 0 ||
		    !thread_is_safe_stop(thread) ||
		    (thread->stop == STOP_SIGNAL && thread->stop_signal == SIGTRAP) ||
		    !inside(thread, context) || !thread_take_deferred(tracees, thread, &stop))
			return;
		thread_resume(thread, stop.kind == STOP_SIGNAL ? stop.signal : 0);
		nanosleep(&(struct timespec){.tv_nsec = OUTSIDE_PAUSE_NS}, NULL);
	}
}
