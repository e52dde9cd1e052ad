/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls: a record when one is entered, and one when it is left. See syscall.c for which of
 * the kernel's stops mean that.
 */
#ifndef TRACER_ENGINE_SYSCALL_SYSCALL_H
#define TRACER_ENGINE_SYSCALL_SYSCALL_H

#include "engine/engine.h"
#include "engine/trap/trap.h"

struct syscalls;

/* What has to be known of them. */
struct syscall_events {
	/*
	 * The site of a call of that number, which `arch` has made the program of `space` make, or
	 * NULL: it is not traced. The place of each argument is its number among the general
	 * registers; the result is in REG_AX. The arguments may be replaced by those of the call
	 * that is meant; where the kernel stores its result, as a word of memory, if it
	 * succeeds, goes to *result_at, which is 0 before.
	 */
	const struct probe_site *(*site)(void *context, const struct space *space,
					 const struct arch *arch, uint64_t number,
					 uint64_t arguments[6], uint64_t *result_at);
	/* They cannot be traced: -errno. Called once. */
	void (*refused)(void *context, int error);
	void *context;
};

/*
 * `trap`, which numbers the calls, takes the records, and whose calls are around these; both must
 * outlive them.
 */
struct syscalls *syscalls_create(struct trap *trap, const struct syscall_events *events);
void syscalls_destroy(struct syscalls *calls);

/* The thread is at STOP_SYSCALL since `time` (inferior_clock()). */
void syscalls_at_stop(struct syscalls *calls, struct thread *thread, uint64_t time);
/* It was about to make one with these registers, which has been answered instead of being made. */
void syscalls_answered(struct syscalls *calls, struct thread *thread, const struct regs *regs,
		       int64_t result);
/* To be called at each other stop, before anything is made of it. */
void syscalls_before(struct syscalls *calls, struct thread *thread, enum stop_kind kind);
/* What the leader of a process does from exec on was begun by `former`. */
void syscalls_exec(struct thread *thread, struct thread *former);

#endif
