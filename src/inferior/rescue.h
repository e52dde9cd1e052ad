/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rescue of a space: a SIGTRAP handler in the tracee that takes the breakpoints out when the
 * tracer is gone, and the tables it does so by. What it is told about a breakpoint must be told
 * before that is written.
 */
#ifndef TRACER_INFERIOR_RESCUE_H
#define TRACER_INFERIOR_RESCUE_H

#include "inferior/rescue_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rescue;
struct space;
struct thread;

/* The kernel's struct sigaction for SIGTRAP (word size of the tracee), or the start of it. */
enum { RESCUE_ACTION = 32 };

/*
 * Maps the handler into the space of `thread`, which is at a clean stop, once: 0 or -errno as
 * remote_map(). It is not yet told to the kernel.
 */
int rescue_install(struct thread *thread);

/*
 * The handler that another process has put at `base` (0: none) and its tables, for rescue_unmap().
 * Its words come from the tracee: only what `is_ours` says is mapped by us is believed.
 */
struct rescue *rescue_adopt(struct space *space, uint64_t base,
			    bool (*is_ours)(const struct space *space, uint64_t block));

/* Where the handler is, 0: none; and whether `block` is one of its blocks. */
uint64_t rescue_base(const struct space *space);
bool rescue_owns(const struct space *space, uint64_t block);

/*
 * Makes of `action`, which the program itself wants at SIGTRAP (as the kernel gave it), what is to
 * be told to the kernel instead: our handler, with flags and mask that leave the program's own as
 * it was meant. `tell`: and tells the handler of it. It goes by the wishes of one process; a child
 * in the same memory, which has dispositions of its own, must not tell. 0 or -errno; -ENOENT when
 * there is no handler in this space.
 */
int rescue_guard(struct space *space, const uint8_t action[RESCUE_ACTION], bool tell,
		 uint8_t guarded[RESCUE_ACTION]);

/*
 * Tells the handler, and the journal, of a thread that is given another signal mask while it makes
 * steps, and which is its own; NULL: of none any more. To be told before the thread is given the
 * other mask, and until it has its own again.
 */
void rescue_tell_step(struct space *space, const struct rescue_step *step);

/*
 * Looks, not too often, whether system calls may be the end of the stopped thread (seccomp(2)), and
 * tells the handler then.
 */
void rescue_look_for_filters(const struct thread *thread, uint64_t now);

/*
 * Notes a breakpoint at `address` where `before` stood; *place is for rescue_forget(), 0 when it
 * could not be noted: no handler, no memory. `thread` is at a clean stop.
 */
void rescue_note(struct thread *thread, uint64_t address, const uint8_t *before, uint64_t *place);
void rescue_forget(struct space *space, uint64_t place);
/* Whether that place, of rescue_note(), is one of the tables. */
bool rescue_holds(const struct space *space, uint64_t place);
/*
 * RESCUE_LAST: the handler puts the byte at that place back when it has put back all others, which
 * takes it milliseconds. So who comes by there unseen, and blocks SIGTRAP, runs into no other.
 * RESCUE_WAIT: it leaves that to the guardian.
 */
void rescue_mark(struct space *space, uint64_t place, uint64_t flag);

/*
 * Of a guardian, in a process whose tracer has been killed, a few times a second: whoever waits for
 * it in the handler goes on waiting.
 */
void rescue_beat(struct space *space);

enum { RESCUE_GENERATIONS = 8 }; /* tracers that have been killed one after the other */

/*
 * When `action` is the handler of an earlier tracer, which was killed: takes its breakpoints out,
 * notes their places (a thread may have hit one and not been told yet), and makes `action` what the
 * program wants itself. After rescue_install(). How many there were, one behind the other, and
 * where their blocks begin; 0: it is no such handler.
 */
size_t rescue_absorb(struct thread *thread, uint8_t action[RESCUE_ACTION],
		     uint64_t blocks[RESCUE_GENERATIONS]);

/*
 * Forgets what is not there in the memory of a forked child after all, as it was made in its parent
 * while the child's memory was being copied.
 */
void rescue_forget_missing(struct space *space);

/* A forked child has the same, in memory of its own. */
struct rescue *rescue_copy(const struct rescue *rescue);
/* The tracer's side only. NULL: nothing. */
void rescue_destroy(struct rescue *rescue);
/* Unmaps everything; the kernel must not know the handler any more. */
int rescue_unmap(struct thread *thread);

#endif
