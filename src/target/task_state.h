/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the session keeps of each thread and process. tracee allocates the blocks with the task.
 */
#ifndef TRACER_TARGET_TASK_STATE_H
#define TRACER_TARGET_TASK_STATE_H

#include "tracee/state.h"

/* process->session */
struct session_process {
	bool of_command;  /* the command or a descendant of it */
	bool execed;	  /* STOP_EXEC was seen at least once */
	bool born;	  /* created by a traced process */
	pid_t vforker;	  /* the thread in whose vfork(2) call it was created, or 0 */
	bool let_go;	  /* has called PTRACE_TRACEME: it is detached at its next safe stop */
	bool pretends;	  /* its PTRACE_TRACEME was answered with success, without the kernel */
	bool to_announce; /* attached, and the user has not been told yet that tracing has begun */
};

/* thread->session */
struct session_thread {
	bool announced; /* a RECORD_THREAD has been emitted for it */
	/* unwinders.c: stack word and return address of the backtrace() call under way. */
	uint64_t backtrace_place, backtrace_return;
};

/* For tracees_create(): the blocks of all floors above tracee. */
extern const struct state_sizes task_state_sizes;

#endif
