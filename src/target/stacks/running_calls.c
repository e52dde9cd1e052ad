/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of traced functions that were running when a process was attached to. Who attaches to a
 * process that hangs in a query wants to know which one it is; its entry is over.
 *
 * The calls are found on the stacks of the threads. A frame's return address is behind a call
 * instruction. What was called is at the target of a direct call (a function, or the PLT stub of
 * one), or where the stub's GOT slot leads, or that of a call through a slot without a stub. And it
 * is what contains the next frame in, which may be another function: the first may have jumped to
 * it, as mysql_real_query() does. If a breakpoint with a probe is there, the call is one that would
 * have been seen. Only frames that are certain count: a call that is not there would never return.
 *
 * A thread that sleeps is not stopped, because a stop ends some system calls
 * (tracee/syscall_restart.h). Its stack is walked as it sleeps; the return breakpoint is planted;
 * and the call counts if the thread has not run since. A thread is stopped for the walk if it runs,
 * or if a frame needs a register that is not on the stack, as a frame pointer may be; and all are
 * if stacks or script lines are to be shown, which need the thread pointer.
 */
#include "target/stacks/running_calls.h"

#include "base/xalloc.h"
#include "engine/trap/breakpoint.h"
#include "engine/trap/breakpoint_takeover.h"
#include "engine/trap/return_takeover.h"
#include "target/module.h"
#include "target/stacks/call_stacks.h"
#include "target/stacks/called_functions.h"
#include "target/stacks/native_stacks.h"
#include "tracee/clock.h"
#include "tracee/ptrace.h"
#include "tracee/sleeper.h"
#include "unwind/unwind_walk.h"

#include <stdlib.h>

enum { FRAMES_MOST = 256, STOP_MS = 20 };

/* The stub or function that was called, where a slot leads, and what contains the next frame. */
enum { CANDIDATES = 3 };

struct search {
	struct target *target;
	struct thread *stopped;
	uint64_t start;
	struct unwind_frame frames[FRAMES_MOST];
};

/* A thread, and how its registers became known. */
struct looked_at {
	struct thread *thread;
	struct regs regs;
	struct sleeper sleeper;
	bool sleeps;
};

/* ------------------------------------------------------------------ which functions were called */

static const struct probe_site *site_at(const struct space *space, uint64_t address)
{
	const struct breakpoint *breakpoint = breakpoint_find(space, address);

	return breakpoint ? breakpoint->site : NULL;
}

/* ------------------------------------------------------------------ calls of a thread */

static bool still_there(const struct looked_at *looked)
{
	return !looked->sleeps || sleeper_sleeps_on(looked->thread->tid, &looked->sleeper);
}

static void begin_call(const struct search *search, const struct looked_at *looked,
		       struct running_call *running)
{
	struct target *target = search->target;

	if (trap_is_pending(looked->thread, running) ||
	    trap_watch_running(target->trap, search->stopped, running) != 0 || !still_there(looked))
		return;
	if (target->call_stacks)
		running->stack = call_stacks_of_thread(target, looked->thread, &looked->regs,
						       running->place);
	trap_begin_running(target->trap, looked->thread, running);
}

/*
 * Returns true if the innermost thing that the thread does is to hit the breakpoint at `entry`: the
 * stop may be on its way to the tracer, and will report the call.
 */
static bool is_about_to_enter(const struct search *search, size_t caller, uint64_t entry)
{
	const struct arch *arch = search->stopped->process->space->arch;

	return caller == 1 && search->frames[0].pc - entry <= arch->breakpoint_length;
}

/* Looks at the call by which frame `caller` of the walk has called the one in front of it. */
static void look_at_call(const struct search *search, const struct looked_at *looked, size_t caller)
{
	const struct space *space = looked->thread->process->space;
	const struct unwind_frame *frame = &search->frames[caller], *callee = frame - 1;
	struct running_call running = {.place = callee->cfa - space->arch->abi->word,
				       .return_address = frame->pc,
				       .start = search->start};
	struct called_functions found;
	uint64_t end;

	called_functions_find(search->target, space, frame->pc, &found);
	uint64_t called[CANDIDATES] = {found.direct, found.by_slot};

	if (!native_stacks_function(looked->thread, callee->pc - callee->is_call, &called[2], &end))
		called[2] = 0;
	if (called[2] == called[0] || called[2] == called[1])
		called[2] = 0;
	for (unsigned i = 0; i < CANDIDATES; i++) {
		running.entry = called[i];
		running.site = called[i] ? site_at(space, called[i]) : NULL;
		if (running.site && !is_about_to_enter(search, caller, called[i]))
			begin_call(search, looked, &running);
	}
}

/* Walks the stack of a thread that sleeps. Returns the number of frames; 0: it must be stopped. */
static size_t walk_sleeper(struct search *search, struct looked_at *looked)
{
	enum unwind_end end;

	if (search->target->call_stacks || looked->thread->state == THREAD_STOPPED ||
	    !sleeper_read(looked->thread->tid, &looked->sleeper))
		return 0;
	looked->sleeps = true;
	looked->regs = (struct regs){.pc = looked->sleeper.pc};
	looked->regs.r[REG_SP] = looked->sleeper.sp;
	const size_t count = native_stacks_walk(looked->thread, &looked->regs, false,
						search->frames, FRAMES_MOST, &end);

	return end == UNWIND_END_OUTER || end == UNWIND_END_LIMIT ? count : 0;
}

static size_t walk_stopped(struct search *search, struct looked_at *looked)
{
	struct thread *thread = looked->thread;
	enum unwind_end end;

	looked->sleeps = false;
	if (thread_stop(thread->process->tracees, thread, STOP_MS) != 0 ||
	    regs_load(thread->tid, &looked->regs) != 0)
		return 0;
	return native_stacks_walk(thread, &looked->regs, false, search->frames, FRAMES_MOST, &end);
}

static void look_at_thread(struct thread *thread, void *context)
{
	struct search *search = context;
	struct looked_at looked = {.thread = thread};
	size_t count = walk_sleeper(search, &looked);

	if (!count)
		count = walk_stopped(search, &looked);
	/*
	 * Outer calls come first. The one that the outermost frame has made is left out: it is the
	 * whole program, or the whole thread.
	 */
	for (size_t i = count ? count - 1 : 0; i-- > 1;) {
		const struct unwind_frame *frame = &search->frames[i];

		if (frame->is_call && !frame->is_guessed && frame[-1].cfa)
			look_at_call(search, &looked, i);
	}
}

void running_calls_find(struct target *target, struct thread *stopped)
{
	struct search *search;

	if (!stopped->process->space || stopped->process->silent)
		return;
	search = xcalloc(1, sizeof *search);
	search->target = target;
	search->stopped = stopped;
	search->start = clock_now();
	process_each_thread(stopped->process, look_at_thread, search);
	free(search);
}
