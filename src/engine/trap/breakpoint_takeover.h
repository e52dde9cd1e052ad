/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent engine needs to know about breakpoints when it replaces one by an entry jump: the
 * breakpoint's purposes, the code under it, and the threads that have hit it: see
 * breakpoint_takeover.c.
 */
#ifndef TRACER_ENGINE_TRAP_BREAKPOINT_TAKEOVER_H
#define TRACER_ENGINE_TRAP_BREAKPOINT_TAKEOVER_H

#include "engine/trap/breakpoint.h"
#include "engine/trap/trap.h"

/*
 * In breakpoint_takeover.c: notes a hit for trap_first_hits(). Must be called before
 * breakpoint_settle().
 */
void breakpoint_note_hit(struct space *space, const struct breakpoint *breakpoint);
/*
 * The agent begins or ends to catch calls in the space. Meanwhile breakpoints respect its entry
 * jumps, and hits are noted for trap_first_hits().
 */
void trap_set_agent(struct space *space, bool has_agent);
/* Returns true if there is a breakpoint at `address`, for any purpose. */
bool trap_is_planted(const struct space *space, uint64_t address);
/*
 * Removes the breakpoint at `address`, if there is one. All threads of the space are stopped, and
 * none is in the breakpoint's XOL slot.
 */
void trap_unplant(struct space *space, uint64_t address);
/*
 * Frees the breakpoint at `address` without restoring the byte: other code, with its own journal
 * entry, has been written over it.
 */
void trap_covered(struct space *space, uint64_t address);
/* Returns true if the program has written over the breakpoint at `address`. */
bool trap_is_written_over(const struct space *space, uint64_t address);
/*
 * Returns true if the breakpoint at `address` is for `hook` and nothing else; with `hook` NULL, if
 * it is for a probe and nothing else.
 */
bool trap_is_only(const struct space *space, uint64_t address, const struct hook *hook);
/*
 * Returns the addresses (uint64_t) of probes' breakpoints, and of breakpoints at indirect calls,
 * that were hit for the first time since the caller last emptied the vector. Kept only in spaces
 * that the agent engine uses. May contain duplicates and breakpoints that are gone. NULL: nothing
 * was ever planted in the space.
 */
struct vec *trap_first_hits(const struct space *space);
/* Returns true if trap_stacks_exchanged() was called for the space. */
bool trap_has_exchanged_stacks(const struct space *space);
/*
 * Reads the code at `address` with breakpoints replaced by the original bytes. Returns the number
 * of bytes that could be read.
 */
size_t trap_read_code(const struct space *space, uint64_t address, void *buffer, size_t length);
/*
 * If `pc` is in an XOL slot, stores the address in the program that it stands for and returns
 * true.
 */
bool trap_program_pc(const struct space *space, uint64_t pc, uint64_t *program_pc);
/*
 * Sets a stopped thread that has hit a breakpoint back to the breakpoint's address, as if it had
 * not hit it. Only for breakpoints that serve one purpose: a probe, an indirect call, or a hook
 * that is on no system call. Returns true if that was done: the caller resumes the thread, with
 * sigtrap_to_deliver().
 */
bool trap_put_back(struct thread *thread);
/*
 * Like trap_put_back(), for a thread whose stop is still queued (has_deferred); the queued stop is
 * consumed.
 */
bool trap_turn_back(struct thread *thread);
/*
 * Makes a stopped thread that has hit a breakpoint continue behind it, as if there were none.
 * Returns false if the thread has not stopped for a breakpoint. If true, a SIGTRAP of the
 * program's own may have to be delivered to the thread instead (sigtrap_to_deliver()).
 */
bool trap_swallow_hit(struct thread *thread);

#endif
