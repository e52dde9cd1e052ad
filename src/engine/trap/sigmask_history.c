/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See sigmask_history.h.
 *
 * At a breakpoint, SIGTRAP is not in the thread's mask, whether or not the program blocks it. The
 * other 63 bits are unchanged, so a mask that was seen before, with SIGTRAP or without, tells
 * which. A thread has few masks: its own, that of its handlers, that while it creates a thread.
 * The latest ones are kept. Masks are learned
 *  - at breakpoints, when sigtrap.c has found out whether SIGTRAP was blocked,
 *  - at a signal: the present mask can be read, and the handler's follows from it and from the
 *    calls of sigaction(), which is always hooked,
 *  - from the thread that has created this one,
 *  - from calls of sigprocmask() and pthread_sigmask() that are traced or hooked.
 *
 * These two functions are not hooked in every process, unlike sigaction(): see
 * target/sigmask_hooks.c.
 */
#include "engine/trap/sigmask_history.h"

#include "engine/core/stackview.h"
#include "engine/trap/sigmask_given.h"
#include "engine/trap/trap_state.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"

#include <string.h>

enum { MASKS = sizeof(((struct trap_thread *)0)->masks) / sizeof(uint64_t) };

/* SIGKILL and SIGSTOP cannot be blocked. Libraries keep signals 32 to 34 for themselves. */
static const uint64_t NEVER_SET = UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1);
static const uint64_t KEPT_BY_LIBRARIES = UINT64_C(7) << 31;
/* Of these, glibc lets no program block SIGCANCEL and SIGSETXID. */
static const uint64_t KEPT_BY_GLIBC = UINT64_C(3) << 31;

static bool differs_elsewhere(uint64_t one, uint64_t other)
{
	return (one ^ other) & ~TRAP_BIT;
}

enum sigmask_guess sigmask_guess(const struct thread *thread, uint64_t mask)
{
	for (unsigned i = 0; i < thread->trap->masks_known; i++)
		if (!differs_elsewhere(thread->trap->masks[i], mask))
			return thread->trap->masks[i] & TRAP_BIT ? MASKS_BLOCKED : MASKS_OPEN;
	return MASKS_UNKNOWN;
}

bool sigmask_block_most(uint64_t mask)
{
	return __builtin_popcountll(mask & ((UINT64_C(1) << 31) - 1)) > 15;
}

bool sigmask_block_all(uint64_t mask)
{
	return (mask | TRAP_BIT | NEVER_SET | KEPT_BY_LIBRARIES) == ~UINT64_C(0);
}

struct mask_guess {
	const struct thread *but;
	bool found;
};

static void look_at(struct thread *thread, void *context)
{
	struct mask_guess *guess = context;
	uint64_t mask;

	/* The mask of a running thread cannot be read. */
	if (thread != guess->but && (thread->state == THREAD_RUNNING || thread->has_deferred) &&
	    pt_get_sigmask(thread->tid, &mask) == 0 && !(mask & TRAP_BIT))
		guess->found |= sigmask_guess(thread, mask) != MASKS_OPEN;
}

bool sigmask_others_hit(const struct thread *thread)
{
	struct mask_guess guess = {thread, false};

	process_each_thread(thread->process, look_at, &guess);
	return guess.found;
}

void sigmask_seen(struct thread *thread, uint64_t mask)
{
	unsigned place = 0;

	/* Replace the same mask, with SIGTRAP or without, or the one not seen for longest. */
	while (place < thread->trap->masks_known &&
	       differs_elsewhere(thread->trap->masks[place], mask))
		place++;
	if (place == thread->trap->masks_known) {
		if (thread->trap->masks_known < MASKS)
			thread->trap->masks_known++;
		place = thread->trap->masks_known - 1;
	}
	memmove(thread->trap->masks + 1, thread->trap->masks, place * sizeof *thread->trap->masks);
	thread->trap->masks[0] = mask;
}

static void begin_thread(struct thread *thread, void *context)
{
	uint64_t blocked;

	(void)context;
	thread->trap->masks_known = 0;
	if (proc_blocked(thread->tid, &blocked))
		sigmask_seen(thread, blocked);
}

void sigmask_begin(struct process *process)
{
	memset(process->trap->handler_masks, 0, sizeof process->trap->handler_masks);
	process->trap->handlers_opened = 0;
	process_each_thread(process, begin_thread, NULL);
}

void sigmask_inherit(struct thread *child, struct thread *parent)
{
	uint64_t mask;

	if (sigmask_own(parent, &mask) == 0)
		sigmask_seen(child, mask);
	for (unsigned i = parent->trap->masks_known; i-- > 0;)
		sigmask_seen(child, parent->trap->masks[i]);
}

void sigmask_of_handler(struct process *process, unsigned signal, uint64_t mask)
{
	if (signal >= 1 &&
	    signal <= sizeof process->trap->handler_masks / sizeof *process->trap->handler_masks)
		process->trap->handler_masks[signal - 1] = mask;
}

void sigmask_before_signal(struct thread *thread, int signal)
{
	uint64_t mask;

	if (sigmask_own(thread, &mask) != 0)
		return;
	uint64_t added = thread->process->trap->handler_masks[signal - 1];

	sigmask_seen(thread, mask);
	/*
	 * If the handler's mask is unknown or adds nothing, the mask at a hit in the handler must
	 * tell.
	 */
	if (added)
		sigmask_seen(thread, mask | added);
}

struct mask_call sigmask_function_call(const struct space *space, const struct regs *regs)
{
	return (struct mask_call){.how = (int)stackview_argument(space, regs, 0),
				  .set = stackview_argument(space, regs, 1),
				  .old = stackview_argument(space, regs, 2),
				  .kept = KEPT_BY_GLIBC};
}

bool sigmask_system_call(const struct space *space, const struct regs *regs, struct mask_call *call)
{
	const struct arch *arch = space->arch;
	const uint8_t *argument = arch->syscall_arg;

	*call = (struct mask_call){.how = (int)regs->r[argument[0]],
				   .set = regs->r[argument[1]],
				   .old = regs->r[argument[2]]};
	return (uint32_t)regs->r[REG_AX] == (uint32_t)arch->sys_rt_sigprocmask &&
	       regs->r[argument[3]] == sizeof(uint64_t);
}

bool sigmask_after_call(const struct space *space, const struct mask_call *call, uint64_t *mask)
{
	uint64_t set;

	if (!call->set)
		return true;
	if (!memory_read_exact(&space->memory, call->set, &set, sizeof set))
		return false;
	set &= ~(NEVER_SET | call->kept);
	switch (call->how) {
	case SIG_BLOCK:
		*mask |= set;
		return true;
	case SIG_UNBLOCK:
		*mask &= ~set;
		return true;
	case SIG_SETMASK:
		*mask = set;
		return true;
	default:
		return false;
	}
}

void sigmask_will_change(struct thread *thread, const struct mask_call *call)
{
	uint64_t mask = thread->trap->masks[0];

	if (thread->trap->masks_known && sigmask_after_call(thread->process->space, call, &mask))
		sigmask_seen(thread, mask);
}
