/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small facts about tasks from /proc (proc(5)). */
#ifndef TRACER_INFERIOR_PROC_H
#define TRACER_INFERIOR_PROC_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The number in line `name` of /proc/TID/status, or -1. */
long proc_status_number(pid_t tid, const char *name);
/* Whether that line has a word in it. */
bool proc_status_has(pid_t tid, const char *name, const char *word);
/* Whether a task has a shadow stack (x86-64, Linux 6.6). */
bool proc_has_shadow_stack(pid_t tid);

/* The effective one of the ids in line `name` ("Uid", "Gid"), or -1. */
long proc_effective_id(pid_t tid, const char *name);

/* Where brk(2) begins in the process; 0: that cannot be told. */
uint64_t proc_start_brk(pid_t pid);
/* Where the stack of its main thread began, below arguments and environment; 0: the same. */
uint64_t proc_start_stack(pid_t pid);

/*
 * A task of the process (or of that thread's) that has not ended, `pid` itself if it has not: what
 * /proc tells of memory it does not tell of a leader that has exited. `pid` when there is none.
 */
pid_t proc_living_task(pid_t pid);

/* The state letter of a task ('R', 'S', 'D', 'Z' …), or '?' when it is gone. */
char proc_state(pid_t tid);

/* When a process was started, in clock ticks since boot (with its pid it is unique); 0: gone. */
uint64_t proc_start_time(pid_t pid);

/*
 * Whom a descriptor of a process stands for (pidfd_open(2)): -1 when it has ended, 0 when that is
 * not known.
 */
long proc_pidfd_target(pid_t pid, int fd);

/* The name that the kernel knows a task by (comm), "" when it is gone. */
void proc_name(pid_t tid, char name[16]);

/*
 * The signals that the process of `tid` ignores and handles, bit N - 1 for signal N; false: gone.
 */
bool proc_signals(pid_t tid, uint64_t *ignored, uint64_t *caught);

/* The bit of a signal in sets of signals. */
static inline uint64_t signal_bit(int signal)
{
	return UINT64_C(1) << (signal - 1);
}

/* The signals by which the processor complains of an instruction. */
uint64_t signals_of_faults(void);
/* All others, but for those that cannot be blocked: a thread can run on without them. */
uint64_t signals_to_hold(void);

/* Whether a signal waits for a task, or for its process. */
bool proc_is_pending(pid_t tid, int signal);

/* The signals that a task blocks just now; false: gone. */
bool proc_blocked(pid_t tid, uint64_t *blocked);

/*
 * Whether a task is gone, a zombie, or about to be one: exit_group(2) of another thread shows as a
 * SIGKILL that waits for this one.
 */
bool proc_is_exiting(pid_t tid);

/* Whether process numbers mean to a task what they mean to us (pid_namespaces(7)). */
bool proc_sees_our_pids(pid_t tid);

/* Appends the pids of the children that thread `tid` of `pid` made to a vec of pid_t. */
void proc_children(pid_t pid, pid_t tid, struct vec *children);

#endif
