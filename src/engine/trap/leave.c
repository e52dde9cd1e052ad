/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Undoes all changes to a space.
 *
 * All threads are stopped, at any place. A thread that has hit an int3 which was not handled yet
 * is set back to the instruction, which will be the program's own again. (An interrupt is reported
 * before the SIGTRAP of an int3 that the thread has hit already: the signal is still pending then,
 * and would kill the process once it is not traced. Such a thread is resumed to fetch it; the
 * thread cannot run, because the signal comes first.) A thread in an XOL slot is moved to the
 * address that the slot stands for. Then the journal is replayed backwards, each process gets its
 * own SIGTRAP disposition back, and one of the threads unmaps the memory of the slots and of the
 * SIGTRAP handler.
 *
 * Threads in code of the tracer that they cannot be moved out of were let run before
 * (trap_in_our_code()). If one is still there, that memory stays mapped.
 *
 * A process in vfork(2) cannot make a remote call before its child has its own memory or is gone.
 * By then the code is the program's own again, so the child is let run that far, if that is quick.
 *
 * If the process is in a group-stop (SIGSTOP, ^Z), it stays in it.
 *
 * A thread that could not be stopped is in the kernel and returns to the pc at which it went in.
 * That is the program's own code except at a displaced system-call instruction. If the pc is in an
 * XOL slot, the memory stays mapped.
 */
#include "engine/trap/leave.h"

#include "base/vec.h"
#include "engine/core/callstack.h"
#include "engine/core/stackset.h"
#include "engine/core/thread_calls.h"
#include "engine/trap/adopt.h"
#include "engine/trap/breakpoint.h"
#include "engine/trap/goroutines.h"
#include "engine/trap/sigmask_shadow.h"
#include "engine/trap/sigtrap.h"
#include "engine/trap/sigtrap_go.h"
#include "engine/trap/spaces.h"
#include "engine/trap/trap_state.h"
#include "engine/trap/watch.h"
#include "recovery/rescue.h"
#include "tracee/arena_map.h"
#include "tracee/clock.h"
#include "tracee/journal.h"
#include "tracee/journal_undo.h"
#include "tracee/limits.h"
#include "tracee/maps_snapshot.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"
#include "tracee/resume.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FETCH_MS = 500, FETCH_TRIES = 8, VFORK_MS = 500 };

struct leaving {
	struct space *space;
	struct thread *safe; /* at a safe stop: can make remote calls */
	bool guarded;	     /* a process still has the tracer's SIGTRAP handler */
	bool someone_inside; /* a thread is, or may come back, in the tracer's code */
	struct vec vforking; /* struct thread *: in vfork(2), waiting for a child */
	struct vec held;     /* pid_t: in a group-stop */
};

/*
 * Stores the pc at which a thread that is blocked in the kernel entered it (/proc/PID/syscall,
 * proc(5)).
 */
static bool blocked_pc(pid_t tid, uint64_t *pc)
{
	char path[64];
	char line[256] = "";

	snprintf(path, sizeof path, "/proc/%d/syscall", (int)tid);
	FILE *file = fopen(path, "re");

	if (!file)
		return false;
	const char *last = fgets(line, sizeof line, file) ? strrchr(line, ' ') : NULL;

	fclose(file);
	return last && sscanf(last, "%" SCNx64, pc) == 1;
}

static bool is_adopted(const struct space *space)
{
	return space->trap && space->trap->adopted;
}

static bool hit_ours(struct thread *thread, const struct space *space, uint64_t address)
{
	if (thread->stop != STOP_SIGNAL || thread->stop_signal != SIGTRAP)
		return false;
	if (!breakpoint_find(space, address))
		return breakpoint_is_stale(thread, address);
	return sigtrap_is_hit(thread);
}

/*
 * Resumes a thread until it reports the SIGTRAP that is pending behind its present stop. Surplus
 * interrupts may be reported first.
 */
static void fetch_pending_hit(struct thread *thread)
{
	int status;

	for (int i = 0; i < FETCH_TRIES && thread->stop != STOP_SIGNAL &&
			!stop_ends_program(thread->stop) && pt_trap_pending(thread->tid);
	     i++) {
		if (pt_continue(thread->tid, 0) != 0 || thread_wait(thread, &status, FETCH_MS) != 0)
			return;
		struct stop_status stop = stop_status_decode(status);

		thread->stop = stop.kind;
		thread->stop_signal = stop.signal;
	}
}

/*
 * Returns true if the killed tracer had already handled this SIGTRAP, or had caused it by a
 * single-step, but had not resumed the thread. (The handler in the process decides by the same
 * rules: sysdeps/x86/rescue.c.)
 */
