/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal's note of the mask that a thread has been given: see sigmask_given.h. */
#include "engine/trap/sigmask_given.h"

#include "engine/trap/trap_state.h"
#include "tracee/journal.h"
#include "tracee/ptrace.h"

#include <string.h>

static struct journal *journal_of(const struct thread *thread)
{
	return thread->process->space ? thread->process->space->journal : NULL;
}

bool sigmask_given_noted(const struct thread *thread, uint64_t *own, uint64_t *given)
{
	const struct journal_entry *entry = thread->trap->unblocked && journal_of(thread)
						    ? journal_entry(journal_of(thread),
								    thread->trap->unblocked - 1)
						    : NULL;

	if (!entry || entry->kind != JOURNAL_MASK || entry->address != (uint64_t)thread->tid)
		return false;
	memcpy(own, entry->before, sizeof *own);
	memcpy(given, entry->after, sizeof *given);
	return true;
}

void sigmask_given_forget(struct thread *thread)
{
	uint64_t own;
	uint64_t given;

	if (sigmask_given_noted(thread, &own, &given))
		journal_forget(journal_of(thread), thread->trap->unblocked - 1);
	thread->trap->unblocked = 0;
}

void sigmask_given_note(struct thread *thread, uint64_t own, uint64_t given)
{
	sigmask_given_forget(thread);
	thread->trap->unblocked = journal_mask(journal_of(thread), thread->tid, own, given) + 1;
}

int sigmask_own(const struct thread *thread, uint64_t *mask)
{
	uint64_t own;
	uint64_t given;
	int error = pt_get_sigmask(thread->tid, mask);

	if (!error && sigmask_given_noted(thread, &own, &given) && *mask == given)
		*mask = own;
	return error;
}
