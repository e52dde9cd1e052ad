/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leaving a space as it was found.
 *
 * All threads are stopped, each somewhere. One that has hit an int3 but was not served yet is
 * turned back to the instruction, which will be the program's own again. (An interrupt is
 * reported before the SIGTRAP of an int3 that the thread has run into already: the signal is
 * then still pending, and would kill the process once nobody waits for it. Such a thread is
 * resumed to fetch it; it cannot run, as the signal comes first.) One inside an out-of-line
 * slot is moved to where the displaced instruction leads. Then the journal is replayed
 * backwards, each process gets its own SIGTRAP disposition back, and the memory of the slots and
 * of our handler is unmapped by one of the threads.
 *
 * Threads in code of ours that they cannot be moved out of were let run before
 * (trap_in_our_code()); should one be there all the same, that memory stays.
 *
 * A process in vfork(2) can make no call before its child has a memory of its own, or is gone. The
 * text is the program's again by then, so the child is let run that far, if it does not take long.
 *
 * The process may be in a group-stop (SIGSTOP, ^Z), and stays in it.
 *
 * A thread that could not be stopped sits in the kernel; it comes back to where its pc was when
 * it went in, which is the program's own code but for a displaced system-call instruction. If
 * such a pc is in a slot, the memory stays mapped.
 */
#include "base/vec.h"
#include "engine/trap/breakpoint.h"
#include "engine/trap/callstack.h"
#include "engine/trap/goroutines.h"
#include "engine/trap/sigtrap.h"
#include "engine/trap/sigtrap_go.h"
#include "engine/trap/trap.h"
#include "engine/trap/unblock.h"
#include "inferior/arena.h"
#include "inferior/journal.h"
#include "inferior/kept_maps.h"
#include "inferior/limits.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"
#include "inferior/rescue.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FETCH_MS = 500, FETCH_TRIES = 8, VFORK_MS = 500 };

struct leaving {
	struct space *space;
	struct thread *clean; /* at a clean stop: can unmap for us */
	bool guarded;	      /* a process still has our handler for SIGTRAP */
	bool someone_inside;  /* a thread that does not stop may come back into a slot */
	struct vec vforking;  /* struct thread *: wait for children in their memory */
	struct vec held;      /* pid_t: are in a group-stop */
};

/* The pc at which a thread blocked in the kernel entered it (proc(5), /proc/PID/syscall). */
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
 * Makes a thread report the breakpoint that it has hit behind the stop it is in. Interrupts that
 * were asked for once more than they were needed come first.
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
 * The tracer that was killed had dealt with this SIGTRAP, or caused it by a single step, but the
 * thread was not resumed any more. (The handler in the process decides in the same way:
 * sysdeps/x86/rescue.c.)
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
	memcpy(&handler, thread->process->sigtrap_action, arch->abi->word);
	if (info.si_code == TRAP_TRACE)
		return handler <= (uintptr_t)SIG_IGN || !(regs->flags & arch->step_flag);
	if (info.si_code == TRAP_HWBKPT)
		return true;
	return info.si_code == SI_KERNEL && regs_are_marked(thread->tid);
}

/*
 * A thread in a group-stop runs when it is resumed, as far as we let it, and goes back into it when
 * it is detached: __ptrace_unlink() in the kernel. So it can make calls for us.
 */
static void note_held(struct leaving *leaving, struct thread *thread)
{
	if (thread->stop != STOP_GROUP)
		return;
	thread->stop = STOP_TRAP;
	vec_push(&leaving->held, &thread->tid);
}

/* What such a thread was in the middle of ends as the program expects it to at a group-stop. */
static void hold_again(struct inferior *inferior, const struct leaving *leaving)
{
	for (size_t i = 0; i < leaving->held.count; i++) {
		pid_t tid = *(pid_t *)vec_at(&leaving->held, i);
		struct thread *thread = inferior_thread(inferior, tid);

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
		sigtrap_hit(thread, inferior_clock());
		thread->stop_signal = thread->sigtrap_own ? SIGTRAP : 0;
		thread_take_stop(thread); /* nor is it to be delivered if we are killed now */
		leaving->someone_inside |= trap_in_our_code(space, pc);
	} else if (breakpoint_program_pc(space, regs.pc, &pc, &not_begun)) {
		regs.pc = pc;
		regs_store(thread->tid, &regs);
	} else {
		leaving->someone_inside |= trap_runs_our_code(space, &regs);
	}
	/* Signals have come while the tracer was gone. */
	if ((is_adopted(space) || space->has_remains) && !thread->is_out)
		leaving->someone_inside |= trap_on_stack(space, regs.r[REG_SP]);
	if (served) {
		thread->stop_signal = 0;
		thread_take_stop(thread);
	}
	unblock_undo(thread);
	if (thread->watch_generation)
		pt_set_debug_register(thread->tid, 7, 0);
	if (thread_is_clean_stop(thread) && (!leaving->clean || thread->stop == STOP_TRAP))
		leaving->clean = thread;
}

