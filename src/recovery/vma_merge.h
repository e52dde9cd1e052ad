/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merges mappings of a tracee's code that were split by mprotect(2). */
#ifndef TRACER_RECOVERY_VMA_MERGE_H
#define TRACER_RECOVERY_VMA_MERGE_H

#include "tracee/tracee.h"

/*
 * Merges through `thread`, which must be at a safe stop; all other threads of its process must be
 * stopped as well. What cannot be merged stays as it is. 0, or the error that kept the thread from
 * making any call (remote_syscall()): another thread may be tried.
 */
int vma_merge(struct thread *thread);

#endif
