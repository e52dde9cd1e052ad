/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See abandoned.h. Separate from the wait loop, as these threads are not in its tables any more. */
#include "tracee/abandoned.h"

#include "tracee/ptrace.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* A thread that did not stop for detaching. */
struct abandoned {
	pid_t tid;
	const struct arch *arch; /* NULL: there were never breakpoints in its memory */
};

void abandoned_init(struct tracees *tracees)
{
	vec_init(&tracees->abandoned, sizeof(struct abandoned));
}

void abandoned_add(struct tracees *tracees, const struct thread *thread)
{
	const struct space *space = thread->process->space;

	struct abandoned given_up = {thread->tid, space ? space->arch : NULL};

	vec_push(&tracees->abandoned, &given_up);
}

/*
 * Checks whether an abandoned thread has hit a breakpoint before the breakpoint was removed. If so,
 * sets its pc back to the instruction, which is the program's again, and returns true.
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

bool abandoned_let_go(struct tracees *tracees, pid_t tid, int status)
{
	struct stop_status stop = stop_status_decode(status);
	struct abandoned *found = tracees->abandoned.items;
	size_t i = 0;

	while (i < tracees->abandoned.count && found[i].tid != tid)
		i++;
	if (i == tracees->abandoned.count)
		return false;
	if (stop.kind == STOP_SIGNAL && stop.signal == SIGTRAP && found[i].arch &&
	    turn_back(tid, found[i].arch))
		stop.signal = 0;
	/* The kernel reports an interrupt before a breakpoint that the thread has hit already. */
	if (stop.kind == STOP_TRAP && pt_trap_pending(tid)) {
		pt_continue(tid, 0);
		return true;
	}
	vec_remove_fast(&tracees->abandoned, i);
	if (WIFSTOPPED(status))
		pt_detach(tid, stop.kind == STOP_SIGNAL ? stop.signal : 0);
	return true;
}
