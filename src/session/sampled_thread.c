/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread whose stack is looked at without tracing it.
 *
 * Most threads of a service sleep. A stop would end system calls that the kernel does not restart,
 * and each time-out would begin anew at each sample: epoll_wait(2) with a time-out of a second
 * would never return. So a thread that sleeps is not stopped. If it has not run since the last
 * sample, its stack is the same; if it has, its stack is walked as it sleeps, and counts if it has
 * not run meanwhile. A thread that runs is attached to, stopped, and detached from at once.
 *
 * Not all registers of a sleeping thread are known (tracee/sleeper.h). Most code does not need the
 * others. The thread pointer, by which virtual machines find a thread, is taken from the first stop
 * if the C library does not tell it.
 *
 * A thread that does not stop in time is left alone, and looked at or detached from at the next
 * sample. It cannot wait for the tracer longer than that.
 */
#include "session/sampled_thread.h"

#include "base/xalloc.h"
#include "target/stacks/call_stacks.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"
#include "tracee/seize.h"
#include "tracee/space.h"
#include "tracee/syscall_restart.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEIZE_MS = 20, STOP_MS = 20 };

static void name_thread(struct sampled_thread *sampled, pid_t tid)
{
	char name[16];

	proc_name(tid, name);
	snprintf(sampled->name, sizeof sampled->name, "%s-%d", name, (int)tid);
}

struct sampled_thread *sampled_thread_create(struct tracees *tracees, struct process *process,
					     pid_t tid)
{
	struct sampled_thread *sampled = xcalloc(1, sizeof *sampled);

	name_thread(sampled, tid);
	sampled->thread = thread_create(tracees, process, tid);
	sampled->thread->fresh = false;
	return sampled;
}

void sampled_thread_go(struct sampled_thread *sampled, const struct stop_status *stop)
{
	struct thread *thread = sampled->thread;

	if (stop->kind == STOP_TRAP)
		thread_restart_call(thread);
	pt_detach(thread->tid, stop->kind == STOP_SIGNAL ? stop->signal : 0);
}

/* Detaches from the thread when it has stopped. Returns false if it has not within the time. */
static bool leave(struct sampled_thread *sampled, unsigned timeout_ms)
{
	int status;
	const int error = thread_wait(sampled->thread, &status, timeout_ms);

	if (error == -ETIMEDOUT)
		return false;
	sampled->is_leaving = false;
	if (error)
		return true;
	const struct stop_status stop = stop_status_decode(status);

	sampled_thread_go(sampled, &stop);
	return true;
}

bool sampled_thread_let_go(struct sampled_thread *sampled)
{
	return !sampled->is_leaving || leave(sampled, 0);
}

void sampled_thread_destroy(struct tracees *tracees, struct sampled_thread *sampled,
			    unsigned timeout_ms)
{
	if (sampled->is_leaving)
		leave(sampled, timeout_ms);
	thread_destroy(tracees, sampled->thread);
	free(sampled);
}

void sampled_thread_forget(struct sampled_thread *sampled)
{
	sampled->sleeper.pc = 0;
	sampled->thread_pointer = 0;
	sampled->asked_for_pointer = sampled->was_stopped = false;
	name_thread(sampled, sampled->thread->tid);
}

bool sampled_thread_sleeps(struct sampled_thread *sampled, struct sleeper *sleeper,
			   struct regs *regs)
{
	const pid_t tid = sampled->thread->tid;
	const struct space *space = sampled->thread->process->space;

	if (!sleeper_read(tid, sleeper))
		return false;
	if (!sampled->asked_for_pointer && !sampled->was_stopped &&
	    !sleeper_thread_pointer(tid, space->arch, &space->memory, &sampled->thread_pointer))
		sampled->thread_pointer = 0;
	sampled->asked_for_pointer = true;
	sleeper_registers(sleeper, space->arch, sampled->thread_pointer, regs);
	return true;
}

enum sampled_stop sampled_thread_stop(struct sampled_thread *sampled, struct stop_status *stop,
				      struct regs *regs)
{
	struct thread *thread = sampled->thread;
	int status;

	if (!sampled->is_leaving) {
		if (seize_within(thread->tid, 0, SEIZE_MS) != 0)
			return proc_has_ended(thread->tid) ? SAMPLED_GONE : SAMPLED_STUCK;
		pt_interrupt(thread->tid);
	}
	const int error = thread_wait(thread, &status, STOP_MS);

	sampled->is_leaving = error == -ETIMEDOUT;
	if (error)
		return sampled->is_leaving ? SAMPLED_STUCK : SAMPLED_GONE;
	*stop = stop_status_decode(status);
	if (stop->kind == STOP_EXITED || stop->kind == STOP_KILLED ||
	    regs_load(thread->tid, regs) != 0)
		return SAMPLED_GONE;
	sampled->thread_pointer = regs->fs_base;
	sampled->was_stopped = true;
	return SAMPLED_STOPPED;
}

static bool walk_sleeper(struct target *target, struct sampled_thread *sampled)
{
	const pid_t tid = sampled->thread->tid;
	struct sleeper sleeper;
	struct regs regs;

	if (sampled->sleeper.pc && sleeper_sleeps_on(tid, &sampled->sleeper))
		return true;
	sampled->sleeper.pc = 0;
	if (!sampled_thread_sleeps(sampled, &sleeper, &regs) ||
	    (!sampled->thread_pointer && !sampled->was_stopped &&
	     call_stacks_want_pointer(target, sampled->thread)))
		return false;
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
	struct stop_status stop;
	struct regs regs;
	const enum sampled_stop result = sampled_thread_stop(sampled, &stop, &regs);

	sampled->stack = 0;
	if (result != SAMPLED_STOPPED)
		return result == SAMPLED_STUCK;
	sampled->stack = call_stacks_of_thread(target, sampled->thread, &regs, 0);
	sampled_thread_go(sampled, &stop);
	return true;
}

bool sampled_thread_look(struct target *target, struct sampled_thread *sampled, uint32_t *stack)
{
	bool is_there = true;

	if (!sampled_thread_let_go(sampled)) {
		*stack = 0;
		return true;
	}
	if (!walk_sleeper(target, sampled))
		is_there = walk_stopped(target, sampled);
	*stack = sampled->stack;
	return is_there;
}
