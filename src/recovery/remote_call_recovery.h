/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recovery of threads that a killed tracer left in the middle of a remote call (remote.h). */
#ifndef TRACER_RECOVERY_REMOTE_CALL_RECOVERY_H
#define TRACER_RECOVERY_REMOTE_CALL_RECOVERY_H

#include "tracee/rescue_abi.h"
#include "tracee/tracee.h"

/*
 * Moves a stopped thread out of the remote-call stub, back to where it was before the remote call,
 * with the registers and the mask it had then. Only if it is in the part of the stub that waits for
 * this (struct remote_stub, base/arch.h); other threads are left alone. Pending signals are then
 * delivered where the program's stack can be unwound.
 */
void remote_call_recovery_put_back(struct thread *thread);

/*
 * Restores the signal mask of a stopped thread, if `given` names it as the thread that was given
 * another mask.
 */
void remote_call_recovery_unmask(const struct thread *thread, struct rescue_step *given);

#endif
