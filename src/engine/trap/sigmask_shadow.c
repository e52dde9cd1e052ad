/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See sigmask_shadow.h.
 *
 * The program sees its own masks only. Where a thread has a mask given by the tracer, the
 * functions that read and set masks, and libc's own system calls for that, are hooked
 * (target/sigmask_hooks.c) and answered here. It would not do to let them run and correct the
 * result: the breakpoint at their return would be hit with SIGTRAP blocked. Elsewhere the program
 * sees that the bit is missing: in /proc, or by a system call in other code.
 *
 * A given mask must be distinguishable from the masks that the thread sets itself. For a handler
 * of SIGTRAP, which blocks that signal and nothing else, that is impossible: the given mask would
 * be the one to which the handler returns. So a mask is given only to threads that block most
 * signals, as worker threads do, and threads that libc is just creating.
 */
#include "engine/trap/sigmask_shadow.h"

#include "engine/trap/sigmask_given.h"
#include "engine/trap/trap_state.h"
#include "recovery/rescue.h"
#include "tracee/journal.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"
#include "tracee/space.h"

static bool has_journal(const struct thread *thread)
{
	return thread->process->space && thread->process->space->journal;
}

bool sigmask_shadow_is_given(const struct thread *thread)
{
	return thread->trap->unblocked;
}

bool sigmask_shadow_recall(struct thread *thread, uint64_t mask)
{
	if (!thread->trap->unblocked || mask & TRAP_BIT ||
	    sigmask_guess(thread, mask) != MASKS_BLOCKED)
		return false;
	sigmask_given_note(thread, mask | TRAP_BIT, mask);
	return true;
}

/* Sets the thread's mask to `own`, without SIGTRAP if the mask blocks most signals. */
static void give(struct thread *thread, uint64_t own)
{
	uint64_t given = sigmask_block_most(own) ? own & ~TRAP_BIT : own;

	if (given != own)
		sigmask_given_note(thread, own, given);
	else
		sigmask_given_forget(thread);
	if (pt_set_sigmask(thread->tid, given) != 0)
		sigmask_given_forget(thread);
}

/*
 * Returns true if the thread has a pending SIGTRAP of the program's own, or has stopped for one:
 * unblocking would deliver it.
 */
static bool is_awaited(const struct thread *thread)
{
	return thread->trap->sigtrap_own || proc_is_pending(thread->tid, SIGTRAP);
}

/*
 * Returns true if the thread runs the tracer's SIGTRAP handler, which blocks all signals. It hits
 * no breakpoint there, and returns to its own mask. With SIGTRAP open, a signal that the handler
 * sends again for the default action would be delivered in the handler itself, and be lost.
 */
static bool is_in_handler(const struct thread *thread)
{
	struct regs regs;

	return regs_load(thread->tid, &regs) == 0 && rescue_runs(thread->process->space, regs.pc);
}

void sigmask_shadow_thread(struct thread *thread)
{
	uint64_t mask;

	if (!has_journal(thread) || pt_get_sigmask(thread->tid, &mask) != 0 || !(mask & TRAP_BIT) ||
	    is_awaited(thread) || !sigmask_block_most(mask) || is_in_handler(thread))
		return;
	sigmask_seen(thread, mask);
	give(thread, mask);
}

bool sigmask_shadow_is_ours(const struct thread *thread, uint64_t mask)
{
	uint64_t own;
	uint64_t given;

	return sigmask_given_noted(thread, &own, &given) && mask == given;
}

void sigmask_shadow_undo(struct thread *thread)
{
	uint64_t own;
	uint64_t given;
	uint64_t mask;

	if (sigmask_given_noted(thread, &own, &given) && pt_get_sigmask(thread->tid, &mask) == 0) {
		if (mask == given)
			pt_set_sigmask(thread->tid, own);
		else if (sigmask_shadow_recall(thread, mask))
			pt_set_sigmask(thread->tid, mask | TRAP_BIT);
	}
	sigmask_given_forget(thread);
}

void sigmask_shadow_adopt(const struct tracees *tracees, struct space *space)
{
	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);
		struct thread *thread = entry && entry->kind == JOURNAL_MASK
						? tracees_thread(tracees, (pid_t)entry->address)
						: NULL;

		if (thread && thread->process->space == space)
			thread->trap->unblocked = i + 1;
	}
}

void sigmask_shadow_inherit(struct thread *child, const struct thread *parent)
{
	uint64_t own;
	uint64_t given;
	uint64_t mask;

	if (!sigmask_given_noted(parent, &own, &given) || !has_journal(child) ||
	    pt_get_sigmask(parent->tid, &mask) != 0 || mask != given)
		return;
	sigmask_given_note(child, own, given);
}

/* Stores the mask that the program believes the stopped thread to have. */
static bool believed(const struct thread *thread, uint64_t *mask)
{
	if (sigmask_own(thread, mask) != 0)
		return false;
	if (!(*mask & TRAP_BIT) && sigmask_guess(thread, *mask) == MASKS_BLOCKED)
		*mask |= TRAP_BIT;
	return true;
}

/*
 * A call that adds signals is answered in two steps: here the previous mask is stored, and
 * sigmask_shadow_changed() sets the new mask when the thread is behind the call. If the tracer is
 * killed in between, the thread makes the call again or not at all, and its mask blocks too
 * little. In the other order the mask might never be opened again, and the repeated call would
 * report the new mask as the previous one.
 */
bool sigmask_shadow_will_change(struct thread *thread, const struct mask_call *call)
{
	struct space *space = thread->process->space;
	uint64_t before;
	uint64_t after;

	thread->trap->mask_due = false;
	if (!believed(thread, &before))
		return false;
	after = before;
	bool valid = sigmask_after_call(space, call, &after);

	if (!thread->trap->unblocked && !(after & TRAP_BIT && sigmask_block_most(after)))
		return false;
	if (!valid || is_awaited(thread) ||
	    (call->old && space_write(space, call->old, &before, sizeof before) != 0)) {
		sigmask_given_forget(thread);
		pt_set_sigmask(thread->tid, before);
		return false;
	}
	sigmask_seen(thread, after);
	thread->trap->mask_due = after & ~before;
	if (thread->trap->mask_due)
		thread->trap->mask_next = after;
	else
		give(thread, after);
	return true;
}

void sigmask_shadow_changed(struct thread *thread)
{
	if (thread->trap->mask_due)
		give(thread, thread->trap->mask_next);
	thread->trap->mask_due = false;
}
