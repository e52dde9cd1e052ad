/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls made by a tracee on our behalf: the stopped thread is sent through a system-call
 * instruction and put back exactly as it was, by the tracer or, should that be killed meanwhile,
 * by itself.
 */
#ifndef TRACER_INFERIOR_REMOTE_H
#define TRACER_INFERIOR_REMOTE_H

#include "inferior/inferior.h"

/*
 * Runs system call `number` in `thread`, which must be at a clean stop. 0 with *result as the
 * kernel returned it (-4095 … -1: an errno); -EPERM when the thread must not be made to (a seccomp
 * filter that we cannot lift), -ENOENT when there is no place for what has to be run, -EFAULT or
 * -EIO when the thread has no stack, -ESRCH when the thread died, -EBUSY when it is not at a clean
 * stop.
 *
 * If the thread was stopped at a signal, that may be in the kernel's queue again when this returns:
 * then the stop is a STOP_TRAP from now on (requeue.h).
 */
int remote_syscall(struct thread *thread, long number, const uint64_t arguments[6],
		   int64_t *result);

/*
 * mmap(2) with these arguments; the process's limits on memory are raised where they are in the
 * way. Nothing is noted in the journal. 0 and where in *mapped, or -errno.
 */
int remote_map_by(struct thread *thread, const uint64_t arguments[6], uint64_t *mapped);

/*
 * mmap of private anonymous memory at exactly `address` (or anywhere: 0), noted in the journal
 * first.
 */
int remote_map(struct thread *thread, uint64_t address, uint64_t length, int protection,
	       uint64_t *mapped);
int remote_unmap(struct thread *thread, uint64_t address, uint64_t length);
/* Takes a mapping that is gone out of the journal. */
void remote_forget_mapping(struct thread *thread, uint64_t address);

#endif