static bool was_served(const struct thread *thread, const struct space *space,
		       const struct regs *regs)
{
	const struct arch *arch = space->arch;
	uint64_t handler = 0;
	siginfo_t info;

	if (!is_adopted(space) || thread->stop != STOP_SIGNAL || thread->stop_signal != SIGTRAP ||
	    pt_get_siginfo(thread->tid, &info) != 0)
		return false;
	memcpy(&handler, thread->process->trap->sigtrap_action, arch->abi->word);
	if (info.si_code == TRAP_TRACE)
		return handler <= (uintptr_t)SIG_IGN || !(regs->flags & arch->step_flag);
	if (info.si_code == TRAP_HWBKPT)
		return true;
	return info.si_code == SI_KERNEL && regs_are_marked(thread->tid);
}

/*
 * A thread in a group-stop runs when the tracer resumes it, and goes back into the group-stop when
 * it is detached (the kernel's __ptrace_unlink()). So it can make remote calls.
 */
static void note_held(struct leaving *leaving, struct thread *thread)
{
	if (thread->stop != STOP_GROUP)
		return;
	thread->stop = STOP_TRAP;
	vec_push(&leaving->held, &thread->tid);
}

/*
 * Marks the threads as group-stopped again, so that a system call under way ends as the program
 * expects at a group-stop.
 */
static void hold_again(struct tracees *tracees, const struct leaving *leaving)
{
	for (size_t i = 0; i < leaving->held.count; i++) {
		pid_t tid = *(pid_t *)vec_at(&leaving->held, i);
		struct thread *thread = tracees_thread(tracees, tid);

		if (thread && thread->state == THREAD_STOPPED && thread->stop == STOP_TRAP)
			thread->stop = STOP_GROUP;
	}
}

static void move_out(struct thread *thread, void *context)
{
	struct leaving *leaving = context;
	struct space *space = leaving->space;
	struct regs regs;
	uint64_t pc;
	bool not_begun;

	if (thread->state != THREAD_STOPPED) {
		leaving->someone_inside |= !blocked_pc(thread->tid, &pc) ||
					   trap_in_our_code(space, pc) ||
					   breakpoint_program_pc(space, pc, &pc, &not_begun);
		return;
	}
	space->reader = thread->tid;
	note_held(leaving, thread);
	fetch_pending_hit(thread);
	if (regs_load(thread->tid, &regs) != 0)
		return;
	bool served = was_served(thread, space, &regs);

	pc = regs.pc - space->arch->breakpoint_pc_offset;
	if (!served && hit_ours(thread, space, pc)) {
		regs.pc = pc;
		regs_store(thread->tid, &regs);
		sigtrap_hit(thread, clock_now());
		thread->stop_signal = sigtrap_to_deliver(thread);
		thread_take_stop(thread); /* not to be delivered if the tracer dies now */
		leaving->someone_inside |= trap_in_our_code(space, pc);
	} else if (breakpoint_program_pc(space, regs.pc, &pc, &not_begun)) {
		regs.pc = pc;
		regs_store(thread->tid, &regs);
	} else {
		leaving->someone_inside |= trap_runs_our_code(space, &regs);
	}
	/*
	 * Signals may have been delivered to a thread in the tracer's code while no tracer was
	 * there.
	 */
	if ((is_adopted(space) || trap_was_orphaned(space)) && !thread->trap->is_out)
		leaving->someone_inside |= trap_on_stack(space, regs.r[REG_SP]);
	if (served) {
		thread->stop_signal = 0;
		thread_take_stop(thread);
	}
	sigmask_shadow_undo(thread);
	trap_clear_watched(thread);
	if (thread_is_safe_stop(thread) && (!leaving->safe || thread->stop == STOP_TRAP))
		leaving->safe = thread;
}

/* Drops a thread's pending calls, also if the thread did not stop or died meanwhile. */
static void forget_calls(struct thread *thread, void *context)
{
	(void)context;
	callstacks_destroy(thread->calls->stacks);
	thread->calls->stacks = NULL;
	thread->syscall_stops = 0;
}

/* Each process of the space gets its disposition back through one of its threads. */
static void end_sigtrap(struct thread *thread, void *context)
{
	(void)context;
	if (thread->state != THREAD_STOPPED || !thread_is_safe_stop(thread))
		return;
	sigtrap_go_end(thread);
	sigtrap_end(thread);
}

static void restore_limits(struct thread *thread, void *context)
{
	(void)context;
	limits_restore(thread->process->space, thread->process->pid);
}

/* ------------------------------------------------------------------ processes in vfork(2) */

static bool is_vforking(const struct thread *thread)
{
	return thread->state == THREAD_STOPPED ? thread->stop == STOP_VFORK
					       : proc_state(thread->tid) == 'D';
}

static void find_vforking(struct thread *thread, void *context)
{
	struct leaving *leaving = context;

	if (thread->process->trap->sigtrap_guarded && is_vforking(thread))
		vec_push(&leaving->vforking, &thread);
}

