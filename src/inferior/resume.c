/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How stopped threads go on. */
#include "inferior/inferior.h"
#include "inferior/ptrace.h"

/* Whether somebody wants to see the system calls of the thread, or one of them. */
static bool stops_at_syscalls(const struct thread *thread)
{
	const struct process *process = thread->process;

	return thread->interrupted ||
	       (process->inferior->passed_syscall && !process->silent && !process->calls_pass);
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
	const struct inferior *inferior = thread->process->inferior;

	thread->state = THREAD_STOPPED;
	thread->stop = STOP_SYSCALL;
	if (inferior->passed_syscall && stops_at_syscalls(thread))
		inferior->passed_syscall(inferior->passed_context, thread);
	thread->state = THREAD_RUNNING;
	pt_to_syscall(thread->tid, 0);
}
