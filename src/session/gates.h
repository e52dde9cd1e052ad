/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hooks that stop threads often and for nothing get a gate (engine/agent/gate.h): the process
 * decides by itself whether a call matters to the tracer.
 */
#ifndef TRACER_SESSION_GATES_H
#define TRACER_SESSION_GATES_H

#include "engine/agent/agent.h"

struct modules;
struct session;

void gates_init(struct modules *modules);
void gates_deinit(struct modules *modules);
/* `modules` are those of a forked child, which has what its parent had. */
void gates_clone(struct modules *modules, const struct modules *from);

/*
 * `thread` has stopped with `regs` at the breakpoint of `hook`, at the entry of the function that
 * mostly has that name, and the call did not meet the condition of `gate`. After some such stops in
 * a space the function gets the gate.
 */
void gates_note(struct session *session, struct thread *thread, const struct regs *regs,
		struct hook *hook, const char *name, struct gate gate);

#endif
