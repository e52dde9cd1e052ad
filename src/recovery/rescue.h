/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rescue of a space: a SIGTRAP handler in the tracee that removes the breakpoints when the
 * tracer is gone, and the tables that it uses. A breakpoint must be noted here before it is
 * written.
 */
#ifndef TRACER_RECOVERY_RESCUE_H
#define TRACER_RECOVERY_RESCUE_H

#include "tracee/rescue_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rescue;
struct space;
struct thread;

/* The kernel's struct sigaction for SIGTRAP (word size of the tracee), or the first bytes of it. */
enum { RESCUE_ACTION = 32 };

/*
 * Maps the handler into the space of `thread`, which must be at a safe stop, if that was not done
 * before: 0, or -errno as remote_map(). Does not change the SIGTRAP disposition.
 */
int rescue_install(struct thread *thread);

/*
 * Takes over the handler and the tables that another process has mapped at `base` (0: none), for
 * rescue_unmap(). The addresses are read from the tracee, so only blocks that `is_ours` confirms to
 * be a tracer's mappings are accepted.
 */
void rescue_adopt(struct space *space, uint64_t base,
		  bool (*is_ours)(const struct space *space, uint64_t block));

/*
 * rescue_base() returns the address of the handler, 0: none. rescue_runs() returns true if `pc` is
 * in its code. rescue_owns() returns true if `block` is one of its blocks.
 */
uint64_t rescue_base(const struct space *space);
bool rescue_runs(const struct space *space, uint64_t pc);
bool rescue_owns(const struct space *space, uint64_t block);

/*
 * Computes the struct sigaction to be set in place of `action`, the program's own (as the kernel
 * returned it): the tracer's handler, with flags and mask that give the program's handler the
 * environment it asked for. `tell`: also tells the handler about `action`. The handler knows the
 * action of one process only; a child that shares the memory, with dispositions of its own, must
 * pass false. 0 or -errno; -ENOENT if the space has no handler.
 */
int rescue_guard(struct space *space, const uint8_t action[RESCUE_ACTION], bool tell,
		 uint8_t guarded[RESCUE_ACTION]);

/*
 * Tells the handler and the journal about a thread that single-steps with another signal mask than
 * its own; NULL: there is none any more. Must be called before the thread gets the other mask, and
 * with NULL after it has its own again.
 */
void rescue_tell_step(struct space *space, const struct rescue_step *step);

/*
 * Checks, at most every 100 ms, whether a system call may kill the stopped thread (seccomp(2)), and
 * tells the handler if so.
 */
void rescue_look_for_filters(const struct thread *thread, uint64_t now);

/*
 * Notes a breakpoint at `address`, where the byte `before` was. *place is for rescue_forget(); 0 if
 * it could not be noted: no handler, or no memory. `thread` must be at a safe stop.
 */
void rescue_note(struct thread *thread, uint64_t address, const uint8_t *before, uint64_t *place);
void rescue_forget(struct space *space, uint64_t place);
/* Returns true if `place`, from rescue_note(), lies in one of the tables. */
bool rescue_holds(const struct space *space, uint64_t place);
/*
 * RESCUE_LAST: the handler restores this byte after all others, which takes milliseconds. So a
 * thread that passes there unseen and blocks SIGTRAP hits no other breakpoint. RESCUE_WAIT: a
 * thread that hits it waits in the handler for the guardian, which restores the byte; the handler
 * does so itself only if the guardian does not come.
 */
void rescue_mark(struct space *space, uint64_t place, uint64_t flag);

/*
 * For a guardian, a few times a second, in a process whose tracer was killed: threads that wait in
 * the handler keep waiting.
 */
void rescue_beat(struct space *space);

enum { RESCUE_GENERATIONS = 8 }; /* tracers killed one after the other */

/*
 * If `action` is the handler of an earlier, killed tracer: removes that tracer's breakpoints, notes
 * their places (a thread may have hit one without a report yet), and replaces `action` with the
 * program's own. To be called after rescue_install(). Handlers may be chained. Returns the number
 * of handlers found, with the addresses of their blocks in `blocks`; 0: `action` is no such
 * handler.
 */
size_t rescue_absorb(struct thread *thread, uint8_t action[RESCUE_ACTION],
		     uint64_t blocks[RESCUE_GENERATIONS]);

/* Copies the tracer's data for a forked child, which has handler and tables in its own memory. */
void rescue_copy(struct space *child, const struct space *parent);
/* Unmaps all blocks. The handler must not be the kernel's disposition of SIGTRAP any more. */
int rescue_unmap(struct thread *thread);

#endif
