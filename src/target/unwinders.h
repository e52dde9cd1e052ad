/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hooks at unwinders, and at functions that look up their caller, in a process in which calls are
 * caught inside: see unwinders.c.
 */
#ifndef TRACER_TARGET_UNWINDERS_H
#define TRACER_TARGET_UNWINDERS_H

#include "target/target_state.h"

/* To be called after the agent was made. */
void unwinders_init(struct target *target);
/* Hooks the unwinders of one module. */
void unwinders_hook(struct target *target, struct thread *thread, struct module *module);
/* Hooks the unwinders of all modules, once (modules->is_hooked). Returns true if it did so now. */
bool unwinders_hook_all(struct target *target, struct thread *thread);

#endif
