/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the engines keep of a thread's calls: thread->calls. tracee allocates it with the thread.
 */
#ifndef TRACER_ENGINE_CORE_THREAD_CALLS_H
#define TRACER_ENGINE_CORE_THREAD_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct callstacks;
struct engine_events;

struct thread_calls {
	const struct engine_events *events; /* NULL: it has made no calls so far */
	/* The pending calls; owned, freed by trap_thread_gone() and trap_leave(). NULL: none. */
	struct callstacks *stacks;
	/* Ns that this thread has spent stopped by the tracer: call_tracker.c. */
	uint64_t cost;
	/* Ns that its calls have taken, as they are shown; of calls in calls, the outer ones. */
	uint64_t shown;
	struct {
		/* sigaltstack(2) was queried since the first signal in a traced call. */
		bool asked;
		/* SS_AUTODISARM: the kernel reports no stack inside a handler */
		bool disarms;
		uint64_t low, high; /* bounds of the signal stack, if it disarms */
		bool again; /* queried at a signal that will be reported once more (requeue.h) */
	} signal_stack;
	bool signalled; /* a signal has been delivered to it since it has been traced */
};

#endif
