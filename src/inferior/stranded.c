/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See stranded.h; what lies on the thread's stack is written by remote.c. */
#include "inferior/stranded.h"

#include "inferior/journal.h"
#include "inferior/ptrace.h"

#include <string.h>

enum { MASK_BYTES = 8 };

/* Whether the code of a landing is there, up to where it takes the first register back. */
static bool is_in_landing(const struct space *space, uint64_t pc)
{
	const struct landing *landing = space->arch->landing;

	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (entry && entry->kind == JOURNAL_BYTES && entry->length == sizeof entry->after &&
		    pc - entry->address < landing->pops &&
		    !memcmp(entry->after, landing->code, sizeof entry->after))
			return true;
	}
	return false;
}

static uint64_t word_at(const uint8_t *frame, unsigned number, unsigned word)
{
	uint64_t value = 0;

	memcpy(&value, frame + (size_t)number * word, word);
	return value;
}

void stranded_unmask(const struct thread *thread, struct rescue_step *given)
{
	uint64_t mask;

	if (!given->held || given->tid != (uint64_t)thread->tid ||
	    pt_get_sigmask(thread->tid, &mask) != 0)
		return;
	if (mask == given->held)
		pt_set_sigmask(thread->tid, given->mask);
	given->held = 0;
}

void stranded_put_back(struct thread *thread)
{
	struct space *space = thread->process->space;
	const struct landing *landing = space->arch->landing;
	const unsigned word = space->arch->abi->word;
	uint8_t frame[(LANDING_SAVED + 1) * sizeof(uint64_t) + MASK_BYTES];
	const size_t length = (size_t)(landing->saved_count + 1) * word + MASK_BYTES;
	struct regs regs;
	uint64_t mask;

	if (regs_load(thread->tid, &regs) != 0)
		return;
	if (!is_in_landing(space, regs.pc)) {
		/* It is not there yet, or not any more; in there it sets the mask by itself. */
		stranded_unmask(thread, &journal_subject(space->journal)->call);
		return;
	}
	if (!thread_is_clean_stop(thread) ||
	    !memory_read_exact(&space->memory, regs.r[REG_SP], frame, length))
		return;
	for (unsigned i = 0; i < landing->saved_count; i++)
		regs.r[landing->saved[i]] = word_at(frame, i, word);
	regs.pc = word_at(frame, landing->saved_count, word);
	memcpy(&mask, frame + length - MASK_BYTES, MASK_BYTES);
	regs.r[REG_SP] += landing->gap + length - MASK_BYTES;
	regs.syscall = (uint64_t)-1;
	/* In this order: until pc is another, the thread would set both by itself. */
	pt_set_sigmask(thread->tid, mask);
	regs_store_unmarked(thread->tid, &regs);
}
