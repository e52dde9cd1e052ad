/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a pair of stops costs: from the moment a thread is resumed to the moment wait(2) tells
 * of its next breakpoint, when it has nothing to do in between. Measured on a child that runs
 * into one breakpoint after the other. Some take much longer because something else ran, on a
 * machine under load more than half of them, by milliseconds; and what is taken off too much would
 * be missing in each call for a long time. So what is taken is what one in eight stays below.
 */
#include "base/arch.h"
#include "engine/trap/trap.h"
#include "inferior/ptrace.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 64 };

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Waits as inferior_next() does while stops are dense. */
static pid_t wait_for(pid_t child, int *status)
{
	pid_t tid = 0;

	while (!tid) {
		sched_yield();
		tid = waitpid(child, status, __WALL | WNOHANG);
	}
	return tid;
}

/* Lets the child run from breakpoint to breakpoint; how many times were measured. */
static int measure(pid_t child, uint64_t times[ROUNDS])
{
	struct regs regs;
	int status;
	int count = 0;

	if (waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status))
		return 0;
	while (count < ROUNDS) {
		/* The same requests as at a real stop, so that caches are as warm. */
		if (regs_load(child, &regs) != 0 || regs_store(child, &regs) != 0)
			return count;
		uint64_t start = inferior_clock();

		if (pt_continue(child, 0) != 0 || wait_for(child, &status) != child ||
		    !WIFSTOPPED(status))
			return count;
		times[count++] = inferior_clock() - start;
	}
	return count;
}

/*
 * The child must not outlive us. Had we died before it asks to be traced, its new parent would be
 * its tracer and never resume it; so it is told by a signal of our death, and looks whether that
 * came too late.
 */
static _Noreturn void run_into_breakpoints(pid_t tracer)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* should it be at a breakpoint then */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != tracer ||
	    ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(1);
	for (;;)
		host_breakpoint();
}

uint64_t trap_calibrate(void)
{
	uint64_t times[ROUNDS];
	pid_t self = getpid();
	pid_t child = fork();

	if (child < 0)
		return 0;
	if (child == 0)
		run_into_breakpoints(self);
	int count = measure(child, times);

	kill(child, SIGKILL);
	waitpid(child, NULL, __WALL);
	if (!count)
		return 0;
	qsort(times, (size_t)count, sizeof times[0], compare);
	return times[count / 8];
}
