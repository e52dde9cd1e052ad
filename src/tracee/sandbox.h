/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which system calls seccomp(2) kills a process for: see sandbox.c. */
#ifndef TRACER_TRACEE_SANDBOX_H
#define TRACER_TRACEE_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

struct arch;
struct thread;

/* All of these are about a stopped thread, and return true if its filters cannot be read, too. */

/*
 * Returns true if seccomp(2) may kill the process for a system call that the tracer's SIGTRAP
 * handler makes.
 */
bool sandbox_may_kill(const struct thread *thread);
/* Returns true if seccomp(2) may kill the process of `arch` for restart_syscall(2). */
bool sandbox_may_kill_for_restart(pid_t tid, const struct arch *arch);

#endif
