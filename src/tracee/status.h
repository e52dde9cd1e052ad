/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoded wait statuses of seized threads (ptrace(2), "Stopped tracees"). The kind of a stop
 * determines how the thread must be resumed.
 */
#ifndef TRACER_TRACEE_STATUS_H
#define TRACER_TRACEE_STATUS_H

#include <stdbool.h>

enum stop_kind {
	STOP_SIGNAL, /* signal-delivery-stop: continue with `signal`, or with 0 to discard it */
	STOP_GROUP,  /* group-stop by `signal`: pt_listen(), else the thread would run */
	/* PTRACE_EVENT_STOP: an interrupt, or the first stop of a new task: continue with 0. */
	STOP_TRAP,
	STOP_CLONE, /* about to return from clone: message is the new tid; continue with 0 */
	STOP_FORK,  /* about to return from fork: as STOP_CLONE */
	/* About to return from vfork: as STOP_CLONE; waits for the child's exec or end. */
	STOP_VFORK,
	STOP_EXEC,    /* the new program is loaded: message is the former tid; continue with 0 */
	STOP_OTHER,   /* another PTRACE_EVENT: continue with 0 */
	STOP_ENDING,  /* PTRACE_EVENT_EXIT: registers and memory are still there; continue with 0 */
	STOP_SYSCALL, /* at the entry of a system call or at its exit: continue with 0 */
	STOP_EXITED,  /* gone: `signal` is the exit status */
	STOP_KILLED   /* gone: killed by `signal` */
};

struct stop_status {
	enum stop_kind kind;
	int signal;
};

/* Returns true if the thread will run no more instructions of its program. */
bool stop_is_end(enum stop_kind kind);
/*
 * Returns true if the thread has left its program: stop_is_end(), or an exec. The exec may be
 * another thread's, which has the leader's tid from then on (ptrace(2), "execve(2) under ptrace").
 * Saved registers and masks of the thread must be dropped.
 */
bool stop_ends_program(enum stop_kind kind);

/* Returns the wait status of a STOP_TRAP. */
int stop_status_trap(void);

/* Decodes a status from waitpid(2). */
struct stop_status stop_status_decode(int wait_status);

#endif
