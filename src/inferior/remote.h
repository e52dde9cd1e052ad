/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls made by a tracee on our behalf: the stopped thread is sent through a system-call
 * instruction of its own vDSO for one step and put back exactly as it was.
 */
#ifndef TRACER_INFERIOR_REMOTE_H
#define TRACER_INFERIOR_REMOTE_H

#include "inferior/inferior.h"

/*
 * Runs system call `number` in `thread`, which must be at a clean stop. 0 with *result as the
 * kernel returned it (-4095 … -1: an errno); -EPERM when the process must not be made to
 * (seccomp), -ENOENT when no system-call instruction was found, -ESRCH when the thread died,
 * -EBUSY when it is not at a clean stop.
 */
int remote_syscall(struct thread *thread, long number, const uint64_t arguments[6],
		   int64_t *result);

/*
 * The same without a single-step and its trap: for a thread that is stopped at a breakpoint of
 * ours, which is to be resumed right afterwards.
 */
int remote_syscall_quiet(struct thread *thread, long number, const uint64_t arguments[6],
			 int64_t *result);

/*
 * mmap of private anonymous memory at exactly `address` (or anywhere: 0), noted in the journal
 * first.
 */
int remote_map(struct thread *thread, uint64_t address, uint64_t length, int protection,
	       uint64_t *mapped);
int remote_unmap(struct thread *thread, uint64_t address, uint64_t length);

#endif
