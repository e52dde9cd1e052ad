/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of a thread with their pending calls, on which callstack.c works. The stack that the
 * thread is on is found by sp alone.
 */
#ifndef TRACER_ENGINE_CORE_STACKSET_H
#define TRACER_ENGINE_CORE_STACKSET_H

#include "base/vec.h"
#include "engine/core/callstack.h"

struct stack {
	uint64_t low, high;
	bool own;     /* the first stack seen: the thread's own */
	bool single;  /* one stack only: the order of its calls can be trusted */
	bool inner;   /* a signal stack inside another stack */
	size_t sites; /* number of calls with a site */
	/* sp at a signal after which the thread was not seen here; 0: none */
	uint64_t signal_sp;
	uint64_t signal_serial; /* callstacks.serial at that signal */
	uint64_t looked;	/* callstacks.batch at the latest check of its stack words */
	struct vec calls;
};

struct callstacks {
	struct vec stacks; /* struct stack, most recently used last */
	const struct stack_view *view;
	void *context;
	size_t depth;
	size_t inner;	 /* number of inner stacks */
	uint64_t serial; /* calls pushed so far */
	uint64_t batch;	 /* see callstacks_look_back() */
	bool signalled;	 /* see callstacks_look_back() */
	bool exchanged;	 /* the program copies stack contents out and in */
};

/*
 * Pointers to stacks and calls are valid until the next function that may find, add or drop a
 * stack.
 */
struct stack *stackset_at(const struct callstacks *stacks, size_t index);
struct call *stack_call(const struct stack *stack, size_t index);
bool stack_contains(const struct stack *stack, uint64_t sp);
/* Returns true if calls are over provided that the thread is at `sp` of this stack. */
bool stack_leaves_calls(const struct stack *stack, uint64_t sp);

/*
 * Returns the stack that contains `sp`, which becomes the most recently used one; NULL if none is
 * known.
 */
struct stack *stackset_known(struct callstacks *stacks, uint64_t sp);
/*
 * Like stackset_known(), but adds an unknown stack, and makes sure that the thread is really on
 * the stack found (stackset_settle()).
 */
struct stack *stackset_find(struct callstacks *stacks, uint64_t sp, call_popped *popped,
			    void *context);
/*
 * Returns the stack that the thread is really on: `stack` (or NULL), in whose bounds `sp` is, or a
 * signal stack inside it.
 */
struct stack *stackset_settle(struct callstacks *stacks, struct stack *stack, uint64_t sp,
			      call_popped *popped, void *context);
/*
 * The thread is on `stack`: drops the signal stacks inside it, with their calls. Returns the new
 * address of `stack`.
 */
struct stack *stackset_end_inner(struct callstacks *stacks, struct stack *stack,
				 call_popped *popped, void *context);

/* Removes call `index` of a stack and reports it to `popped`. */
void stackset_pop(struct callstacks *stacks, struct stack *stack, size_t index, bool returned,
		  call_popped *popped, void *context);

/* `view` must outlive the callstacks; its functions get `context`. */
struct callstacks *callstacks_create(const struct stack_view *view, void *context);
void callstacks_destroy(struct callstacks *stacks);
/* Returns a copy for a forked child, which returns from the same calls. */
struct callstacks *callstacks_clone(const struct callstacks *stacks, void *context);
/* Pops all calls, as left. */
void callstacks_unwind(struct callstacks *stacks, call_popped *popped, void *context);

#endif
