/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single facts about tasks from /proc (proc(5)). */
#ifndef TRACER_TRACEE_PROC_H
#define TRACER_TRACEE_PROC_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns the number in line `name` of /proc/TID/status, or -1. */
long proc_status_number(pid_t tid, const char *name);
/* Returns the process of a thread, as `ps -L` and top show thread ids; `tid` if it is gone. */
pid_t proc_process_of(pid_t tid);
/* Returns true if that line contains `word`. */
bool proc_status_has(pid_t tid, const char *name, const char *word);
/* Returns true if the task has a shadow stack (x86-64, Linux 6.6). */
bool proc_has_shadow_stack(pid_t tid);

/* Returns the effective id in line `name` ("Uid", "Gid"), or -1. */
long proc_effective_id(pid_t tid, const char *name);

/* Returns the start of the heap (brk(2)), or 0 if it is not known. */
uint64_t proc_start_brk(pid_t pid);
/* Returns the start of the main thread's stack, below arguments and environment; 0: not known. */
uint64_t proc_start_stack(pid_t pid);

/*
 * Returns a task of the process of `pid` that has not ended: `pid` itself if possible. For a leader
 * that has exited, /proc says nothing about the process's memory. Returns `pid` if there is none.
 */
pid_t proc_living_task(pid_t pid);
/* Returns true if a task has ended, even if it is still listed. */
bool proc_has_ended(pid_t tid);

/* Visits the tasks of a process, in no order. Returns false if the process is gone. */
bool proc_each_task(pid_t pid, void (*visit)(void *context, pid_t tid), void *context);

/* Returns the state letter of a task ('R', 'S', 'D', 'Z' …), or '?' if it is gone. */
char proc_state(pid_t tid);

/*
 * Returns the start time of a process, in clock ticks since boot (unique together with the pid); 0:
 * gone.
 */
uint64_t proc_start_time(pid_t pid);

/*
 * Returns the pid that pidfd `fd` of process `pid` refers to (pidfd_open(2)): -1 if that process
 * has ended, 0 if it is not known.
 */
long proc_pidfd_target(pid_t pid, int fd);

/* How long a task has had a processor, and in how many turns. */
struct proc_runs {
	uint64_t ns;	 /* exact for a task that stands */
	uint64_t waited; /* ns that it was ready to run and had none */
	uint64_t turns;	 /* 0: the kernel does not count (CONFIG_SCHED_INFO), or the task is gone */
};

/* Reads them from /proc/TID/schedstat (the kernel's Documentation/scheduler/sched-stats.rst). */
struct proc_runs proc_runs(pid_t tid);

/* Reads the kernel's name of a task (comm); "" if the task is gone. */
void proc_name(pid_t tid, char name[16]);

/*
 * Reads the signals that the process of `tid` ignores and handles, bit N - 1 for signal N. Returns
 * false if the task is gone.
 */
bool proc_signals(pid_t tid, uint64_t *ignored, uint64_t *caught);
/*
 * In one read what a remote call has to know of the task: the signals that its process handles, as
 * above, and whether it has a seccomp filter or strict mode. Returns false if the task is gone.
 */
bool proc_caught_and_filtered(pid_t tid, uint64_t *caught, bool *filtered);

/*
 * Reads how often a task has been given a processor (or has left one; always the same of the two):
 * if that has not changed, it has not run. Returns false if it is gone.
 */
bool proc_turns(pid_t tid, uint64_t *turns);

/* Returns the bit of a signal in a signal set. */
static inline uint64_t signal_bit(int signal)
{
	return UINT64_C(1) << (signal - 1);
}

/* Returns the set of signals that the processor's faults and traps cause. */
uint64_t signals_of_faults(void);
/* Returns all other signals that can be blocked: a thread can run on without them. */
uint64_t signals_to_hold(void);

/* Returns true if `signal` is pending for a task or its process. */
bool proc_is_pending(pid_t tid, int signal);

/* Reads the signal mask of a task. Returns false if the task is gone. */
bool proc_blocked(pid_t tid, uint64_t *blocked);

/* Returns true if the task belongs to the kernel, which has no memory and cannot be traced. */
bool proc_is_kernel_thread(pid_t tid);

/*
 * Returns true if a task is gone, a zombie, or about to end: exit_group(2) of another thread shows
 * as a pending SIGKILL.
 */
bool proc_is_exiting(pid_t tid);

/* Returns the number of a task in its own pid namespace (pid_namespaces(7)). */
pid_t proc_own_pid(pid_t tid);
/* Returns true if a task is in the tracer's pid namespace (pid_namespaces(7)). */
bool proc_sees_our_pids(pid_t tid);

/* Appends the pids of the children of thread `tid` of process `pid` to a vec of pid_t. */
void proc_children(pid_t pid, pid_t tid, struct vec *children);

#endif
