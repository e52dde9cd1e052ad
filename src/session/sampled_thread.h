/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread whose stack is looked at without tracing it: see sampled_thread.c. */
#ifndef TRACER_SESSION_SAMPLED_THREAD_H
#define TRACER_SESSION_SAMPLED_THREAD_H

#include "target/target_state.h"
#include "tracee/sleeper.h"
#include "tracee/status.h"

struct sampled_thread {
	struct thread *thread;	 /* not attached to, unless it was stopped */
	char name[32];		 /* "COMM-TID" */
	uint64_t thread_pointer; /* 0: not known */
	bool asked_for_pointer;	 /* the C library was asked */
	bool was_stopped;	 /* the registers have told it */
	struct sleeper sleeper;	 /* where it slept at the last sample; pc 0: it ran */
	uint32_t stack;		 /* its stack then */
	bool is_leaving;	 /* it has to be detached from when it stops */
	uint64_t seen;		 /* number of the sample in which it was listed last */
};

struct sampled_thread *sampled_thread_create(struct tracees *tracees, struct process *process,
					     pid_t tid);
/* Also detaches from it, if that is still due and it stops within the time. */
void sampled_thread_destroy(struct tracees *tracees, struct sampled_thread *sampled,
			    unsigned timeout_ms);

/* Reads where the thread sleeps, and its registers. Returns false if it does not sleep. */
bool sampled_thread_sleeps(struct sampled_thread *sampled, struct sleeper *sleeper,
			   struct regs *regs);

enum sampled_stop {
	SAMPLED_STOPPED, /* it waits for sampled_thread_go() */
	SAMPLED_STUCK,	 /* it has not stopped in time: see sampled_thread_let_go() */
	SAMPLED_GONE
};

/*
 * Attaches to the thread and stops it, or waits again for one that had not stopped in time. *stop:
 * what it is stopped for; its registers.
 */
enum sampled_stop sampled_thread_stop(struct sampled_thread *sampled, struct stop_status *stop,
				      struct regs *regs);
/*
 * Detaches from a thread that had not stopped in time, if it has stopped by now. Returns false if
 * it has not. To be called again and again as long as the process is looked at: until then it may
 * stand.
 */
bool sampled_thread_let_go(struct sampled_thread *sampled);
/* Detaches from the thread, which goes on as if it had not been stopped. */
void sampled_thread_go(struct sampled_thread *sampled, const struct stop_status *stop);

/*
 * A sample: stores the number of the thread's stack in the table; 0: not known. Returns false if
 * the thread is gone. Frames that would only be known if a sleeping thread was stopped are guessed.
 */
bool sampled_thread_look(struct target *target, struct sampled_thread *sampled, uint32_t *stack);
/* What was known of it has no meaning any more: the modules were read again, after exec, say. */
void sampled_thread_forget(struct sampled_thread *sampled);

#endif
