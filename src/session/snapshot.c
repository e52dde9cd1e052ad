/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot of the stacks of all threads of a process.
 *
 * The process may be the one that serves the customers, so its threads stand still as shortly as
 * possible, and nothing in it is changed.
 *
 * Most threads sleep. They are not stopped: their stacks are read as they sleep, all together, and
 * those count that have not run meanwhile (sampled_thread.c). A stack whose walk needs a register
 * that is only known of a stopped thread does not count, either.
 *
 * The others are stopped, one after the other, each for the time of its own walk. What takes long
 * is done before: a thread that runs is stopped for its registers first, and its stack is walked
 * when it runs again. The result is of no use, as the stack changes meanwhile, but what the walk
 * has read then (call-frame information, symbols, the tables of virtual machines) is at hand for
 * the walk that counts. Source lines are looked up and the text is written at the end, because
 * debug information may be large, and a reader of the output may be slow.
 *
 * A thread that gets no processor does not stop, either. It is looked at again behind the others,
 * for some time. One in an uninterruptible sleep is not: that may last.
 *
 * So the stacks are not those of one moment. A thread that sleeps does so from its look to the end
 * of all looks at sleepers; of one that runs, the next moment is as good as this one.
 *
 * A system call that a stop interrupts is restarted (tracee/syscall_restart.h), so the process does
 * not notice.
 */
#include "session/snapshot.h"

#include "base/diag.h"
#include "base/xalloc.h"
#include "session/sampled_process.h"
#include "session/waiting_call.h"
#include "sink/stacks/thread_stacks.h"
#include "target/stacks/call_stacks.h"
#include "tracee/clock.h"
#include "tracee/proc.h"
#include "tracee/processors.h"
#include "tracee/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A thread that sleeps and runs by turns is looked at so many times before it is stopped. */
enum { LOOKS = 3 };
/* How long one that runs and does not stop is waited for, behind the others. */
enum { LATE_MS = 1000 };

/* What is kept of a thread until the text is written. */
struct seen_thread {
	struct sampled_thread *sampled;
	struct sleeper sleeper; /* where it sleeps, at this look */
	struct regs regs;
	bool sleeps;
	bool is_done;	 /* its stack is known */
	bool is_to_stop; /* to be found out while it stands */
	struct thread_stack stack;
	bool is_leader; /* the main thread, which comes first */
	char name[16];
	struct waiting_call call;
	struct walked_stack walked;
};

struct snapshot {
	struct session *session;
	struct sampled_process *process;
	struct vec threads; /* struct seen_thread * */
	bool has_asked;	    /* debug information is being read */
};

static struct seen_thread *seen_at(const struct snapshot *snapshot, size_t index)
{
	return *(struct seen_thread **)vec_at(&snapshot->threads, index);
}

static void forget(struct seen_thread *seen)
{
	waiting_call_deinit(&seen->call);
	walked_stack_deinit(&seen->walked);
	walked_stack_init(&seen->walked);
	seen->call = (struct waiting_call){0};
	seen->stack.entry = seen->stack.unfilled = NULL;
}

static void see_thread(void *context, pid_t tid)
{
	struct snapshot *snapshot = context;
	struct seen_thread *seen = xcalloc(1, sizeof *seen);

	walked_stack_init(&seen->walked);
	seen->sampled = sampled_process_thread(snapshot->session, snapshot->process, tid);
	seen->stack.tid = tid;
	seen->stack.name = seen->name;
	seen->is_leader = tid == snapshot->process->pid;
	vec_push(&snapshot->threads, &seen);
}

/*
 * Debug information is unpacked by another process, which takes longer than all looks. The other
 * threads' frames are mostly in the modules of the first one's. If all processors have work, the
 * target's threads would wait for one: it is then unpacked behind the looks.
 */
static void ask_ahead(struct snapshot *snapshot, const struct seen_thread *seen)
{
	if (!snapshot->has_asked && processors_one_is_idle())
		call_stacks_ask_ahead(&snapshot->session->target, seen->sampled->thread,
				      &seen->regs);
	snapshot->has_asked = true;
}

/* ------------------------------------------------------------------ threads that sleep */

/* Stores the system call that the thread is in, and what it does. */
static void see_call(struct snapshot *snapshot, struct seen_thread *seen)
{
	waiting_call_capture(&snapshot->session->target, seen->sampled->thread, &seen->regs,
			     &seen->call);
	seen->stack.entry = seen->call.entry;
	seen->stack.unfilled = seen->call.unfilled;
}

