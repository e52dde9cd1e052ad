/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system call that a thread waits in: see waiting_call.c. */
#ifndef TRACER_SESSION_WAITING_CALL_H
#define TRACER_SESSION_WAITING_CALL_H

#include "target/target_state.h"

/*
 * A record of the call's entry, and one of its return, in which what the call will fill in is not
 * filled in. Each is owned; NULL: not known.
 */
struct waiting_call {
	struct record *entry, *unfilled;
};

/*
 * Returns true if a thread with these registers was in a system call that the stop, or the end of
 * the process, has interrupted.
 */
bool waiting_call_is_there(const struct arch *arch, const struct regs *regs);
/* Captures the call, which is there, of a thread with these registers. *call is zeroed. */
void waiting_call_capture(struct target *target, const struct thread *thread,
			  const struct regs *regs, struct waiting_call *call);
void waiting_call_deinit(struct waiting_call *call);

#endif
