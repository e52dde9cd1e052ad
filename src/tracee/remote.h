/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Remote calls: system calls that a tracee makes for the tracer. The stopped thread is sent through
 * a system-call instruction, and its registers, signal mask and stack are restored by the tracer.
 * If the tracer is killed meanwhile, the code in the tracee restores registers and mask itself.
 */
#ifndef TRACER_TRACEE_REMOTE_H
#define TRACER_TRACEE_REMOTE_H

#include "tracee/tracee.h"

/* The remote-call stub lies in so many bytes at the end of a page. */
enum { REMOTE_STUB_ROOM = 64 };

/*
 * Runs system call `number` in `thread`, which must be at a safe stop. 0 with *result as the kernel
 * returned it (-4095 … -1: an errno). Errors: -EPERM if the call would be seen by a seccomp filter
 * that cannot be suspended; -ENOENT if there is no place for the remote-call stub; -EFAULT or -EIO
 * if the stack cannot be used; -ESRCH if the thread has died; -EBUSY if it is not at a safe stop.
 *
 * If the thread was stopped at a signal, the signal may be back in the kernel's queue on return:
 * the stop is a STOP_TRAP from then on (requeue.h).
 */
int remote_syscall(struct thread *thread, long number, const uint64_t arguments[6],
		   int64_t *result);

#endif
