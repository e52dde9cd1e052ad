/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pending calls of one thread, kept apart by the stack they were made on, and matched with
 * returns by stack pointer.
 */
#ifndef TRACER_ENGINE_TRAP_CALLSTACK_H
#define TRACER_ENGINE_TRAP_CALLSTACK_H

#include "record/capture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hook;
struct probe_site;
struct sample;

struct call {
	uint64_t slot;		 /* where on the stack the return address is */
	uint64_t return_address; /* in_process: the stub that stands there instead */
	uint64_t caller;	 /* in_process: the true one, or the stub of who made a tail call */
	uint64_t origin;	 /* where its caller goes on, whatever stands in the slot */
	uint64_t covered; /* by what stands there, as it made a tail call; 0: it is as it was */
	uint64_t entry;	  /* address of the breakpoint */
	/*
	 * Of the registers that are its caller's, a hash; 0: calls may be left without a return
	 * that is seen, and made again.
	 */
	uint64_t preserved;
	const struct probe_site *site; /* NULL for hooks */
	struct hook *hook;
	struct capture_saved *saved; /* owned, or NULL */
	uint64_t number;	     /* record.call */
	pid_t tid;		     /* made by that thread; 0: by the one that has it */
	uint64_t start;		     /* clock when the thread went on */
	uint64_t cost;		     /* thread->cost at that time */
	uint64_t owed;		     /* ns that its entry took, for trap_delayed() */
	uint64_t serial;	     /* pushed as which of the thread's */
	struct sample *sample; /* whose call it is, where stacks are exchanged; owned, or NULL */
	uint32_t depth;	       /* calls with a site around it, on its stack */
	bool restarted;	       /* its first instruction will be run anew, from the breakpoint on */
	bool interrupted;      /* a handler runs that may bring that about by returning */
	bool in_process;       /* the process itself tells of its return */
	bool inherited;	       /* made by the parent, as it forked, before it was copied */
	bool arrived;	       /* it returned, and a signal came before the breakpoint was hit */
};

struct callstacks;

enum { STACK_VIEW_WORDS = 32 };

/* What has to be known of the thread's memory; either may be NULL. */
struct stack_view {
	/*
	 * The bounds of the mapping that `sp` is in, and whether it holds one stack only: false
	 * when it is in none. Called only when sp leaves all known stacks.
	 */
	bool (*bounds)(void *context, uint64_t sp, uint64_t *low, uint64_t *high, bool *single);
	/*
	 * What stack slots hold, at most STACK_VIEW_WORDS; those that cannot be read stay as given.
	 */
	void (*words)(void *context, size_t count, const uint64_t *slots, uint64_t *words);
	/* Reads so much of a stack; how much could be read. */
	size_t (*read)(void *context, uint64_t address, void *buffer, size_t length);
	/*
	 * Whether the thread, which is at `sp`, runs a signal handler on a stack of its own, and
	 * where that is. Called only when calls deeper on the same stack would be over otherwise.
	 */
	bool (*signal_stack)(void *context, uint64_t sp, uint64_t *low, uint64_t *high);
};

/* `view` must outlive them, `context` is handed to its functions. */
struct callstacks *callstacks_create(const struct stack_view *view, void *context);
void callstacks_destroy(struct callstacks *stacks);
/* For a forked child, which returns from the same calls. */
struct callstacks *callstacks_clone(const struct callstacks *stacks, void *context);

/* What becomes of calls that are popped: they returned, or were left in another way. */
typedef void call_popped(void *context, const struct call *call, bool returned);

/*
 * Pushes a call; the copy's place is returned, good until the next change. Calls that can no
 * longer be pending are popped first, as left: those deeper on the same stack, one at the same
 * slot with another return address, and one of the same entry and hook at the same slot (it was
 * left by longjmp and is made again), unless it is a tail call in a circle (call.preserved).
 */
struct call *callstacks_push(struct callstacks *stacks, const struct call *call,
			     call_popped *popped, void *context);

/* Notes a call that has been pending for some time, among those made from it or before it. */
void callstacks_insert(struct callstacks *stacks, const struct call *call);

/* The pending call at `slot` with these properties, or NULL: a call that starts again. */
struct call *callstacks_find(struct callstacks *stacks, uint64_t slot, uint64_t return_address,
			     uint64_t entry);

/* The function that was entered last with its return address at `slot` will be entered anew. */
void callstacks_restart(struct callstacks *stacks, uint64_t slot);

/* Where a thread is. */
struct arrival {
	uint64_t pc, sp;
	unsigned word;	 /* bytes of a stack slot */
	bool in_process; /* the process tells of it */
	bool exact;	 /* nothing says so but pc and sp: no arguments have been taken off */
};

/*
 * The thread arrived, the return address and possibly arguments already taken off the stack. Pops
 * the call that returned there and, as returned too, those that tail-called into it; deeper ones
 * as left. False when no pending call returns here.
 */
bool callstacks_return(struct callstacks *stacks, const struct arrival *arrival,
		       call_popped *popped, void *context);

/*
 * A signal handler will run before the thread's arrival is told: it may overwrite what is left of
 * the frame of the call that returned.
 */
void callstacks_interrupted(struct callstacks *stacks, const struct arrival *arrival);

/* The thread is known to be at `sp` without having returned: pops, as left, what lies deeper. */
void callstacks_leave(struct callstacks *stacks, uint64_t sp, call_popped *popped, void *context);

/*
 * A signal is about to be delivered to the thread, whose handler may run on another stack.
 */
void callstacks_signal(struct callstacks *stacks, uint64_t sp);

/* Where a thread is about to go back to (longjmp). */
struct stack_jump {
	uint64_t from;	    /* its stack pointer now */
	uint64_t target;    /* what that is to be */
	uint64_t pc;	    /* behind the call of setjmp() */
	unsigned arguments; /* of setjmp(), that may lie above `target`: bytes */
};

/* Pops, as left, what lies between. */
void callstacks_jump(struct callstacks *stacks, const struct stack_jump *jump, call_popped *popped,
		     void *context);

/* From now on, pieces of the stacks are copied out and others in their place: see callstack.c. */
void callstacks_exchange(struct callstacks *stacks);

/*
 * What follows is told of calls that were made some time ago, at the moment of that number: what is
 * in memory now means little, until this is called with 0. `signalled`: signals have been delivered
 * to the thread.
 */
void callstacks_look_back(struct callstacks *stacks, uint64_t moment, bool signalled);

/*
 * The true return address of a call in_process at `slot` is there again, instead of `stub`: from
 * now on it returns like any other. NULL when no such call is pending; else it, until the stacks
 * change.
 */
struct call *callstacks_uncover(struct callstacks *stacks, uint64_t slot, uint64_t stub,
				uint64_t return_address);

/* Pops everything, as left. */
void callstacks_unwind(struct callstacks *stacks, call_popped *popped, void *context);

/* Shows each pending call, in no order. */
typedef void call_visit(void *context, const struct call *call);
void callstacks_each(const struct callstacks *stacks, call_visit *visit, void *context);

/* Whether none is pending, with a site or without. */
bool callstacks_are_empty(const struct callstacks *stacks);
/* How many calls with a site are pending. */
size_t callstacks_depth(const struct callstacks *stacks);
/* How many of them are around what is done at `sp`, on its stack. */
size_t callstacks_depth_at(struct callstacks *stacks, uint64_t sp);

#endif