/* Also of threads that did not stop, or died meanwhile. */
static void forget_calls(struct thread *thread, void *context)
{
	(void)context;
	callstacks_destroy(thread->calls);
	thread->calls = NULL;
	thread->interrupted = 0;
}

/* Every process of the space gets its disposition back through one of its threads. */
static void end_sigtrap(struct thread *thread, void *context)
{
	(void)context;
	if (thread->state != THREAD_STOPPED || !thread_is_clean_stop(thread))
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

	if (thread->process->sigtrap_guarded && is_vforking(thread))
		vec_push(&leaving->vforking, &thread);
}

/*
 * Lets a thread go on, if it stands, to where an interrupt stops it. Of one that has ended nothing
 * more will be heard.
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

/* Children in the memory of others. */
static void let_child_run(struct thread *thread, void *context)
{
	struct inferior *inferior = context;
	struct stop stop;

	if (!thread->process->borrower || !thread_is_clean_stop(thread))
		return;
	int signal = thread->stop == STOP_SIGNAL ? thread->stop_signal : 0;

	thread_take_deferred(inferior, thread, &stop);
	thread->state = THREAD_RUNNING;
	pt_continue(thread->tid, signal);
}

/* At exec, mostly, with other memory, and not clean (thread_is_clean_stop()) by that. */
static void stop_child(struct thread *thread, void *context)
{
	(void)context;
	if (thread->process->borrower && thread->state != THREAD_STOPPED)
		stop_again(thread);
}

static void find_clean(struct thread *thread, void *context)
{
	struct leaving *leaving = context;

	if (thread_is_clean_stop(thread) && (!leaving->clean || thread->stop == STOP_TRAP))
		leaving->clean = thread;
}

/* The bytes are the program's again, and children in its memory have their dispositions back. */
static void finish_vforks(struct inferior *inferior, struct leaving *leaving)
{
	struct space *space = leaving->space;

	space_each_thread(inferior, space, find_vforking, leaving);
	if (!leaving->vforking.count)
		return;
	space_each_thread(inferior, space, let_child_run, inferior);
	for (size_t i = 0; i < leaving->vforking.count; i++)
		stop_again(*(struct thread **)vec_at(&leaving->vforking, i));
	space_each_thread(inferior, space, stop_child, NULL);
	leaving->clean = NULL;
	space_each_thread(inferior, space, find_clean, leaving);
	space->reader = 0;
	space_each_thread(inferior, space, end_sigtrap, leaving);
}

/* ------------------------------------------------------------------ all of it */

/* What ends runs nothing more of the program, and cannot be given anything back. */
static void is_guarded(struct thread *thread, void *context)
{
	struct leaving *leaving = context;

	if (thread->state != THREAD_STOPPED || thread->stop != STOP_ENDING)
		leaving->guarded |= thread->process->sigtrap_guarded;
}

/* One of our mappings after the other, each if it is still there; nobody else maps anything now. */
static void unmap_all(const struct leaving *leaving)
{
	struct maps maps;

	if (maps_read(leaving->clean->tid, &maps) == 0)
		kept_maps_begin(leaving->space, &maps);
	arena_unmap(leaving->space->arena, leaving->clean);
	if (!leaving->guarded)
		rescue_unmap(leaving->clean);
	kept_maps_end(leaving->space);
}

void trap_leave(struct inferior *inferior, struct space *space)
{
	struct leaving leaving = {
		.space = space, .vforking = VEC_OF(struct thread *), .held = VEC_OF(pid_t)};

	/*
	 * The thread that was read through last may have got other memory meanwhile: a vfork child
	 * that is in exec. Only a thread that is stopped here surely has not.
	 */
	space->reader = 0;
	space_each_thread(inferior, space, move_out, &leaving);
	space_each_thread(inferior, space, forget_calls, NULL);
	goroutines_forget(space);
	journal_undo_all_bytes(space->journal, space);
	space_each_thread(inferior, space, end_sigtrap, &leaving);
	finish_vforks(inferior, &leaving);
	vec_deinit(&leaving.vforking);
	space_each_thread(inferior, space, is_guarded, &leaving);
	if (leaving.clean && !leaving.someone_inside)
		unmap_all(&leaving);
	journal_undo_all_bytes(space->journal, space); /* what unmapping itself has needed */
	space_each_thread(inferior, space, restore_limits, NULL);
	hold_again(inferior, &leaving);
	vec_deinit(&leaving.held);
	trap_space_gone(space);
}
