/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A snapshot of the stacks of all threads of a process.
 *
 * The process may be the one that serves the customers, so it has to stand still as shortly as
 * possible, and nothing in it is changed. What takes long is done before: the files are opened, and
 * each stack is walked once while its thread runs or sleeps. The result is of no use, as the stack
 * changes meanwhile, but what the walk has read then (call-frame information, symbols, the tables
 * of virtual machines) is at hand for the walk that counts. That is made when all threads have been
 * stopped, and it reads little more than the stacks. Source lines are looked up and the text is
 * written when they run again, because debug information may be large, and a reader of the output
 * may be slow.
 *
 * A system call that a stop interrupts is restarted (tracee/syscall_restart.h), so the process does
 * not notice.
 */
#include "session/snapshot.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "session/attaching.h"
#include "session/detach.h"
#include "session/quiesce.h"
#include "session/waiting_call.h"
#include "sink/thread_stacks.h"
#include "target/call_stacks.h"
#include "target/mapped_files.h"
#include "target/mapped_modules.h"
#include "target/module_list.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"
#include "tracee/sleeper.h"
#include "tracee/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What is kept of a thread until it runs again. */
struct seen_thread {
	struct thread_stack stack;
	bool is_leader; /* the main thread, which comes first */
	char name[16];
	struct waiting_call call;
	struct walked_stack walked;
};

struct snapshot {
	struct session *session;
	struct vec threads; /* struct seen_thread * */
};

/* ------------------------------------------------------------------ before the threads stop */

static bool read_sleeper(pid_t tid, struct sleeper *sleeper, struct regs *regs)
{
	if (!sleeper_read(tid, sleeper))
		return false;
	*regs = (struct regs){.pc = sleeper->pc};
	regs->r[REG_SP] = sleeper->sp;
	return true;
}

static void walk_ahead(struct thread *thread, void *context)
{
	struct snapshot *snapshot = context;
	struct target *target = &snapshot->session->target;
	struct walked_stack walked;
	struct sleeper sleeper;
	struct regs regs;

	if (!read_sleeper(thread->tid, &sleeper, &regs))
		return;
	walked_stack_init(&walked);
	call_stacks_walk(target, thread, &regs, &walked);
	walked_stack_deinit(&walked);
	if (sleeper.call >= 0)
		waiting_call_prepare(target, thread, (uint64_t)sleeper.call);
}

/* ------------------------------------------------------------------ while they stand */

static void look_at(struct thread *thread, void *context)
{
	struct snapshot *snapshot = context;
	struct target *target = &snapshot->session->target;
	struct seen_thread *seen = xcalloc(1, sizeof *seen);
	struct sleeper sleeper;
	struct regs regs;

	vec_push(&snapshot->threads, &seen);
	walked_stack_init(&seen->walked);
	seen->stack.tid = thread->tid;
	seen->is_leader = thread->tid == thread->process->pid;
	seen->stack.name = seen->name;
	if (thread->state != THREAD_STOPPED || regs_load(thread->tid, &regs) != 0) {
		seen->stack.activity = ACTIVITY_WAITS;
		if (read_sleeper(thread->tid, &sleeper, &regs))
			call_stacks_walk(target, thread, &regs, &seen->walked);
		return;
	}
	if (thread->stop == STOP_GROUP) {
		seen->stack.activity = ACTIVITY_STOPPED;
	} else if (waiting_call_is_there(thread->process->space->arch, &regs)) {
		seen->stack.activity = ACTIVITY_CALL;
		waiting_call_capture(target, thread, &regs, &seen->call);
		seen->stack.entry = seen->call.entry;
		seen->stack.unfilled = seen->call.unfilled;
	}
	call_stacks_walk(target, thread, &regs, &seen->walked);
}

/* ------------------------------------------------------------------ when they run again */

static void look_up_lines(struct snapshot *snapshot, const struct space *space)
{
	for (size_t i = 0; i < snapshot->threads.count; i++) {
		struct seen_thread *seen = *(struct seen_thread **)vec_at(&snapshot->threads, i);

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
		struct seen_thread *seen = *(struct seen_thread **)vec_at(&snapshot->threads, i);

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
		struct seen_thread *seen = *(struct seen_thread **)vec_at(&snapshot->threads, i);

		waiting_call_deinit(&seen->call);
		walked_stack_deinit(&seen->walked);
		free(seen);
	}
	vec_deinit(&snapshot->threads);
}

/* ------------------------------------------------------------------ a process */

static void interrupt(struct thread *thread, void *context)
{
	(void)context;
	pt_interrupt(thread->tid);
}

static void choose(struct thread *thread, void *context)
{
	struct thread **chosen = context;

	if (!*chosen || proc_state((*chosen)->tid) == 'Z')
		*chosen = thread;
}

/* A thread may have ended since. */
static void choose_any(struct process *process, struct thread **chosen)
{
	*chosen = NULL;
	process_each_thread(process, choose, chosen);
}

static int snapshot_process(struct session *session, pid_t pid)
{
	struct snapshot snapshot = {session, VEC_OF(struct seen_thread *)};
	struct process *process = tracees_process(session->target.tracees, pid);
	struct thread *chosen = NULL;
	char name[16];

	proc_name(pid, name);
	choose_any(process, &chosen);
	const int error = mapped_modules_read(&session->target, chosen);

	if (error) {
		diag("process %d: %s", (int)pid, mapped_files_reason(error));
		detach_unchanged(session, pid);
		return error;
	}
	struct space *space = space_ref(process->space);
	int failure;

	call_stacks_freeze(&session->target, chosen, true);
	process_each_thread(process, walk_ahead, &snapshot);
	/* All at once, so that none waits long for the others. */
	process_each_thread(process, interrupt, NULL);
	quiesce_process(session, pid);
	process = tracees_process(session->target.tracees, pid);
	if (!process || process->space != space) {
		diag("process %d: it has ended or called exec while it was looked at", (int)pid);
		detach_process(session, pid);
		failure = -ESRCH;
		goto out;
	}
	choose_any(process, &chosen);
	call_stacks_freeze(&session->target, chosen, true);
	process_each_thread(process, look_at, &snapshot);
	call_stacks_freeze(&session->target, chosen, false);
	detach_unchanged(session, pid);
	look_up_lines(&snapshot, space);
	failure = write_text(&snapshot, pid, name);
	if (failure)
		diag("cannot write the stacks: %s", strerror(-failure));

out:
	module_list_destroy(space->modules);
	space->modules = NULL;
	space_unref(space);
	snapshot_deinit(&snapshot);
	return failure;
}

int snapshot_take(struct session *session)
{
	const struct session_options *options = session->target.options;
	int error = attaching_start(session);

	for (size_t i = 0; i < options->pid_count && !error; i++) {
		const pid_t pid = proc_process_of(options->pids[i]);

		if (tracees_process(session->target.tracees, pid))
			error = snapshot_process(session, pid);
	}
	return error;
}
