/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hooks with many needless stops get a gate (engine/agent/gate.h): code in the process decides
 * whether a call matters to the tracer.
 */
#ifndef TRACER_TARGET_HOOK_GATES_H
#define TRACER_TARGET_HOOK_GATES_H

#include "engine/agent/agent.h"

struct modules;
struct target;

void hook_gates_init(struct modules *modules);
void hook_gates_deinit(struct modules *modules);
/* `modules` are those of a forked child, which has the hooks and gates of its parent. */
void hook_gates_clone(struct modules *modules, const struct modules *from);

/*
 * `thread` has stopped with `regs` at the breakpoint of `hook`, at the entry of a function, usually
 * called `name`, and the call did not meet the condition of `gate`. After STOPS_BEFORE such stops
 * in a space the function gets the gate.
 */
void hook_gates_note(struct target *target, struct thread *thread, const struct regs *regs,
		     struct hook *hook, const char *name, struct gate gate);

#endif
