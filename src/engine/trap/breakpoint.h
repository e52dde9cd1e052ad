/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Breakpoints of an address space: an int3 that stays in place, and the instruction that it has
 * displaced, which is run out of line or emulated.
 */
#ifndef TRACER_ENGINE_TRAP_BREAKPOINT_H
#define TRACER_ENGINE_TRAP_BREAKPOINT_H

#include "code/relocate.h"
#include "engine/core/engine.h"
#include "engine/trap/own_text.h"
#include "engine/trap/trap.h"

struct breakpoint {
	uint64_t address;
	struct displaced displaced;
	uint64_t xol_slot; /* XOL slot; 0: the instruction is emulated or stepped */
	size_t journal;	   /* number of its journal entry */
	/* Place in the SIGTRAP handler's tables, from rescue_note(); 0: not noted. */
	uint64_t rescue;
	const struct probe_site *site; /* a traced function begins or is called here */
	struct hook *hook;
	bool is_return; /* traced calls return here */
	bool is_pad;	/* a landing pad: a thread that arrives here has not returned */
	bool is_part;	/* another function may begin here */
	/* Not in a module: the memory may be unmapped without a report. */
	bool verify;
	/* For return_breakpoints.c: a call from here was made since the last scan. */
	bool recent;
	bool settled;		/* see breakpoint_settle() */
	bool is_go;		/* in Go code; valid when settled */
	bool lost;		/* the program has written over it, which was reported */
	enum journal_when when; /* see breakpoint_put() */
	bool step; /* cannot be displaced: stepped in place with all other threads stopped */
};

/*
 * A breakpoint that was removed. A child that was being forked then may have it in its copy of the
 * memory.
 */
struct removed_breakpoint {
	uint64_t address;
	uint64_t time; /* clock_now() */
	uint8_t before[8];
};

/* For watch.c. */
struct watches {
	uint64_t addresses[4]; /* under hardware watchpoints, 0: free */
	unsigned generation;   /* changes with the addresses; 0: nothing was ever watched */
};

struct trap_space {
	struct map breakpoints; /* address → struct breakpoint */
	/* Number of breakpoints freed so far: pointers to others stay valid. */
	uint64_t freed;
	struct vec removed;  /* struct removed_breakpoint: the latest ones, a ring buffer */
	size_t removed_next; /* index of the oldest entry of a full ring buffer */
	bool exchanged;	     /* see trap_stacks_exchanged() */
	bool leaves;	     /* see trap_calls_are_left() */
	bool has_agent;	     /* see trap_set_agent() */
	bool was_orphaned;   /* see trap_note_orphaned() */
	bool adopted;	     /* see trap_adopt(): the tracer that planted it is dead */
	size_t full; /* for return_breakpoints.c: number of breakpoints that starts a scan */
	bool lifted; /* see breakpoints_lift(): no breakpoint is in memory */
	struct vec first_hits;	  /* uint64_t: see trap_first_hits() */
	struct vec pending_words; /* uint32_t *: see pending.h */
	struct map goroutines;	  /* address of the g → struct goroutine; goroutines.c */
	struct own_text own_text;
	struct watches watches;
	trap_planting *planting; /* see trap_watch_planting() */
};

/* Returns space->trap; makes it if there is none so far. */
struct trap_space *trap_space_of(struct space *space);
void trap_space_destroy(struct trap_space *traps);

/* Returns true if an agent catches calls in the space, too: trap_set_agent(). */
static inline bool trap_has_agent(const struct space *space)
{
	return space->trap && space->trap->has_agent;
}

struct breakpoint *breakpoint_find(const struct space *space, uint64_t address);

/*
 * Finds the breakpoint at `address` or makes one. `thread` is a stopped thread of the space. At a
 * safe stop an XOL slot can be allocated; without one the breakpoint is stepped. Returns 0 or
 * -errno: -EFAULT no memory there, -EEXIST the program has its own int3 there, -EBUSY an entry
 * jump of the tracer's, -EACCES the memory cannot be written, -EXDEV no private executable mapping
 * of the process.
 */
int breakpoint_insert(struct decoder *decoder, struct thread *thread, uint64_t address,
		      struct breakpoint **result);

/*
 * Called at the first hit: reads the instruction again. The object may just have been mapped when
 * the breakpoint was made, and its code relocated since (DT_TEXTREL).
 */
void breakpoint_settle(struct decoder *decoder, struct space *space, struct breakpoint *breakpoint);

/* Sets when the guardian removes the breakpoint if the tracer is killed. */
void breakpoint_put(struct space *space, struct breakpoint *breakpoint, enum journal_when when);

/* Removes a breakpoint from the tracee's memory and frees it. */
void breakpoint_remove(struct space *space, struct breakpoint *breakpoint);
/*
 * Frees a breakpoint that was overwritten by other code of the tracer, which has its own journal
 * entry.
 */
void breakpoint_covered(struct space *space, struct breakpoint *breakpoint);

/* Frees all breakpoints in [low, high), whose memory is gone. */
void breakpoints_forget(struct space *space, uint64_t low, uint64_t high);

/*
 * Plants the breakpoint again if its int3 is gone because new memory was mapped there. Returns 0
 * or -errno; on error the breakpoint is freed.
 */
int breakpoint_verify(struct decoder *decoder, struct thread *thread,
		      struct breakpoint *breakpoint);

/*
 * Rebuilds a breakpoint that another process has planted from entry `entry` of the space's
 * journal. Does nothing if the entry is not a breakpoint.
 */
void breakpoint_adopt(struct decoder *decoder, struct space *space, size_t entry);

/*
 * Copies the breakpoints of `parent` to a forked child's space, whose memory should contain them.
 */
void breakpoints_copy(struct space *child, const struct space *parent);

/*
 * Frees a breakpoint and plants a new one for the same purposes. Returns 0, or -errno: there is no
 * breakpoint any more.
 */
int breakpoint_plant_again(struct decoder *decoder, struct thread *thread,
			   struct breakpoint *breakpoint);

/*
 * Returns true if the SIGTRAP that the thread has stopped for comes from a breakpoint instruction.
 */
bool breakpoint_is_hit(const struct thread *thread);

/*
 * Returns true if the SIGTRAP that the thread has stopped for comes from a breakpoint at `address`
 * that was removed since: the instruction at `address` has not run.
 */
bool breakpoint_is_stale(const struct thread *thread, uint64_t address);

/*
 * breakpoints_lift() removes all breakpoints from memory, but not from the tables.
 * breakpoints_lower() writes them again, with those that were inserted meanwhile.
 */
void breakpoints_lift(struct space *space);
void breakpoints_lower(struct space *space);

/*
 * Changes `regs` of a thread that stopped at `breakpoint` so that it continues behind the
 * breakpoint. Returns 0, or -EFAULT if an emulated instruction cannot read its operand: the caller
 * must step.
 */
int breakpoint_pass(const struct breakpoint *breakpoint, struct space *space, struct regs *regs);

/*
 * Translates a `pc` in an XOL slot to the program's own: the address of the displaced instruction
 * (*not_begun: it has not run yet) or of the next one. Returns false if `pc` is in no XOL slot.
 */
bool breakpoint_program_pc(const struct space *space, uint64_t pc, uint64_t *program_pc,
			   bool *not_begun);

#endif
