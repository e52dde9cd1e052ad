/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes threads out of the remote-call stub after the tracer was killed: remote_call_recovery.h.
 * remote.c wrote the stub and the saved registers on the thread's stack. This is separate because
 * the guardian runs it, not the tracer that made the call.
 */
#include "recovery/remote_call_recovery.h"

#include "tracee/journal.h"
#include "tracee/ptrace.h"
#include "tracee/remote.h"

#include <string.h>

enum { MASK_BYTES = 8, PAGE = 4096 };

/*
 * Returns true if `pc` is in a remote-call stub, before the instruction that restores the first
 * register. A later tracer has no journal of the stub, so the stub is recognised by its place and
 * by its code. A program that imitates one can harm only itself.
 */
static bool is_in_remote_stub(const struct space *space, uint64_t pc)
{
	const struct remote_stub *remote_stub = space->arch->remote_stub;
	const uint64_t start = (pc | (PAGE - 1)) + 1 - REMOTE_STUB_ROOM;
	uint8_t now[REMOTE_STUB_MAX];

	return pc - start < remote_stub->pops &&
	       memory_read_exact(&space->memory, start, now, remote_stub->length) &&
	       !memcmp(now, remote_stub->code, remote_stub->length);
}

static uint64_t word_at(const uint8_t *frame, unsigned number, unsigned word)
{
	uint64_t value = 0;

	memcpy(&value, frame + (size_t)number * word, word);
	return value;
}

void remote_call_recovery_unmask(const struct thread *thread, struct rescue_step *given)
{
	uint64_t mask;

	if (!given->held || given->tid != (uint64_t)thread->tid ||
	    pt_get_sigmask(thread->tid, &mask) != 0)
		return;
	if (mask == given->held)
		pt_set_sigmask(thread->tid, given->mask);
	given->held = 0;
}

void remote_call_recovery_put_back(struct thread *thread)
{
	struct space *space = thread->process->space;
	const struct remote_stub *remote_stub = space->arch->remote_stub;
	const unsigned word = space->arch->abi->word;
	uint8_t frame[(REMOTE_STUB_SAVED + 1) * sizeof(uint64_t) + MASK_BYTES];
	const size_t length = (size_t)(remote_stub->saved_count + 1) * word + MASK_BYTES;
	struct regs regs;
	uint64_t mask;

	if (regs_load(thread->tid, &regs) != 0)
		return;
	if (!is_in_remote_stub(space, regs.pc)) {
		/*
		 * The thread is before or behind the stub. (Inside, the stub sets the mask by
		 * itself.)
		 */
		remote_call_recovery_unmask(thread, &journal_subject(space->journal)->call);
		return;
	}
	if (!thread_is_safe_stop(thread) ||
	    !memory_read_exact(&space->memory, regs.r[REG_SP], frame, length))
		return;
	for (unsigned i = 0; i < remote_stub->saved_count; i++)
		regs.r[remote_stub->saved[i]] = word_at(frame, i, word);
	regs.pc = word_at(frame, remote_stub->saved_count, word);
	memcpy(&mask, frame + length - MASK_BYTES, MASK_BYTES);
	regs.r[REG_SP] += remote_stub->gap + length - MASK_BYTES;
	regs.syscall = (uint64_t)-1;
	/* In this order: with the old pc, the thread would still restore both by itself. */
	pt_set_sigmask(thread->tid, mask);
	regs_store_unmarked(thread->tid, &regs);
}
