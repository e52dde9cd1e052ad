/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Work done for a process before it is attached to: see attach_prefetch.c. */
#ifndef TRACER_TARGET_ATTACH_PREFETCH_H
#define TRACER_TARGET_ATTACH_PREFETCH_H

#include "target/target_state.h"

/*
 * Reads the files that a process has mapped, and what belongs to them, into the session's caches
 * and target->prefetched. The process is not stopped. Errors are not reported: they show again
 * after the attach. To be called before any process is attached to.
 */
void prefetch_process(struct target *target, pid_t pid);

#endif
