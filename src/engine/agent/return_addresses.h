/* SPDX-License-Identifier: GPL-2.0-or-later */
/* True return addresses: see return_addresses.c. */
#ifndef TRACER_ENGINE_AGENT_RETURN_ADDRESSES_H
#define TRACER_ENGINE_AGENT_RETURN_ADDRESSES_H

#include "engine/agent/agent.h"
#include "engine/agent/agent_state.h"

/*
 * Undoes all jumps by the journal. All threads of the space are stopped; after this, threads enter
 * the agent's code only by returning. `unwinders_too`: undo the jumps of unwinders as well; they
 * have to stay if threads may run on and put return trampolines on their stacks.
 */
void agent_undo_jumps(struct space *space, bool unwinders_too);
/*
 * Replaces all return trampolines on stacks by the true return addresses. All threads of the space
 * are stopped. Works by the journal alone, which another process may have written. Where an address
 * cannot be put back, the agent's code stays mapped when the tracer leaves.
 */
void agent_restore_returns(struct space *space);
/*
 * Like agent_restore_returns(), for the current stack of one stopped thread that is about to be
 * inspected. The trap engine takes over the pending calls.
 */
void agent_hand_over(struct agent *agent, struct thread *thread);
/*
 * A stack word that is at `place` is `word`. If that is the return trampoline of a pending call,
 * stores the call's true return address and returns true.
 */
bool agent_find_return(const struct space *space, uint64_t place, uint64_t word, uint64_t *address);
/*
 * Like agent_hand_over(), for one stack word: a stopped thread has just entered a function whose
 * return address, `word`, is at `place`. If `word` is a return trampoline, writes the true return
 * address to `place` and returns it; else returns `word`.
 */
uint64_t agent_show_caller(struct agent *agent, struct thread *thread, uint64_t place,
			   uint64_t word);
/*
 * Reads up to `most` bytes of a stopped thread's stack, from `low` on. Returns the number of bytes
 * read; sets *whole if they reach to the end of the stack.
 */
enum { STACK_NEAR = 65536 };
size_t return_addresses_read_stack(struct thread *thread, uint64_t low, uint64_t *words,
				   size_t most, bool *whole);
/* The thread is at a return without room for its record: the trap engine will see the return. */
void return_addresses_give_up(const struct agent_unit *unit, struct thread *thread,
			      const struct regs *regs);
/*
 * In a forked child, whose true return addresses are back: the returns of its pending calls become
 * the trap engine's.
 */
void return_addresses_take_over(struct agent *agent, struct thread *thread);

#endif
