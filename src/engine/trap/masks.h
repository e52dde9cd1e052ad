/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of the signal masks of threads, from which is told whether one blocked SIGTRAP when
 * it ran into a breakpoint: the kernel has unblocked it by the time we see it (sigtrap.h).
 */
#ifndef TRACER_ENGINE_TRAP_MASKS_H
#define TRACER_ENGINE_TRAP_MASKS_H

#include "inferior/inferior.h"

static const uint64_t TRAP_BIT = UINT64_C(1) << (SIGTRAP - 1);

enum masks_guess { MASKS_UNKNOWN, MASKS_OPEN, MASKS_BLOCKED };

/* What a thread that has `mask` at a breakpoint, where SIGTRAP is never in it, had before. */
enum masks_guess masks_guess(const struct thread *thread, uint64_t mask);

/* Whether most of the signals that are not real-time ones are blocked. */
bool masks_block_most(uint64_t mask);

/* Whether all that can be blocked is, but for SIGTRAP and what libraries keep for themselves. */
bool masks_block_all(uint64_t mask);

/*
 * Whether another thread of the process may have hit a breakpoint with SIGTRAP blocked as well: it
 * is stopped, has not been looked at yet, and is not known to have let that signal through.
 */
bool masks_others_hit(const struct thread *thread);

/* The thread has this mask now. */
void masks_seen(struct thread *thread, uint64_t mask);

/* All threads of a process in which there is no breakpoint yet. */
void masks_begin(struct process *process);

/*
 * `child` has been created by `parent`, which is stopped where it did so: it starts with its mask,
 * or, made by a library that blocks everything meanwhile, soon goes back to the one before.
 */
void masks_inherit(struct thread *child, struct thread *parent);

/* The thread is about to set `mask` as that of the handler for `signal`. */
void masks_of_handler(struct process *process, unsigned signal, uint64_t mask);

/* The signal is about to be delivered to the thread, stopped for it. */
void masks_before_signal(struct thread *thread, int signal);

/* A call that reads and sets the mask. */
struct mask_call {
	int how;       /* SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK */
	uint64_t set;  /* address of the mask that it is given, or 0 */
	uint64_t old;  /* where it stores the one from before, or 0 */
	uint64_t kept; /* bits that it takes out of the former */
};

/* That of a thread at the entry of sigprocmask() or pthread_sigmask(). */
struct mask_call masks_function_call(const struct space *space, const struct regs *regs);
/* That of a thread that is about to enter the kernel; false when it is to do something else. */
bool masks_system_call(const struct space *space, const struct regs *regs, struct mask_call *call);

/* What the call makes of *mask: false when it will not succeed. */
bool masks_after_call(const struct space *space, const struct mask_call *call, uint64_t *mask);

/* The thread is about to make it. */
void masks_will_change(struct thread *thread, const struct mask_call *call);

#endif
