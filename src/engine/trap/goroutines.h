/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the pending calls of a stop are kept: those of the thread, or, in code of Go, those of the
 * goroutine that the thread runs.
 */
#ifndef TRACER_ENGINE_TRAP_GOROUTINES_H
#define TRACER_ENGINE_TRAP_GOROUTINES_H

#include "engine/trap/callstack.h"
#include "inferior/inferior.h"

/* Of a stop; NULL members: see keeping_of_thread(). */
struct keeping {
	struct callstacks **calls; /* NULL there: none so far */
	uint64_t *cost;		   /* ns that the stops of those calls took: struct call.cost */
	/* Added to an address on the stack: what struct call.slot has instead of it. */
	uint64_t shift;
	struct goroutine *goroutine; /* whose they are; NULL: the thread's */
};

struct keeping keeping_of_thread(struct thread *thread);
/*
 * The same of a thread that is at `regs` in code of Go's: what its goroutine has, or the thread
 * itself if it is not known which goroutine it runs.
 */
struct keeping keeping_of_goroutine(struct thread *thread, const struct regs *regs);
/* The calls, made if there are none so far. */
struct callstacks *keeping_calls(const struct keeping *keeping, struct thread *thread);
/* To be called when a stop was served: what has no calls any more is forgotten. */
void keeping_release(const struct keeping *keeping, struct space *space);

/*
 * The thread is about to run runtime.morestack: the function that called it is entered anew when
 * its stack has grown, or the goroutine has given way.
 */
void goroutine_restarts(struct thread *thread);

/* All calls of goroutines of a space. */
void goroutines_each(const struct space *space, call_visit *visit, void *context);
/* Forgets all of them. */
void goroutines_forget(struct space *space);

#endif
