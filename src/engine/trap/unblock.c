/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See unblock.h.
 *
 * What the program sees of its masks is its own: where a thread has been given another one, the
 * functions that read and set masks, and libc's own system calls that do, are hooked
 * (session/masking.c) and answered here. Running them and looking afterwards would not do: the
 * breakpoint that they return to would be hit with SIGTRAP blocked. Who looks elsewhere sees the
 * bit missing: in /proc, by a system call in other code.
 *
 * A mask that is given must be told from those that the thread has by itself. In a handler of
 * SIGTRAP, which blocks that and nothing else, it could not be: it would be the one to which the
 * handler returns. So it is given to threads that block most signals, as workers do, and those that
 * libc is just creating.
 */
#include "engine/trap/unblock.h"

#include "inferior/journal.h"
#include "inferior/proc.h"
#include "inferior/ptrace.h"

#include <string.h>

static struct journal *journal_of(const struct thread *thread)
{
	return thread->process->space ? thread->process->space->journal : NULL;
}

/* What is noted of the thread: its own mask and the one that it was given. */
static bool noted(const struct thread *thread, uint64_t *own, uint64_t *given)
{
	const struct journal_entry *entry = thread->unblocked && journal_of(thread)
						    ? journal_entry(journal_of(thread),
								    thread->unblocked - 1)
						    : NULL;

	if (!entry || entry->kind != JOURNAL_MASK || entry->address != (uint64_t)thread->tid)
		return false;
	memcpy(own, entry->before, sizeof *own);
	memcpy(given, entry->after, sizeof *given);
	return true;
}

void unblock_forget(struct thread *thread)
{
	uint64_t own;
	uint64_t given;

	if (noted(thread, &own, &given))
		journal_forget(journal_of(thread), thread->unblocked - 1);
	thread->unblocked = 0;
}

static void note(struct thread *thread, uint64_t own, uint64_t given)
{
	unblock_forget(thread);
	thread->unblocked = journal_mask(journal_of(thread), thread->tid, own, given) + 1;
}

bool unblock_recall(struct thread *thread, uint64_t mask)
{
	if (!thread->unblocked || mask & TRAP_BIT || masks_guess(thread, mask) != MASKS_BLOCKED)
		return false;
	note(thread, mask | TRAP_BIT, mask);
	return true;
}

/* Gives the thread `own`, without SIGTRAP if that is what it should do. */
static void give(struct thread *thread, uint64_t own)
{
	uint64_t given = masks_block_most(own) ? own & ~TRAP_BIT : own;

	if (given != own)
		note(thread, own, given);
	else
		unblock_forget(thread);
	if (pt_set_sigmask(thread->tid, given) != 0)
		unblock_forget(thread);
}

/*
 * A SIGTRAP of the program's that waits, or that the thread has been stopped for, would be
 * delivered.
 */
static bool is_awaited(const struct thread *thread)
{
	return thread->sigtrap_own || proc_is_pending(thread->tid, SIGTRAP);
}

void unblock_thread(struct thread *thread)
{
	uint64_t mask;

	if (!journal_of(thread) || pt_get_sigmask(thread->tid, &mask) != 0 || !(mask & TRAP_BIT) ||
	    is_awaited(thread) || !masks_block_most(mask))
		return;
	masks_seen(thread, mask);
	give(thread, mask);
}

bool unblock_is_ours(const struct thread *thread, uint64_t mask)
{
	uint64_t own;
	uint64_t given;

	return noted(thread, &own, &given) && mask == given;
}

int unblock_get_mask(const struct thread *thread, uint64_t *mask)
{
	uint64_t own;
	uint64_t given;
	int error = pt_get_sigmask(thread->tid, mask);

	if (!error && noted(thread, &own, &given) && *mask == given)
		*mask = own;
	return error;
}

void unblock_undo(struct thread *thread)
{
	uint64_t own;
	uint64_t given;
	uint64_t mask;

	if (noted(thread, &own, &given) && pt_get_sigmask(thread->tid, &mask) == 0) {
		if (mask == given)
			pt_set_sigmask(thread->tid, own);
		else if (unblock_recall(thread, mask))
			pt_set_sigmask(thread->tid, mask | TRAP_BIT);
	}
	unblock_forget(thread);
}

void unblock_adopt(const struct inferior *inferior, struct space *space)
{
	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);
		struct thread *thread = entry && entry->kind == JOURNAL_MASK
						? inferior_thread(inferior, (pid_t)entry->address)
						: NULL;

		if (thread && thread->process->space == space)
			thread->unblocked = i + 1;
	}
}

void unblock_inherit(struct thread *child, const struct thread *parent)
{
	uint64_t own;
	uint64_t given;
	uint64_t mask;

	if (!noted(parent, &own, &given) || !journal_of(child) ||
	    pt_get_sigmask(parent->tid, &mask) != 0 || mask != given)
		return;
	note(child, own, given);
}

/* The mask that the program believes the stopped thread to have. */
static bool believed(const struct thread *thread, uint64_t *mask)
{
	if (unblock_get_mask(thread, mask) != 0)
		return false;
	if (!(*mask & TRAP_BIT) && masks_guess(thread, *mask) == MASKS_BLOCKED)
		*mask |= TRAP_BIT;
	return true;
}

/*
 * Should the tracer be killed between the two steps, in which the call is answered, the thread
 * makes it once more or not at all, and finds a mask that is more open than it should be; rather
 * than one that nobody opens any more, and that is told as the one from before.
 */
bool unblock_will_change(struct thread *thread, const struct mask_call *call)
{
	struct space *space = thread->process->space;
	uint64_t before;
	uint64_t after;

	thread->mask_due = false;
	if (!believed(thread, &before))
		return false;
	after = before;
	bool valid = masks_after_call(space, call, &after);

	if (!thread->unblocked && !(after & TRAP_BIT && masks_block_most(after)))
		return false;
	if (!valid || is_awaited(thread) ||
	    (call->old && space_write(space, call->old, &before, sizeof before) != 0)) {
		unblock_forget(thread);
		pt_set_sigmask(thread->tid, before);
		return false;
	}
	masks_seen(thread, after);
	thread->mask_due = after & ~before;
	if (thread->mask_due)
		thread->mask_next = after;
	else
		give(thread, after);
	return true;
}

void unblock_changed(struct thread *thread)
{
	if (thread->mask_due)
		give(thread, thread->mask_next);
	thread->mask_due = false;
}
