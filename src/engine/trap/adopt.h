/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rebuilds a space that another process has planted from its journal, as far as trap_leave() needs
 * it to restore the space; and finds out which threads are in code of the tracer: see adopt.c.
 */
#ifndef TRACER_ENGINE_TRAP_ADOPT_H
#define TRACER_ENGINE_TRAP_ADOPT_H

#include "engine/trap/trap.h"

/*
 * Returns true if `pc` is in code of the tracer that a thread cannot be moved out of, and has to
 * be let run: the SIGTRAP handler, the agent, a remote-call stub. Uses the space's journal, which
 * another process may have written.
 */
bool trap_in_our_code(const struct space *space, uint64_t pc);
/*
 * Returns true if `pc` is in a remote-call stub or in memory that the tracer has mapped, such as
 * XOL slots.
 */
bool trap_has_mapped(const struct space *space, uint64_t pc);
/*
 * Returns true if trap_in_our_code() holds for the pc in `regs`, or if the thread is in the vDSO
 * and was called there by the tracer's code.
 */
bool trap_runs_our_code(const struct space *space, const struct regs *regs);
/*
 * Returns true if the stack above `sp` holds signal frames that will return into the tracer's
 * code, made while no tracer moved threads out of it. May also find frames that are no longer in
 * use.
 */
bool trap_on_stack(const struct space *space, uint64_t sp);
/*
 * Removes all breakpoints that the journal lists, JOURNAL_LAST ones last, and keeps their entries:
 * a thread may still be about to report a hit. The threads are stopped, or running (`runs`). While
 * they run, breakpoints of JOURNAL_STAYS stay if the process has the SIGTRAP handler.
 */
void trap_heal(struct space *space, bool runs);
/*
 * Rebuilds breakpoints, XOL slots and SIGTRAP handler of a space from its journal, which another
 * process has written, for trap_leave(). Returns 0, or -ENOTSUP without an instruction decoder.
 * The threads are stopped, and none is in code of the tracer. A mapping that a thread has made by
 * a remote call is taken over even if the old tracer was killed during the call.
 */
int trap_adopt(struct space *space);

/*
 * Code of an earlier, killed tracer was found in the space and adopted: signals may have been
 * delivered to threads in that code while no tracer moved them out of it. Forked children inherit
 * this.
 */
void trap_note_orphaned(struct space *space);
bool trap_was_orphaned(const struct space *space);

#endif
