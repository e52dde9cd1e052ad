/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread whose stack is looked at again and again: see sampled_thread.c. */
#ifndef TRACER_SESSION_SAMPLED_THREAD_H
#define TRACER_SESSION_SAMPLED_THREAD_H

#include "target/target_state.h"
#include "tracee/sleeper.h"

struct sampled_thread {
	struct thread *thread;	 /* not attached to between two samples */
	char name[32];		 /* "COMM-TID" */
	uint64_t thread_pointer; /* 0: not known yet */
	bool has_pointer;
	struct sleeper sleeper; /* where it slept at the last sample; pc 0: it ran */
	uint32_t stack;		/* its stack then */
	bool is_leaving;	/* it has to be detached from when it stops */
	uint64_t seen;		/* number of the sample in which it was listed last */
};

struct sampled_thread *sampled_thread_create(struct tracees *tracees, struct process *process,
					     pid_t tid);
/* Also detaches from it, if that is still due and it stops soon. */
void sampled_thread_destroy(struct tracees *tracees, struct sampled_thread *sampled);
/* Returns the number of its stack in the table; 0: not known. False: the thread is gone. */
bool sampled_thread_look(struct target *target, struct sampled_thread *sampled, uint32_t *stack);
/* What was known of its stack has no meaning any more: the modules were read again. */
void sampled_thread_forget(struct sampled_thread *sampled);

#endif
