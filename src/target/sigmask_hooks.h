/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hooks at code of the program that reads or sets signal masks: see sigmask_hooks.c. */
#ifndef TRACER_TARGET_SIGMASK_HOOKS_H
#define TRACER_TARGET_SIGMASK_HOOKS_H

#include "target/target_state.h"

void sigmask_hooks_init(struct target *target);
/* Returns the hook that a traced function `name` needs as well, or NULL. */
struct hook *sigmask_hooks_function_hook(struct target *target, const char *name);
/*
 * Hooks what reads and sets masks in a module, as far as needed. `traced`: many breakpoints will be
 * planted in it; to be called before that.
 */
void sigmask_hooks_module(struct target *target, struct thread *thread, const struct module *module,
			  bool traced);
/*
 * Unblocks SIGTRAP in all threads of the space of `thread`, which is stopped, that block it: a
 * breakpoint would kill them.
 */
void sigmask_hooks_unblock(struct target *target, struct thread *thread);
/* Like sigmask_hooks_unblock(), for one thread. */
void sigmask_hooks_unblock_one(struct target *target, struct thread *thread);
/*
 * engine_events.masks_matter; `context` is the target. Defers the hooks of a CLONE_VM child's
 * space: see sigmask_hooks_child_gone() and sigmask_hooks_due().
 */
void sigmask_hooks_matters(void *context, struct thread *thread);
/*
 * `child` execs or exits. If its space has deferred hooks and its parent waits in vfork(2), the
 * parent is interrupted so that it stops for them.
 */
void sigmask_hooks_child_gone(const struct target *target, const struct process *child);
/* Plants the deferred hooks: the piece of WORK_MASKS; `context` is the target. */
void sigmask_hooks_due(void *context, struct thread *thread);

#endif