static void look_at_sleeper(struct snapshot *snapshot, struct seen_thread *seen)
{
	ask_ahead(snapshot, seen);
	switch (proc_state(seen->stack.tid)) {
	case 'T':
		seen->stack.activity = ACTIVITY_STOPPED;
		break;
	case 'S':
		seen->stack.activity = ACTIVITY_CALL;
		break;
	default:
		seen->stack.activity = ACTIVITY_WAITS;
	}
	if (seen->sleeper.call >= 0 && seen->stack.activity != ACTIVITY_STOPPED)
		see_call(snapshot, seen);
	seen->is_to_stop = !call_stacks_walk(&snapshot->session->target, seen->sampled->thread,
					     &seen->regs, &seen->walked);
}

/* Looks at all threads that sleep and are not done. */
static void look_at_sleepers(struct snapshot *snapshot)
{
	struct target *target = &snapshot->session->target;
	const size_t count = snapshot->threads.count;

	for (size_t i = 0; i < count; i++) {
		struct seen_thread *seen = seen_at(snapshot, i);

		seen->sleeps = !seen->is_done && !seen->is_to_stop &&
			       sampled_thread_sleeps(seen->sampled, &seen->sleeper, &seen->regs);
	}
	/* What the stacks of threads that sleep on refer to does not change. */
	call_stacks_freeze(target, sampled_process_any(snapshot->process), true);
	for (size_t i = 0; i < count; i++)
		if (seen_at(snapshot, i)->sleeps)
			look_at_sleeper(snapshot, seen_at(snapshot, i));
	call_stacks_freeze(target, sampled_process_any(snapshot->process), false);
	for (size_t i = 0; i < count; i++) {
		struct seen_thread *seen = seen_at(snapshot, i);

		if (!seen->sleeps)
			continue;
		seen->is_done = !seen->is_to_stop &&
				sleeper_sleeps_on(seen->stack.tid, &seen->sleeper);
		if (!seen->is_done)
			forget(seen);
	}
}

/* ------------------------------------------------------------------ threads that are stopped */

/* Reads what the walk of a thread that runs will need. */
static void walk_ahead(struct snapshot *snapshot, struct seen_thread *seen)
{
	struct stop_status stop;

	if (sampled_thread_stop(seen->sampled, &stop, &seen->regs) != SAMPLED_STOPPED)
		return;
	sampled_thread_go(seen->sampled, &stop);
	ask_ahead(snapshot, seen);
	call_stacks_walk(&snapshot->session->target, seen->sampled->thread, &seen->regs,
			 &seen->walked);
	forget(seen);
}

/* What can be told of a thread that does not stop. */
static void see_unstopped(struct snapshot *snapshot, struct seen_thread *seen)
{
	seen->is_done = true;
	seen->stack.activity = proc_state(seen->stack.tid) == 'R' ? ACTIVITY_RUNS : ACTIVITY_WAITS;
	if (sampled_thread_sleeps(seen->sampled, &seen->sleeper, &seen->regs))
		call_stacks_walk(&snapshot->session->target, seen->sampled->thread, &seen->regs,
				 &seen->walked);
}

static enum sampled_stop look_at_stopped(struct snapshot *snapshot, struct seen_thread *seen)
{
	struct target *target = &snapshot->session->target;
	struct thread *thread = seen->sampled->thread;
	struct stop_status stop;

	if (!seen->is_to_stop)
		walk_ahead(snapshot, seen);
	seen->is_to_stop = true;
	const enum sampled_stop result = sampled_thread_stop(seen->sampled, &stop, &seen->regs);

	if (result != SAMPLED_STOPPED)
		return result;
	seen->is_done = true;
	seen->stack.activity = ACTIVITY_RUNS;
	if (stop.kind == STOP_GROUP) {
		seen->stack.activity = ACTIVITY_STOPPED;
	} else if (waiting_call_is_there(thread->process->space->arch, &seen->regs)) {
		seen->stack.activity = ACTIVITY_CALL;
		see_call(snapshot, seen);
	}
	call_stacks_walk(target, thread, &seen->regs, &seen->walked);
	sampled_thread_go(seen->sampled, &stop);
	return result;
}

/*
 * Looks at all threads that are not done. Returns how many are left, as they have not stopped;
 * none if no more looks are to come. -EINTR: a signal ended it.
 */
static ssize_t look_at_others(struct snapshot *snapshot, bool is_last)
{
	ssize_t left = 0;

	for (size_t i = 0; i < snapshot->threads.count; i++) {
		struct seen_thread *seen = seen_at(snapshot, i);

		if (seen->is_done)
			continue;
		/* A thread that does not stop takes some time, and there may be many. */
		if (interrupts_end(snapshot->session->interrupts))
			return -EINTR;
		switch (look_at_stopped(snapshot, seen)) {
		case SAMPLED_STOPPED:
			break;
		case SAMPLED_STUCK:
			if (is_last || proc_state(seen->stack.tid) == 'D')
				see_unstopped(snapshot, seen);
			else
				left++;
			break;
		case SAMPLED_GONE:
			forget(seen);
			free(seen);
			vec_remove(&snapshot->threads, i--);
			break;
		}
	}
	return left;
}

