/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocates threads and processes, with the blocks that the floors above keep of them. */
#include "tracee/state.h"

#include "base/xalloc.h"

#include <stdlib.h>

struct thread *state_new_thread(const struct state_sizes *sizes)
{
	struct thread *thread = xcalloc(1, sizeof *thread);

	thread->calls = xcalloc(1, sizes->thread_calls);
	thread->trap = xcalloc(1, sizes->trap_thread);
	thread->agent = xcalloc(1, sizes->agent_thread);
	thread->session = xcalloc(1, sizes->session_thread);
	return thread;
}

struct process *state_new_process(const struct state_sizes *sizes)
{
	struct process *process = xcalloc(1, sizeof *process);

	process->trap = xcalloc(1, sizes->trap_process);
	process->session = xcalloc(1, sizes->session_process);
	return process;
}

void state_free_thread(struct thread *thread)
{
	free(thread->calls);
	free(thread->trap);
	free(thread->agent);
	free(thread->session);
	free(thread->system_call);
	free(thread);
}

void state_free_process(struct process *process)
{
	free(process->trap);
	free(process->session);
	maps_deinit(&process->maps_before);
	free(process);
}
