/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions cannot be patched now.
 *
 * A jump is written over the first instructions of a function. No thread may be behind the first of
 * them, or return there later: so the pc is looked at, and each word of the stack near its pointer,
 * whatever it is.
 */
#include "engine/agent/in_way.h"

#include "base/xalloc.h"
#include "engine/agent/patch_candidates.h"
#include "engine/core/callstack.h"
#include "engine/core/thread_calls.h"
#include "engine/trap/breakpoint_takeover.h"
#include "tracee/space.h"

#include <stdlib.h>

enum { STACK_SEEN = 65536 };

static bool mark_covered(struct in_way *in_way, uint64_t address)
{
	const struct vec *candidates = in_way->candidates;

	if (address - in_way->low >= in_way->high - in_way->low)
		return false;
	size_t found = candidates_covered_own(candidates, address);

	if (found < candidates->count)
		in_way->is_busy[found] = true;
	return found < candidates->count;
}

/* A thread is at `address`, or may return to it. */
static void mark(struct in_way *in_way, uint64_t address)
{
	uint64_t program_pc;

	if (mark_covered(in_way, address) || !trap_program_pc(in_way->space, address, &program_pc))
		return;
	mark_covered(in_way, program_pc);
	/* The beginning of an XOL slot leads behind the first byte, too. */
	mark_covered(in_way, program_pc + 1);
}

static void mark_stack(struct in_way *in_way, uint64_t sp)
{
	static const size_t words = STACK_SEEN / sizeof(uint64_t);
	uint64_t *stack = xmalloc(STACK_SEEN);
	size_t length = memory_read_pages(&in_way->space->memory, sp & ~UINT64_C(7), stack,
					  words * sizeof *stack);

	for (size_t i = 0; i < length / sizeof *stack; i++)
		mark(in_way, stack[i]);
	free(stack);
}

/*
 * A call that a signal handler has interrupted in its first instruction hits the breakpoint once
 * more, where it is known. Caught by a jump it would be another call.
 */
static void mark_restarted(void *context, const struct call *call)
{
	if (call->interrupted || call->restarted)
		mark_covered(context, call->entry + 1);
}

int in_way_look(struct in_way *in_way, struct thread *thread)
{
	struct regs regs;
	const int error = regs_load(thread->tid, &regs);

	if (error)
		return error;
	mark(in_way, regs.pc);
	mark_stack(in_way, regs.r[REG_SP]);
	if (thread->calls->stacks)
		callstacks_each(thread->calls->stacks, mark_restarted, in_way);
	return 0;
}
