/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resumes stopped threads, keeps stops that were collected early, and knows by these which threads
 * must not be resumed any more.
 */
#include "tracee/resume.h"

#include "tracee/clock.h"
#include "tracee/ptrace.h"
#include "tracee/tracee.h"
#include "tracee/waiting.h"

void thread_defer(struct thread *thread, int wait_status)
{
	if (!thread->has_deferred)
		vec_push(&thread->process->tracees->deferred, &thread->tid);
	thread->has_deferred = true;
	thread->deferred_status = wait_status;
	thread->deferred_since = clock_now();
}

void thread_forget_deferred(struct tracees *tracees, struct thread *thread)
{
	const pid_t *tids = tracees->deferred.items;

	if (!thread->has_deferred)
		return;
	thread->has_deferred = false;
	for (size_t i = 0; i < tracees->deferred.count; i++)
		if (tids[i] == thread->tid) {
			vec_remove(&tracees->deferred, i);
			return;
		}
}

void thread_keep_stop(struct thread *thread, int wait_status)
{
	const struct stop_status stop = stop_status_decode(wait_status);

	thread_defer(thread, wait_status);
	thread->state = THREAD_STOPPED;
	thread->stop = stop.kind;
	thread->stop_signal = stop.signal;
}

void thread_look_for_end(struct thread *thread)
{
	int status;

	/* waiting_poll() may report the known stop once more: waiting.h. */
	if (thread->state == THREAD_STOPPED && !thread_is_over(thread) &&
	    waiting_poll(thread->tid, &status) > 0 &&
	    stop_status_decode(status).kind == STOP_ENDING)
		thread_keep_stop(thread, status);
}

void thread_take_stop(struct thread *thread)
{
	int status;

	if (waiting_take(thread->tid, &status) && stop_status_decode(status).kind != STOP_SIGNAL)
		thread_keep_stop(thread, status);
}

bool thread_is_over(const struct thread *thread)
{
	return thread->has_deferred &&
	       stop_ends_program(stop_status_decode(thread->deferred_status).kind);
}

/*
 * Returns true if the thread must stop at its system calls: for syscall probes, or `syscall_stops`.
 */
static bool stops_at_syscalls(const struct thread *thread)
{
	const struct process *process = thread->process;

	return thread->syscall_stops ||
	       (process->tracees->passed_syscall && !process->silent && !process->calls_pass);
}

void thread_resume(struct thread *thread, int signal)
{
	if (thread_is_over(thread))
		return;
	thread->state = THREAD_RUNNING;
	if (stops_at_syscalls(thread))
		pt_to_syscall(thread->tid, signal);
	else
		pt_continue(thread->tid, signal);
}

void thread_listen(struct thread *thread)
{
	thread->state = THREAD_RUNNING;
	pt_listen(thread->tid);
}

void thread_pass_syscall(struct thread *thread)
{
	const struct tracees *tracees = thread->process->tracees;

	thread->state = THREAD_STOPPED;
	thread->stop = STOP_SYSCALL;
	if (tracees->passed_syscall && stops_at_syscalls(thread))
		tracees->passed_syscall(tracees->passed_context, thread);
	thread->state = THREAD_RUNNING;
	pt_to_syscall(thread->tid, 0);
}
