/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See abandoned.h. */
#include "inferior/abandoned.h"

#include "inferior/ptrace.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* A thread that did not stop for detaching. */
struct abandoned {
	pid_t tid;
	const struct arch *arch; /* NULL: nothing was ever planted in its memory */
};

void abandoned_init(struct inferior *inferior)
{
	vec_init(&inferior->abandoned, sizeof(struct abandoned));
}

void thread_abandon(struct inferior *inferior, struct thread *thread)
{
	const struct space *space = thread->process->space;

	struct abandoned given_up = {thread->tid, space ? space->arch : NULL};

	vec_push(&inferior->abandoned, &given_up);
	thread_destroy(inferior, thread);
}

/*
 * Whether a thread that was given up has hit a breakpoint after all, before that was taken out: its
 * pc is put back to the instruction, which is the program's again.
 */
static bool turn_back(pid_t tid, const struct arch *arch)
{
	struct regs regs;
	siginfo_t info;
	uint64_t word;

	if (pt_get_siginfo(tid, &info) != 0 || info.si_code != SI_KERNEL ||
	    regs_load(tid, &regs) != 0 ||
	    pt_peek(tid, regs.pc - arch->breakpoint_pc_offset, &word) != 0 ||
	    !memcmp(&word, arch->breakpoint, arch->breakpoint_length))
		return false;
	regs.pc -= arch->breakpoint_pc_offset;
	return regs_store(tid, &regs) == 0;
}

bool abandoned_let_go(struct inferior *inferior, pid_t tid, int status)
{
	struct stop_status stop = stop_status_decode(status);
	struct abandoned *found = inferior->abandoned.items;
	size_t i = 0;

	while (i < inferior->abandoned.count && found[i].tid != tid)
		i++;
	if (i == inferior->abandoned.count)
		return false;
	if (stop.kind == STOP_SIGNAL && stop.signal == SIGTRAP && found[i].arch &&
	    turn_back(tid, found[i].arch))
		stop.signal = 0;
	/* An interrupt is told before the breakpoint that the thread has run into already. */
	if (stop.kind == STOP_TRAP && pt_trap_pending(tid)) {
		pt_continue(tid, 0);
		return true;
	}
	vec_remove_fast(&inferior->abandoned, i);
	if (WIFSTOPPED(status))
		pt_detach(tid, stop.kind == STOP_SIGNAL ? stop.signal : 0);
	return true;
}

void inferior_settle_abandoned(struct inferior *inferior, unsigned timeout_ms)
{
	uint64_t deadline = inferior_clock() + (uint64_t)timeout_ms * 1000000U;
	struct stop stop;

	while (inferior->abandoned.count && inferior_clock() < deadline) {
		if (inferior_next(inferior, false, &stop) == -ECHILD)
			return;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}
