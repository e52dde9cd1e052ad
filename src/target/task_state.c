/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells tracee, which knows none of the types, how much each floor keeps of a task. */
#include "target/task_state.h"

#include "engine/agent/agent_state.h"
#include "engine/core/thread_calls.h"
#include "engine/trap/trap_state.h"

const struct state_sizes task_state_sizes = {
	.thread_calls = sizeof(struct thread_calls),
	.trap_thread = sizeof(struct trap_thread),
	.trap_process = sizeof(struct trap_process),
	.agent_thread = sizeof(struct agent_thread),
	.session_thread = sizeof(struct session_thread),
	.session_process = sizeof(struct session_process),
};
