/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of a thread, with the pending calls of each: what callstack.c works on. Which of them
 * the thread is on is told by sp alone.
 */
#ifndef TRACER_ENGINE_TRAP_STACKSET_H
#define TRACER_ENGINE_TRAP_STACKSET_H

#include "base/vec.h"
#include "engine/trap/callstack.h"

struct stack {
	uint64_t low, high;
	bool own;     /* the first one seen: the thread's own */
	bool single;  /* holds one stack only, whose order can be trusted */
	bool inner;   /* a signal stack inside of another one */
	size_t sites; /* calls with a site */
	/* a signal came there, and the thread was not seen here since; 0: none */
	uint64_t signal_sp;
	uint64_t signal_serial; /* calls made before that */
	uint64_t looked;	/* the moment at which its slots were looked at last */
	struct vec calls;
};

struct callstacks {
	struct vec stacks; /* struct stack, most recently used last */
	const struct stack_view *view;
	void *context;
	size_t depth;
	size_t inner;	 /* how many of the stacks are */
	uint64_t serial; /* calls pushed so far */
	uint64_t moment; /* see callstacks_look_back() */
	bool signalled;	 /* the same */
	bool exchanged;	 /* what is on the stacks is copied out and in */
};

/*
 * Pointers to stacks and calls are good until the next call that may look for a stack or drop one.
 */
struct stack *stackset_at(const struct callstacks *stacks, size_t index);
struct call *stack_call(const struct stack *stack, size_t index);
bool stack_contains(const struct stack *stack, uint64_t sp);
/* Whether calls would be over because the thread is at `sp` of that stack. */
bool stack_leaves_calls(const struct stack *stack, uint64_t sp);

/* The stack that sp is in, now the most recently used one; NULL when it is not known yet. */
struct stack *stackset_known(struct callstacks *stacks, uint64_t sp);
/* The same; looks for it when it is not known, and makes sure that the thread is really on it. */
struct stack *stackset_find(struct callstacks *stacks, uint64_t sp, call_popped *popped,
			    void *context);
/* The stack that the thread, at `sp` in what was taken for `stack` (or NULL), is really on. */
struct stack *stackset_settle(struct callstacks *stacks, struct stack *stack, uint64_t sp,
			      call_popped *popped, void *context);
/* The thread is on `stack`: signal stacks inside of it are not in use any more. Its place then. */
struct stack *stackset_end_inner(struct callstacks *stacks, struct stack *stack,
				 call_popped *popped, void *context);

/* Takes call `index` of a stack out and reports it. */
void stackset_pop(struct callstacks *stacks, struct stack *stack, size_t index, bool returned,
		  call_popped *popped, void *context);

#endif
