/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trap engine's state of address spaces and forked threads: creation, copying, end: see
 * spaces.c.
 */
#ifndef TRACER_ENGINE_TRAP_SPACES_H
#define TRACER_ENGINE_TRAP_SPACES_H

#include "engine/trap/trap.h"

/* `made` was created by `maker`: it starts where its maker is. */
void trap_thread_made(const struct thread *maker, struct thread *made);
/* Returns true if the thread has, or has had, pending calls. */
bool trap_has_calls(const struct thread *thread);
/* Copies breakpoints to a followed child of fork(2), and pending calls to its thread. */
void trap_fork(struct space *child_space, const struct space *parent_space);
void trap_fork_thread(struct thread *child, const struct thread *parent);
/*
 * The program has a library that keeps several stacks at one address, by copying their contents
 * out and in: from now on calls are matched accordingly (callstack.c).
 */
void trap_stacks_exchanged(struct space *space);
/*
 * The space contains an unwinder, or code that switches stacks, so calls may end without a return.
 * Without this call, a function that is entered twice with the same return address, stack word and
 * callee-saved registers is taken for a circle of tail calls.
 */
void trap_calls_are_left(struct space *space);
/* The space's program is gone. Frees the engine's part of the space. */
void trap_space_gone(struct space *space);
/*
 * trap_suspend() removes all breakpoints of a space for a while: threads pass without a stop, and
 * new breakpoints are noted only. trap_restore() writes all of them.
 */
void trap_suspend(struct space *space);
void trap_restore(struct space *space);

#endif
