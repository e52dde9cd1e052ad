/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wait statuses of seized threads, decoded (ptrace(2), "Stopped tracees"). Each kind says how the
 * thread must be resumed.
 */
#ifndef TRACER_INFERIOR_STATUS_H
#define TRACER_INFERIOR_STATUS_H

#include <stdbool.h>

enum stop_kind {
	STOP_SIGNAL, /* signal-delivery-stop: continue with `signal`, or 0 to swallow it */
	STOP_GROUP,  /* group-stop by `signal`: pt_listen(), else the thread would run */
	STOP_TRAP, /* PTRACE_EVENT_STOP: interrupted, or a new task's first stop: continue with 0 */
	STOP_CLONE,   /* about to return from clone: message is the new tid; continue with 0 */
	STOP_FORK,    /* the same for fork */
	STOP_VFORK,   /* the same for vfork; runs on only after the child is done with its memory */
	STOP_EXEC,    /* new program in place: message is the former tid; continue with 0 */
	STOP_OTHER,   /* another PTRACE_EVENT: continue with 0 */
	STOP_ENDING,  /* about to end, registers and memory still there; continue with 0 */
	STOP_SYSCALL, /* at the entry of a system call or behind it: continue with 0 */
	STOP_EXITED,  /* gone: `signal` is the exit status */
	STOP_KILLED   /* gone: `signal` killed it */
};

struct stop_status {
	enum stop_kind kind;
	int signal;
};

/* Whether the thread runs no more of its program. */
bool stop_is_end(enum stop_kind kind);
/*
 * Nor of the program it ran: as above, or at an exec. That may have been another thread's, which
 * has the leader's id from then on (ptrace(2), "execve(2) under ptrace"). Registers and mask that were
 * saved of it belong to nobody any more.
 */
bool stop_ends_program(enum stop_kind kind);

/* The status that tells of a STOP_TRAP. */
int stop_status_trap(void);

/* Decodes a status of waitpid(2). */
struct stop_status stop_status_decode(int wait_status);

#endif
