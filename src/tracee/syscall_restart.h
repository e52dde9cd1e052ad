/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restarts system calls that have ended because of the tracer: see syscall_restart.c. */
#ifndef TRACER_TRACEE_SYSCALL_RESTART_H
#define TRACER_TRACEE_SYSCALL_RESTART_H

#include "tracee/tracee.h"

/*
 * For a stop that the tracer has caused: lets the kernel restart a system call that returned EINTR,
 * unless a handler runs. See syscall_restart.c.
 */
void thread_restart_call(struct thread *thread);
/*
 * Returns true if thread_restart_call() restarts the system call with that number and first
 * argument.
 */
bool syscall_may_be_restarted(const struct arch *arch, uint64_t number, uint64_t first);

#endif
