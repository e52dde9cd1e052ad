/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the floors above tracee keep of each thread and process: one block for each floor, whose
 * type only that floor knows. A block is allocated with its task, zeroed, and freed with it, so
 * no pointer to one is NULL. What a block refers to is its owner's, who frees it before the task
 * is gone.
 */
#ifndef TRACER_TRACEE_STATE_H
#define TRACER_TRACEE_STATE_H

#include "tracee/tracee.h"

#include <stddef.h>

/* The sizes of the blocks in bytes. */
struct state_sizes {
	size_t thread_calls;
	size_t trap_thread, trap_process;
	size_t agent_thread;
	size_t session_thread, session_process;
};

/* A zeroed task with its blocks; for thread_create() and process_create(), which list it. */
struct thread *state_new_thread(const struct state_sizes *sizes);
struct process *state_new_process(const struct state_sizes *sizes);
/* Free a task that is in no list any more, its blocks, and what tracee itself keeps of it. */
void state_free_thread(struct thread *thread);
void state_free_process(struct process *process);

#endif
