/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that find a thread in an XOL slot: see xol_signals.c. */
#ifndef TRACER_ENGINE_TRAP_XOL_SIGNALS_H
#define TRACER_ENGINE_TRAP_XOL_SIGNALS_H

#include "engine/trap/trap.h"

/*
 * Must be called before a signal is delivered to a stopped thread. If the thread is in an XOL
 * slot, its pc becomes the program's own, so that signal handlers, siginfo and core dumps show
 * that address.
 */
void trap_before_signal(struct thread *thread);
/*
 * Runs a thread that is stopped at a signal in `code` until it has left `code`, with the signal
 * held back. Does nothing if the signal has no effect, or is a fault. Afterwards the thread still
 * has the signal, or the signal is queued and is reported again (then the thread is at no signal
 * stop any more).
 */
void trap_step_out(struct thread *thread, const struct trap_code *code);
/*
 * Steps a thread at a group-stop out of the tracer's code. Afterwards the thread is as at a
 * STOP_TRAP; it goes back into the group-stop when it is detached.
 */
void trap_step_clear(struct thread *thread, trap_fault *fault);
/*
 * Steps a thread at a safe stop out of the agent's code, unless it is stopped for a fault. The
 * thread may have put the address of a return trampoline on its stack by then.
 */
void trap_step_through(struct thread *thread, trap_fault *fault);
/*
 * Must be called at each system-call stop of a thread whose `interrupted` is not 0: a signal
 * handler may have returned to the beginning of a pending call (xol_signals.c).
 */
void trap_at_syscall(struct thread *thread);

#endif
