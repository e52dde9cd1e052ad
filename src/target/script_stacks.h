/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The script frames of a thread that has entered a traced function: see script_stacks.c. */
#ifndef TRACER_TARGET_SCRIPT_STACKS_H
#define TRACER_TARGET_SCRIPT_STACKS_H

#include "target/target_state.h"

/* Reads the frame descriptions, if script lines are to be shown (-W). Mistakes are reported. */
void script_stacks_init(struct target *target);
void script_stacks_deinit(struct target *target);
/* Frees what is known of the virtual machines of a space. */
void script_stacks_forget(struct modules *modules);

/*
 * The `stack` function of engine_events; `context` is the target. `thread` is stopped. Returns the
 * number of its stack in target->stacks, or 0 if no script frame is known.
 */
uint32_t script_stacks_of(void *context, struct thread *thread);

#endif
