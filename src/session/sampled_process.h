/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process whose stacks are looked at without tracing it, once (--stacks) or again and again
 * (--profile). See sampled_process.c.
 */
#ifndef TRACER_SESSION_SAMPLED_PROCESS_H
#define TRACER_SESSION_SAMPLED_PROCESS_H

#include "session/sampled_thread.h"
#include "session/session_state.h"

struct sampled_process {
	pid_t pid;
	struct process *process;
	struct map threads; /* tid → struct sampled_thread */
	uint64_t program;   /* changes when the process calls exec */
};

/*
 * Reads the modules of a process. Returns 0, or -errno if it is gone or must not be looked at,
 * which is reported.
 */
int sampled_process_open(struct session *session, pid_t pid, struct sampled_process **opened);
void sampled_process_close(struct session *session, struct sampled_process *sampled);

/* Returns a thread of the process, which has at least one. */
struct thread *sampled_process_any(const struct sampled_process *sampled);
/* Returns the thread with that number, which is added if it is new. */
struct sampled_thread *sampled_process_thread(struct session *session,
					      struct sampled_process *sampled, pid_t tid);
/* Returns false if the process is gone, or if it has called exec since it was opened. */
bool sampled_process_is_same(const struct sampled_process *sampled);

#endif