/* Returns -EINTR if a signal ended it. */
static int look(struct snapshot *snapshot)
{
	for (unsigned i = 0; i < LOOKS; i++)
		look_at_sleepers(snapshot);
	ssize_t left = look_at_others(snapshot, false);
	const uint64_t end = clock_now() + LATE_MS * 1000000ULL;

	while (left > 0)
		left = look_at_others(snapshot, clock_now() >= end);
	return (int)left;
}

/* Detaches from threads that have stopped too late: they wait for nothing else. */
static void let_go(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->threads.count; i++)
		sampled_thread_let_go(seen_at(snapshot, i)->sampled);
}

/* ------------------------------------------------------------------ the text */

static void look_up_lines(struct snapshot *snapshot, const struct space *space)
{
	for (size_t i = 0; i < snapshot->threads.count; i++) {
		struct seen_thread *seen = seen_at(snapshot, i);

		let_go(snapshot);
		seen->stack.stack = call_stacks_keep(&snapshot->session->target, space,
						     &seen->walked);
	}
}

static int compare_threads(const void *left, const void *right)
{
	const struct seen_thread *const *one = left, *const *other = right;

	if ((*one)->is_leader != (*other)->is_leader)
		return (*one)->is_leader ? -1 : 1;
	return ((*one)->stack.tid > (*other)->stack.tid) -
	       ((*one)->stack.tid < (*other)->stack.tid);
}

static int write_text(struct snapshot *snapshot, pid_t pid, const char *name)
{
	struct session *session = snapshot->session;
	const struct sink_target target = {.probes = session->target.probes,
					   .options = &session->output,
					   .code = &session->code,
					   .stacks = call_stacks_table(&session->target)};
	struct outbuf out;

	outbuf_init(&out, session->target.options->output_fd);
	thread_stacks_put_process(&out, pid, name, snapshot->threads.count);
	if (snapshot->threads.count)
		qsort(snapshot->threads.items, snapshot->threads.count, sizeof(void *),
		      compare_threads);
	for (size_t i = 0; i < snapshot->threads.count; i++) {
		struct seen_thread *seen = seen_at(snapshot, i);

		let_go(snapshot);
		proc_name(seen->stack.tid, seen->name);
		thread_stacks_put(&out, &target, &seen->stack);
	}
	const int error = outbuf_flush(&out);

	outbuf_deinit(&out);
	return error;
}

static void snapshot_deinit(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->threads.count; i++) {
		struct seen_thread *seen = seen_at(snapshot, i);

		forget(seen);
		free(seen);
	}
	vec_deinit(&snapshot->threads);
}

/* ------------------------------------------------------------------ a process */

static int snapshot_process(struct session *session, pid_t pid)
{
	struct snapshot snapshot = {.session = session, .threads = VEC_OF(struct seen_thread *)};
	int error = sampled_process_open(session, pid, &snapshot.process);
	char name[16];

	if (error)
		return error;
	proc_name(pid, name);
	proc_each_task(pid, see_thread, &snapshot);
	error = look(&snapshot);
	if (error) {
		/* nothing is said of it */
	} else if (!snapshot.threads.count || !sampled_process_is_same(snapshot.process)) {
		diag("process %d: it has ended or called exec while it was looked at", (int)pid);
		error = -ESRCH;
	} else {
		look_up_lines(&snapshot, snapshot.process->process->space);
		error = write_text(&snapshot, pid, name);
		if (error)
			diag("cannot write the stacks: %s", strerror(-error));
	}
	snapshot_deinit(&snapshot);
	sampled_process_close(session, snapshot.process);
	return error;
}

/* Returns true if no process of the list before `index` is the same. */
static bool is_first(const struct session_options *options, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (proc_process_of(options->pids[i]) == proc_process_of(options->pids[index]))
			return false;
	return true;
}

int snapshot_take(struct session *session)
{
	const struct session_options *options = session->target.options;
	size_t failures = 0, processes = 0;
	int first_error = 0;

	for (size_t i = 0; i < options->pid_count && first_error != -EINTR; i++) {
		if (!is_first(options, i))
			continue;
		const int error = snapshot_process(session, proc_process_of(options->pids[i]));

		processes++;
		failures += error != 0;
		if (!first_error || error == -EINTR)
			first_error = error;
	}
	return failures == processes || first_error == -EINTR ? first_error : 0;
}
