/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See masks.h.
 *
 * A mask seen at a breakpoint lacks SIGTRAP, whether or not the program blocks it. The other 63
 * bits are as they were, so a mask that was seen before with the bit, or without, tells which. A
 * thread has few masks: its own, the one of its handlers, the one while it creates a thread; the
 * last of them are kept. They are learned
 *  - at breakpoints, when it has been found out (sigtrap.c),
 *  - at a signal, where the mask can be read as it is, and that of the handler follows from it and
 *    from what the program has told sigaction(), which is hooked anyhow,
 *  - from the thread that has created this one,
 *  - from calls of sigprocmask() and pthread_sigmask() that are traced anyhow, or hooked.
 *
 * These are not hooked in every process, as sigaction() is: see session/masking.c.
 */
#include "engine/trap/masks.h"

#include "engine/trap/stackview.h"
#include "engine/trap/unblock.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"

#include <string.h>

enum { MASKS = sizeof(((struct thread *)0)->masks) / sizeof(uint64_t) };

/* SIGKILL and SIGSTOP cannot be blocked; 32 to 34 are those that libraries keep for themselves. */
static const uint64_t NEVER_SET = UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1);
static const uint64_t KEPT_BY_LIBRARIES = UINT64_C(7) << 31;
/* Of these glibc lets no program block SIGCANCEL and SIGSETXID. */
static const uint64_t KEPT_BY_GLIBC = UINT64_C(3) << 31;

static bool differs_elsewhere(uint64_t one, uint64_t other)
{
	return (one ^ other) & ~TRAP_BIT;
}

enum masks_guess masks_guess(const struct thread *thread, uint64_t mask)
{
	for (unsigned i = 0; i < thread->masks_known; i++)
		if (!differs_elsewhere(thread->masks[i], mask))
			return thread->masks[i] & TRAP_BIT ? MASKS_BLOCKED : MASKS_OPEN;
	return MASKS_UNKNOWN;
}

bool masks_block_most(uint64_t mask)
{
	return __builtin_popcountll(mask & ((UINT64_C(1) << 31) - 1)) > 15;
}

bool masks_block_all(uint64_t mask)
{
	return (mask | TRAP_BIT | NEVER_SET | KEPT_BY_LIBRARIES) == ~UINT64_C(0);
}

struct look {
	const struct thread *but;
	bool found;
};

static void look_at(struct thread *thread, void *context)
{
	struct look *look = context;
	uint64_t mask;

	/* Of a thread that runs it cannot be read. */
	if (thread != look->but && (thread->state == THREAD_RUNNING || thread->has_deferred) &&
	    pt_get_sigmask(thread->tid, &mask) == 0 && !(mask & TRAP_BIT))
		look->found |= masks_guess(thread, mask) != MASKS_OPEN;
}

bool masks_others_hit(const struct thread *thread)
{
	struct look look = {thread, false};

	process_each_thread(thread->process, look_at, &look);
	return look.found;
}

void masks_seen(struct thread *thread, uint64_t mask)
{
	unsigned place = 0;

	/* Where it was, with the bit or without, or the place of the one not seen for longest. */
	while (place < thread->masks_known && differs_elsewhere(thread->masks[place], mask))
		place++;
	if (place == thread->masks_known) {
		if (thread->masks_known < MASKS)
			thread->masks_known++;
		place = thread->masks_known - 1;
	}
	memmove(thread->masks + 1, thread->masks, place * sizeof *thread->masks);
	thread->masks[0] = mask;
}

static void begin_thread(struct thread *thread, void *context)
{
	uint64_t blocked;

	(void)context;
	thread->masks_known = 0;
	if (proc_blocked(thread->tid, &blocked))
		masks_seen(thread, blocked);
}

void masks_begin(struct process *process)
{
	memset(process->handler_masks, 0, sizeof process->handler_masks);
	process->handlers_opened = 0;
	process_each_thread(process, begin_thread, NULL);
}

void masks_inherit(struct thread *child, struct thread *parent)
{
	uint64_t mask;

	if (unblock_get_mask(parent, &mask) == 0)
		masks_seen(child, mask);
	for (unsigned i = parent->masks_known; i-- > 0;)
		masks_seen(child, parent->masks[i]);
}

void masks_of_handler(struct process *process, unsigned signal, uint64_t mask)
{
	if (signal >= 1 && signal <= sizeof process->handler_masks / sizeof *process->handler_masks)
		process->handler_masks[signal - 1] = mask;
}

void masks_before_signal(struct thread *thread, int signal)
{
	uint64_t mask;

	if (unblock_get_mask(thread, &mask) != 0)
		return;
	uint64_t added = thread->process->handler_masks[signal - 1];

	masks_seen(thread, mask);
	/* Nothing known, or nothing added: then what is seen in the handler has to tell. */
	if (added)
		masks_seen(thread, mask | added);
}

struct mask_call masks_function_call(const struct space *space, const struct regs *regs)
{
	return (struct mask_call){.how = (int)stackview_argument(space, regs, 0),
				  .set = stackview_argument(space, regs, 1),
				  .old = stackview_argument(space, regs, 2),
				  .kept = KEPT_BY_GLIBC};
}

bool masks_system_call(const struct space *space, const struct regs *regs, struct mask_call *call)
{
	const struct arch *arch = space->arch;
	const uint8_t *argument = arch->syscall_arg;

	*call = (struct mask_call){.how = (int)regs->r[argument[0]],
				   .set = regs->r[argument[1]],
				   .old = regs->r[argument[2]]};
	return (uint32_t)regs->r[REG_AX] == (uint32_t)arch->sys_rt_sigprocmask &&
	       regs->r[argument[3]] == sizeof(uint64_t);
}

bool masks_after_call(const struct space *space, const struct mask_call *call, uint64_t *mask)
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

void masks_will_change(struct thread *thread, const struct mask_call *call)
{
	uint64_t mask = thread->masks[0];

	if (thread->masks_known && masks_after_call(thread->process->space, call, &mask))
		masks_seen(thread, mask);
}
