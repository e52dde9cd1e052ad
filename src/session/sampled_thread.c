/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread whose stack is looked at again and again.
 *
 * Most threads of a service sleep. A stop would end system calls that the kernel does not restart,
 * and each time-out would begin anew at each sample: epoll_wait(2) with a time-out of a second
 * would never return. So a thread that sleeps is not stopped. If it has not run since the last
 * sample, its stack is the same; if it has, its stack is walked as it sleeps, and counts if it has
 * not run meanwhile. A thread that runs is attached to, stopped, and detached from at once.
 *
 * The kernel does not tell the thread pointer, by which virtual machines find a thread, without a
 * stop. It never changes, so each thread is stopped at its first sample.
 *
 * A thread that does not stop in time is left alone, and detached from at the next sample. It
 * cannot wait for the tracer longer than that.
 */
#include "session/sampled_thread.h"

#include "base/xalloc.h"
#include "target/call_stacks.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"
#include "tracee/seize.h"
#include "tracee/syscall_restart.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEIZE_MS = 20, STOP_MS = 20, LEAVE_MS = 300 };

struct sampled_thread *sampled_thread_create(struct tracees *tracees, struct process *process,
					     pid_t tid)
{
	struct sampled_thread *sampled = xcalloc(1, sizeof *sampled);
	char name[16];

	proc_name(tid, name);
	snprintf(sampled->name, sizeof sampled->name, "%s-%d", name, (int)tid);
	sampled->thread = thread_create(tracees, process, tid);
	sampled->thread->fresh = false;
	return sampled;
}

/* Detaches from the thread when it has stopped. Returns false if it has not within the time. */
static bool leave(struct sampled_thread *sampled, unsigned timeout_ms)
{
	struct thread *thread = sampled->thread;
	int status;
	const int error = thread_wait(thread, &status, timeout_ms);

	if (error == -ETIMEDOUT)
		return false;
	sampled->is_leaving = false;
	if (error)
		return true;
	const struct stop_status decoded = stop_status_decode(status);

	if (decoded.kind == STOP_TRAP)
		thread_restart_call(thread);
	pt_detach(thread->tid, decoded.kind == STOP_SIGNAL ? decoded.signal : 0);
	return true;
}

void sampled_thread_destroy(struct tracees *tracees, struct sampled_thread *sampled)
{
	if (sampled->is_leaving)
		leave(sampled, LEAVE_MS);
	thread_destroy(tracees, sampled->thread);
	free(sampled);
}

void sampled_thread_forget(struct sampled_thread *sampled)
{
	sampled->sleeper.pc = 0;
}

static bool walk_sleeper(struct target *target, struct sampled_thread *sampled)
{
	const pid_t tid = sampled->thread->tid;
	struct sleeper sleeper;
	struct regs regs;

	if (sampled->sleeper.pc && sleeper_sleeps_on(tid, &sampled->sleeper))
		return true;
	sampled->sleeper.pc = 0;
	if (!sampled->has_pointer || !sleeper_read(tid, &sleeper))
		return false;
	regs = (struct regs){.pc = sleeper.pc, .fs_base = sampled->thread_pointer};
	regs.r[REG_SP] = sleeper.sp;
	const uint32_t stack = call_stacks_of_thread(target, sampled->thread, &regs, 0);

	if (!sleeper_sleeps_on(tid, &sleeper))
		return false;
	sampled->stack = stack;
	sampled->sleeper = sleeper;
	return true;
}

/* Stops the thread for a walk. Returns false if it is gone. */
static bool walk_stopped(struct target *target, struct sampled_thread *sampled)
{
	struct thread *thread = sampled->thread;
	struct regs regs;
	int status;

	sampled->stack = 0;
	if (seize_within(thread->tid, 0, SEIZE_MS) != 0)
		return proc_state(thread->tid) != '?';
	pt_interrupt(thread->tid);
	const int error = thread_wait(thread, &status, STOP_MS);

	if (error) {
		sampled->is_leaving = error == -ETIMEDOUT;
		return sampled->is_leaving;
	}
	const struct stop_status decoded = stop_status_decode(status);

	if (decoded.kind == STOP_EXITED || decoded.kind == STOP_KILLED)
		return false;
	if (regs_load(thread->tid, &regs) == 0) {
		sampled->thread_pointer = regs.fs_base;
		sampled->has_pointer = true;
		sampled->stack = call_stacks_of_thread(target, thread, &regs, 0);
	}
	if (decoded.kind == STOP_TRAP)
		thread_restart_call(thread);
	pt_detach(thread->tid, decoded.kind == STOP_SIGNAL ? decoded.signal : 0);
	return true;
}

bool sampled_thread_look(struct target *target, struct sampled_thread *sampled, uint32_t *stack)
{
	bool is_there = true;

	if (sampled->is_leaving && !leave(sampled, 0)) {
		*stack = 0;
		return true;
	}
	if (!walk_sleeper(target, sampled))
		is_there = walk_stopped(target, sampled);
	*stack = sampled->stack;
	return is_there;
}
