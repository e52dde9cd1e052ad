/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which system calls are traced: see syscalls.c.
 */
#ifndef TRACER_TARGET_SYSCALLS_SYSCALLS_H
#define TRACER_TARGET_SYSCALLS_SYSCALLS_H

#include "target/target_state.h"

/* Notes which filter rules match the name of a system call. */
void system_calls_set_up(struct target *target);
/*
 * Makes threads stop at system calls, if these are asked for. To be called when the engine and
 * target->tracees exist, before there is any tracee.
 */
void system_calls_start(struct target *target);
/* To be called at each stop, before all other handling. */
void system_calls_stop(struct target *target, const struct stop *stop);
/* engine_events.system_call_answered; `context` is the target. */
void system_calls_answered(void *context, struct thread *thread, const struct regs *regs,
			   uint64_t result);
/* thread_visit: system calls of the thread's process are not traced any more. */
void system_calls_let_pass(struct thread *thread, void *context);
/* The `site` function of syscall_events; `context` is the target. */
const struct probe_site *system_calls_site(void *context, const struct space *space,
					   const struct arch *arch, uint64_t number,
					   uint64_t arguments[6], uint64_t *result_at);
void system_calls_deinit(struct target *target);

#endif
