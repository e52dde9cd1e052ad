/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls: a record at the entry of each, and one at its end. See syscall.c for how stops are
 * matched to these.
 */
#ifndef TRACER_ENGINE_SYSCALL_SYSCALL_H
#define TRACER_ENGINE_SYSCALL_SYSCALL_H

#include "engine/core/engine.h"

struct call_tracker;
struct syscalls;

/* Functions that the engine calls. */
struct syscall_events {
	/*
	 * Returns the site of system call `number` of `arch`, made in `space`; NULL: not traced. A
	 * plan's register numbers are the indexes of `arguments`; the result is in REG_AX. May
	 * replace `arguments` by those of the call that is meant (socketcall(2) and the like). If
	 * the kernel stores the call's result in a word of memory, sets *result_at, which is 0
	 * before, to its address.
	 */
	const struct probe_site *(*site)(void *context, const struct space *space,
					 const struct arch *arch, uint64_t number,
					 uint64_t arguments[6], uint64_t *result_at);
	/* System calls cannot be traced; `error` is -errno. Called at most once. */
	void (*refused)(void *context, int error);
	void *context;
};

/*
 * `tracker` numbers the calls and emits their records. Both must outlive the result.
 */
struct syscalls *syscalls_create(struct call_tracker *tracker, const struct syscall_events *events);
void syscalls_destroy(struct syscalls *calls);

/* The thread has been at STOP_SYSCALL since `time` (clock_now()). */
void syscalls_at_stop(struct syscalls *calls, struct thread *thread, uint64_t time);
/*
 * The thread was about to make a system call with these registers; a hook has answered it with
 * `result` instead.
 */
void syscalls_answered(struct syscalls *calls, struct thread *thread, const struct regs *regs,
		       int64_t result);
/* Must be called at each other stop, before the stop is handled. */
void syscalls_before(struct syscalls *calls, struct thread *thread, enum stop_kind kind);
/*
 * Captures the values that a call has at its return, as far as they are known while the kernel has
 * stored nothing: pointers to what it stores are values themselves, and the result means nothing.
 * `space` NULL: all pointers are. `saved` was filled at the call's entry.
 */
void syscalls_capture_unfilled(const struct capture_plan *plan, const struct capture_saved *saved,
			       const struct space *space, struct capture_buffer *buffer);
/* At exec: `thread`, the leader, takes over the system call that `former` has begun. */
void syscalls_exec(struct thread *thread, struct thread *former);

#endif
