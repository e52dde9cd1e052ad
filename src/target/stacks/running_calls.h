/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of traced functions that were running when a process was attached to. */
#ifndef TRACER_TARGET_STACKS_RUNNING_CALLS_H
#define TRACER_TARGET_STACKS_RUNNING_CALLS_H

#include "target/target_state.h"

/*
 * Finds such calls on the stacks of all threads of a process, emits a RECORD_RUNNING for each, and
 * has their returns reported. To be called once, when all functions are planted. `stopped`: a
 * thread of the process, at a safe stop.
 */
void running_calls_find(struct target *target, struct thread *stopped);

#endif
