/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the pending calls at a stop are kept: with the thread, or in Go code with the goroutine
 * that the thread runs.
 */
#ifndef TRACER_ENGINE_TRAP_GOROUTINES_H
#define TRACER_ENGINE_TRAP_GOROUTINES_H

#include "engine/core/callstack.h"
#include "tracee/tracee.h"

/* The place of the pending calls at one stop. */
struct keeping {
	struct callstacks **calls; /* *calls is NULL as long as there are none */
	uint64_t *cost;		   /* ns that stops during those calls took: see struct call.cost */
	/* The offset from a stack address to the struct call.slot that stands for it. */
	uint64_t shift;
	struct goroutine *goroutine; /* NULL: the calls are the thread's */
};

struct keeping keeping_of_thread(struct thread *thread);
/*
 * For a thread at `regs` in Go code: the calls of its goroutine, or of the thread if the goroutine
 * cannot be determined.
 */
struct keeping keeping_of_goroutine(struct thread *thread, const struct regs *regs);
/* Returns the calls; creates them if there are none so far. */
struct callstacks *keeping_calls(const struct keeping *keeping, struct thread *thread);
/* Must be called when a stop has been handled: frees a goroutine without pending calls. */
void keeping_release(const struct keeping *keeping, struct space *space);

/*
 * The thread is about to run runtime.morestack: the function that called it is entered again when
 * its stack has grown, or when the goroutine has yielded.
 */
void goroutine_restarts(struct thread *thread);

/* Visits all pending calls of the space's goroutines. */
void goroutines_each(const struct space *space, call_visit *visit, void *context);
/* Frees all goroutines of the space. */
void goroutines_forget(struct space *space);

#endif