/*
 * Resumes a thread, if it is stopped, until an interrupt stops it. A thread that has ended reports
 * nothing more.
 */
static void stop_again(struct thread *thread)
{
	int status;

	pt_interrupt(thread->tid);
	if (thread->state == THREAD_STOPPED)
		pt_continue(thread->tid, 0);
	thread->state = THREAD_RUNNING;
	if (thread_wait(thread, &status, VFORK_MS) != 0)
		return;
	struct stop_status stop = stop_status_decode(status);

	thread->state = THREAD_STOPPED;
	thread->stop = stop.kind;
	thread->stop_signal = stop.kind == STOP_SIGNAL ? stop.signal : 0;
}

/* Resumes a CLONE_VM child. */
static void let_child_run(struct thread *thread, void *context)
{
	struct tracees *tracees = context;
	struct stop stop;

	if (!thread->process->shares_parent_vm || !thread_is_safe_stop(thread))
		return;
	int signal = thread->stop == STOP_SIGNAL ? thread->stop_signal : 0;

	thread_take_deferred(tracees, thread, &stop);
	thread->state = THREAD_RUNNING;
	pt_continue(thread->tid, signal);
}

/*
 * Stops a CLONE_VM child again. It mostly stops at exec, with its own memory. That is not a safe
 * stop, so the child makes no remote calls.
 */
static void stop_child(struct thread *thread, void *context)
{
	(void)context;
	if (thread->process->shares_parent_vm && thread->state != THREAD_STOPPED)
		stop_again(thread);
}

static void find_safe(struct thread *thread, void *context)
{
	struct leaving *leaving = context;

	if (thread_is_safe_stop(thread) && (!leaving->safe || thread->stop == STOP_TRAP))
		leaving->safe = thread;
}

/*
 * Waits for vfork children. By now all bytes are the program's again, and CLONE_VM children have
 * their dispositions back.
 */
static void finish_vforks(struct tracees *tracees, struct leaving *leaving)
{
	struct space *space = leaving->space;

	space_each_thread(tracees, space, find_vforking, leaving);
	if (!leaving->vforking.count)
		return;
	space_each_thread(tracees, space, let_child_run, tracees);
	for (size_t i = 0; i < leaving->vforking.count; i++)
		stop_again(*(struct thread **)vec_at(&leaving->vforking, i));
	space_each_thread(tracees, space, stop_child, NULL);
	leaving->safe = NULL;
	space_each_thread(tracees, space, find_safe, leaving);
	space->reader = 0;
	space_each_thread(tracees, space, end_sigtrap, leaving);
}

/* ------------------------------------------------------------------ leaving */

/*
 * A thread that is ending runs no more code of the program, and its process's disposition cannot
 * be restored.
 */
static void is_guarded(struct thread *thread, void *context)
{
	struct leaving *leaving = context;

	if (thread->state != THREAD_STOPPED || thread->stop != STOP_ENDING)
		leaving->guarded |= thread->process->trap->sigtrap_guarded;
}

/*
 * Unmaps the tracer's mappings one by one, each if it is still there. The maps snapshot holds
 * meanwhile, because no other thread can map anything.
 */
static void unmap_all(const struct leaving *leaving)
{
	struct maps maps;

	if (maps_read(leaving->safe->tid, &maps) == 0)
		maps_snapshot_begin(leaving->space, &maps);
	arena_unmap(leaving->space->arena, leaving->safe);
	if (!leaving->guarded)
		rescue_unmap(leaving->safe);
	maps_snapshot_end(leaving->space);
}

void trap_note_outside(struct thread *thread, bool is_outside)
{
	thread->trap->is_out = is_outside;
}

bool trap_is_outside(const struct thread *thread)
{
	return thread->trap->is_out;
}

void trap_leave(struct tracees *tracees, struct space *space)
{
	struct leaving leaving = {
		.space = space, .vforking = VEC_OF(struct thread *), .held = VEC_OF(pid_t)};

	/*
	 * The thread used for the latest reads may have other memory by now (a vfork child in
	 * exec). Use only a thread that is found stopped here.
	 */
	space->reader = 0;
	space_each_thread(tracees, space, move_out, &leaving);
	space_each_thread(tracees, space, forget_calls, NULL);
	goroutines_forget(space);
	journal_undo_all_bytes(space->journal, space);
	space_each_thread(tracees, space, end_sigtrap, &leaving);
	finish_vforks(tracees, &leaving);
	vec_deinit(&leaving.vforking);
	space_each_thread(tracees, space, is_guarded, &leaving);
	if (leaving.safe && !leaving.someone_inside)
		unmap_all(&leaving);
	/* Also what unmapping itself has changed. */
	journal_undo_all_bytes(space->journal, space);
	space_each_thread(tracees, space, restore_limits, NULL);
	hold_again(tracees, &leaving);
	vec_deinit(&leaving.held);
	trap_space_gone(space);
}
