/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The signal masks that threads have had. They tell whether a thread blocked SIGTRAP when it hit a
 * breakpoint: the kernel has unblocked the signal by the time the tracer sees the stop
 * (sigtrap.h).
 */
#ifndef TRACER_ENGINE_TRAP_SIGMASK_HISTORY_H
#define TRACER_ENGINE_TRAP_SIGMASK_HISTORY_H

#include "tracee/tracee.h"

static const uint64_t TRAP_BIT = UINT64_C(1) << (SIGTRAP - 1);

enum sigmask_guess { MASKS_UNKNOWN, MASKS_OPEN, MASKS_BLOCKED };

/*
 * Tells whether a thread that has `mask` at a breakpoint, without SIGTRAP in any case, blocked
 * SIGTRAP.
 */
enum sigmask_guess sigmask_guess(const struct thread *thread, uint64_t mask);

/* Returns true if `mask` blocks most of the signals that are not real-time signals. */
bool sigmask_block_most(uint64_t mask);

/*
 * Returns true if `mask` blocks all signals that can be blocked, SIGTRAP and those that libraries
 * keep for themselves aside.
 */
bool sigmask_block_all(uint64_t mask);

/*
 * Returns true if another thread of the process may have hit a breakpoint with SIGTRAP blocked as
 * well: it is stopped, its stop was not handled yet, and it is not known to have SIGTRAP
 * unblocked.
 */
bool sigmask_others_hit(const struct thread *thread);

/* Notes that the thread has this mask now. */
void sigmask_seen(struct thread *thread, uint64_t mask);

/* Notes the masks of all threads of a process that has no breakpoint yet. */
void sigmask_begin(struct process *process);

/*
 * `child` was created by `parent`, which is stopped where it did so. The child has the parent's
 * present mask, or soon goes back to an earlier one if a library blocks all signals during the
 * creation.
 */
void sigmask_inherit(struct thread *child, struct thread *parent);

/* A thread of the process is about to set `mask` as the mask of the handler for `signal`. */
void sigmask_of_handler(struct process *process, unsigned signal, uint64_t mask);

/* `signal`, which the thread is stopped for, is about to be delivered. */
void sigmask_before_signal(struct thread *thread, int signal);

/* A call that reads and sets the signal mask. */
struct mask_call {
	int how;       /* SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK */
	uint64_t set;  /* address of the mask argument, or 0 */
	uint64_t old;  /* where the call stores the previous mask, or 0 */
	uint64_t kept; /* bits that the call removes from the mask argument */
};

/* Reads the arguments of a thread at the entry of sigprocmask() or pthread_sigmask(). */
struct mask_call sigmask_function_call(const struct space *space, const struct regs *regs);
/*
 * Reads the arguments of a thread that is about to enter the kernel. Returns false if the system
 * call is another one.
 */
bool sigmask_system_call(const struct space *space, const struct regs *regs,
			 struct mask_call *call);

/* Applies the call to *mask. Returns false if the call will fail. */
bool sigmask_after_call(const struct space *space, const struct mask_call *call, uint64_t *mask);

/* Notes the mask that the thread will have after `call`, which it is about to make. */
void sigmask_will_change(struct thread *thread, const struct mask_call *call);

#endif
