/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pending calls of one thread, kept separately for each of its stacks, and matched with
 * returns by stack pointer.
 */
#ifndef TRACER_ENGINE_CORE_CALLSTACK_H
#define TRACER_ENGINE_CORE_CALLSTACK_H

#include "record/capture.h"
#include "tracee/proc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hook;
struct probe_site;
struct sample;

struct call {
	uint64_t place;		 /* address of the stack word with the return address */
	uint64_t return_address; /* in_process: the return trampoline that replaces it */
	/*
	 * in_process: the true return address, or the trampoline of the call that made a tail
	 * call.
	 */
	uint64_t caller;
	uint64_t origin;    /* where its caller continues, whatever the stack word holds */
	uint64_t covered;   /* trampoline of a tail call that is in the stack word; 0: none */
	uint64_t entry;	    /* address of the breakpoint */
	uint64_t registers; /* a hash of the callee-saved registers at entry; 0: not known */
	const struct probe_site *site; /* NULL for hooks */
	struct hook *hook;
	struct capture_saved *saved; /* owned, or NULL */
	uint64_t number;	     /* record.call */
	pid_t tid;		     /* made by that thread; 0: by the thread that has this call */
	uint64_t start;		     /* clock_now() when the thread was resumed */
	struct proc_runs ran;	     /* of the thread until then; turns 0: not asked for */
	uint64_t cost;		     /* thread->calls->cost at that time */
	uint64_t shown;		     /* thread->calls->shown at that time */
	uint64_t owed;		     /* ns that its entry stop took: call_tracker_resume() */
	uint64_t serial;	     /* ordinal number among the calls that the thread has pushed */
	struct sample *sample; /* tells calls apart where stacks are exchanged; owned, or NULL */
	uint32_t stack;	       /* number of the stack at entry, 0: not known */
	uint32_t depth;	       /* number of calls with a site around it, on its stack */
	bool may_circle; /* calls are left only in ways that are reported: two may be in a circle */
	bool restarted;	 /* the function's entry breakpoint will be hit again */
	bool interrupted;  /* a signal handler runs whose return may restart the call */
	bool in_process;   /* the process itself records its return */
	bool inherited;	   /* made in the parent before the fork */
	bool since_attach; /* it was running when the process was attached to */
	bool arrived;	   /* it returned, and a signal came before the breakpoint was hit */
};

struct callstacks;

enum { STACK_VIEW_WORDS = 32 };

/* Access to the thread's memory. Any function may be NULL. */
struct stack_view {
	/*
	 * Stores the bounds of the mapping that contains `sp`, and in *single whether it holds one
	 * stack only (false outside of mappings). Called only when sp leaves all known stacks.
	 */
	bool (*bounds)(void *context, uint64_t sp, uint64_t *low, uint64_t *high, bool *single);
	/* Reads at most STACK_VIEW_WORDS stack words; `words` of unreadable ones stay as given. */
	void (*words)(void *context, size_t count, const uint64_t *slots, uint64_t *words);
	/* Reads `length` bytes of a stack; returns how many could be read. */
	size_t (*read)(void *context, uint64_t address, void *buffer, size_t length);
	/*
	 * Returns true, and stores the bounds, if the thread at `sp` runs a signal handler on a
	 * signal stack. Called only when deeper calls on the same stack would be over otherwise.
	 */
	bool (*signal_stack)(void *context, uint64_t sp, uint64_t *low, uint64_t *high);
	/* See engine_events.may_jump in engine.h. */
	bool (*may_jump)(void *context, uint64_t from, uint64_t to);
};

/* Called for each call that is popped: it has returned, or was left in another way. */
typedef void call_popped(void *context, const struct call *call, bool returned);

/*
 * Pushes a copy of `call` and returns it; valid until the next change. First pops, as left, the
 * calls that can no longer be pending: deeper ones on the same stack; one at the same stack word
 * with another return address; and one with the same entry and hook at the same stack word (it was
 * left by longjmp and is made again), unless it is a tail call in a circle (call.may_circle).
 */
struct call *callstacks_push(struct callstacks *stacks, const struct call *call,
			     call_popped *popped, void *context);

/* Inserts a call that has been pending for some time between older and newer calls. */
void callstacks_insert(struct callstacks *stacks, const struct call *call);

/*
 * Finds the pending call with these properties, which starts again. Returns NULL if there is none.
 */
struct call *callstacks_find(struct callstacks *stacks, uint64_t slot, uint64_t return_address,
			     uint64_t entry);

/* The function that was entered last with its return address at `slot` will be entered again. */
void callstacks_restart(struct callstacks *stacks, uint64_t slot);

/* Where a thread has arrived. */
struct arrival {
	uint64_t pc, sp;
	unsigned word;	 /* bytes of a stack word */
	bool in_process; /* reported by the process itself */
	bool exact; /* only pc and sp tell the call: assume no arguments were popped (`ret $N`) */
};

/*
 * The thread has arrived at a return address, with that and possibly arguments popped off the
 * stack. Pops as returned the call that returned there and the calls that made a tail call to it;
 * pops deeper ones as left. Returns false if no pending call returns here.
 */
bool callstacks_return(struct callstacks *stacks, const struct arrival *arrival,
		       call_popped *popped, void *context);

/*
 * A signal handler will run before the thread's arrival is reported. It may overwrite the rest
 * of the returned call's frame below sp, so the call is marked as arrived.
 */
void callstacks_interrupted(struct callstacks *stacks, const struct arrival *arrival);

/* The thread is at `sp` without having returned: pops, as left, what is deeper. */
void callstacks_leave(struct callstacks *stacks, uint64_t sp, call_popped *popped, void *context);

/* A signal is about to be delivered to the thread at `sp`; its handler may run on another stack. */
void callstacks_signal(struct callstacks *stacks, uint64_t sp);

/* The target of a longjmp(). */
struct stack_jump {
	uint64_t from;	    /* the stack pointer before the jump */
	uint64_t target;    /* the stack pointer after the jump */
	uint64_t pc;	    /* pc after the jump: behind the call of setjmp() */
	unsigned arguments; /* bytes of setjmp()'s arguments that may be above `target` */
};

/* Pops, as left, the calls that the jump leaves. */
void callstacks_jump(struct callstacks *stacks, const struct stack_jump *jump, call_popped *popped,
		     void *context);

/* From now on the program copies stack contents out and others in their place: see callstack.c. */
void callstacks_exchange(struct callstacks *stacks);

/*
 * Begins batch number `batch` (from 1) of calls and returns that are reported some time after they
 * happened; 0 ends the batch. During a batch the present contents of memory mean little.
 * `signalled`: signals have been delivered to the thread.
 */
void callstacks_look_back(struct callstacks *stacks, uint64_t batch, bool signalled);

/*
 * The true return address of an in-process call at `slot` has replaced its return trampoline
 * `stub`: from now on it returns like any other. Returns the call, valid until the next change, or
 * NULL if no such call is pending.
 */
struct call *callstacks_uncover(struct callstacks *stacks, uint64_t slot, uint64_t stub,
				uint64_t return_address);

/* Visits each pending call, in no particular order. */
typedef void call_visit(void *context, const struct call *call);
void callstacks_each(const struct callstacks *stacks, call_visit *visit, void *context);

/* Returns true if no call is pending, with or without a site. */
bool callstacks_are_empty(const struct callstacks *stacks);
/* Returns the number of pending calls with a site. */
size_t callstacks_depth(const struct callstacks *stacks);
/* Returns how many pending calls with a site are around the stack address `sp`, on its stack. */
size_t callstacks_depth_at(struct callstacks *stacks, uint64_t sp);

#endif
