/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Breakpoints of an address space: an int3 that stays in place, and the instruction it
 * displaced, which runs out of line or is emulated.
 */
#ifndef TRACER_ENGINE_TRAP_BREAKPOINT_H
#define TRACER_ENGINE_TRAP_BREAKPOINT_H

#include "engine/engine.h"
#include "engine/trap/own_text.h"
#include "engine/trap/trap.h"
#include "image/relocate.h"

struct breakpoint {
	uint64_t address;
	struct displaced displaced;
	uint64_t slot;		       /* out-of-line slot, 0 when emulated or stepped */
	size_t journal;		       /* number of its patch */
	uint64_t rescue;	       /* see rescue_note() */
	const struct probe_site *site; /* a traced function begins or is called here */
	struct hook *hook;
	bool is_return;		/* traced calls return here */
	bool is_pad;		/* a landing pad: arriving here is not returning */
	bool is_part;		/* another function may begin here */
	bool verify;		/* not in a module: it may vanish without a word */
	bool recent;		/* for returns.c: called from again since it last looked */
	bool settled;		/* breakpoint_settle() */
	bool is_go;		/* in code of Go's; known when it is settled */
	bool lost;		/* the program has written over it, and that was told */
	enum journal_when when; /* breakpoint_put() */
	bool step;		/* cannot be displaced: the thread steps with all others stopped */
};

/*
 * One that has been taken out: a child that was being forked then may have it in its copy of the
 * memory.
 */
struct removed_breakpoint {
	uint64_t address;
	uint64_t time; /* inferior_clock() */
	uint8_t before[8];
};

struct trap_space {
	struct map breakpoints;	  /* address → struct breakpoint */
	struct vec removed;	  /* struct removed_breakpoint: the last of them, in a ring */
	size_t removed_next;	  /* its oldest one, when it is full */
	bool exchanged;		  /* trap_stacks_exchanged() */
	bool leaves;		  /* trap_calls_are_left() */
	bool adopted;		  /* trap_adopt(): the process that planted it is dead */
	size_t full;		  /* for returns.c: so many of them are looked through */
	bool lifted;		  /* breakpoints_lift(): they stand in the books only */
	struct vec first_hits;	  /* uint64_t: trap_first_hits() */
	struct vec pending_words; /* uint32_t *: see pending.h */
	struct map goroutines;	  /* address of the g → struct goroutine; goroutines.c */
	struct own_text own_text;
	trap_planting *planting; /* trap_watch_planting() */
};

struct trap_space *trap_space_create(void);
void trap_space_destroy(struct trap_space *traps);

struct breakpoint *breakpoint_find(const struct space *space, uint64_t address);

/*
 * Finds or makes the breakpoint at `address`. `thread` is a stopped thread of the space; at a
 * clean stop out-of-line slots can be had, else the breakpoint is a stepped one. 0 or -errno:
 * -EFAULT no memory there, -EEXIST the program's own int3 stands there, -EBUSY a jump of ours,
 * -EACCES the memory cannot be written, -EXDEV other processes may have it, too.
 */
int breakpoint_insert(struct decoder *decoder, struct thread *thread, uint64_t address,
		      struct breakpoint **result);

/*
 * At the first hit: what the instruction is now. When it was read the object may just have been
 * mapped, and its code may have been relocated since.
 */
void breakpoint_settle(struct decoder *decoder, struct space *space, struct breakpoint *breakpoint);

/* taken.c: for trap_first_hits(); to be called before it is settled. */
void breakpoint_note_hit(struct space *space, const struct breakpoint *breakpoint);

/* When this one is taken out, should the tracer be killed. */
void breakpoint_put(struct space *space, struct breakpoint *breakpoint, enum journal_when when);

/* Takes one out of the tracee's memory and frees it. */
void breakpoint_remove(struct space *space, struct breakpoint *breakpoint);
/* Frees one over which something else has been written, with a journal entry of its own. */
void breakpoint_covered(struct space *space, struct breakpoint *breakpoint);

/* Frees those in [low, high), whose memory is gone. */
void breakpoints_forget(struct space *space, uint64_t low, uint64_t high);

/* The int3 is still there; puts it back where new memory has taken the place. */
int breakpoint_verify(struct decoder *decoder, struct thread *thread,
		      struct breakpoint *breakpoint);

/*
 * Makes again, from number `entry` of its journal, the breakpoint of a space that another process
 * has planted; what is no breakpoint is passed over.
 */
void breakpoint_adopt(struct decoder *decoder, struct space *space, size_t entry);

/* Gives a forked child's space the same breakpoints, which its memory should have already. */
void breakpoints_copy(struct space *child, const struct space *parent);

/*
 * Puts one in anew, with everything that it was for; it is dropped, 0 or -errno, where that cannot
 * be done.
 */
int breakpoint_plant_again(struct decoder *decoder, struct thread *thread,
			   struct breakpoint *breakpoint);

/* complete.c: makes the memory of a space, with a thread at a clean stop, what the books say. */
void breakpoints_complete(struct decoder *decoder, struct thread *thread);

/* Whether the SIGTRAP that the thread has stopped for is a breakpoint instruction's. */
bool breakpoint_is_hit(const struct thread *thread);

/*
 * Whether the SIGTRAP that the thread has stopped for came from a breakpoint at `address` that has
 * been taken away since: the instruction that stands there has not run.
 */
bool breakpoint_is_stale(const struct thread *thread, uint64_t address);

/*
 * Takes all out of the memory, but not out of the books; and puts them back, with those that were
 * inserted meanwhile.
 */
void breakpoints_lift(struct space *space);
void breakpoints_lower(struct space *space);

/*
 * Makes `regs` of a thread that stopped at `breakpoint` go on behind it. -EFAULT when an emulated
 * instruction cannot read its operand: the caller must step.
 */
int breakpoint_pass(const struct breakpoint *breakpoint, struct space *space, struct regs *regs);

/*
 * Where a pc is in the program's own terms: inside an out-of-line slot it is that of the
 * displaced instruction (*not_begun: it has not run yet) or the next. False when `pc` is the
 * program's own.
 */
bool breakpoint_program_pc(const struct space *space, uint64_t pc, uint64_t *program_pc,
			   bool *not_begun);

#endif
