/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures what a pair of stops costs: the time from resuming a thread until wait(2) reports its
 * next breakpoint, when the thread has nothing to do in between. The thread is a child that hits
 * one breakpoint after the other. Some samples are much too long because something else ran; on a
 * machine under load more than half of them are, by milliseconds. An overestimate would shorten
 * every call for a long time. So the result is the value that one sample in eight stays below, no
 * more than three times the shortest, and no more than PAIR_MOST times what the child itself needs
 * of a processor, which the load does not change: 2 to 7 times were measured on a quiet machine,
 * and up to 200 beside ten processes that computed, on two processors.
 *
 * The kernel tells for how long the child had a processor, and waited for one. Time that a virtual
 * machine's host takes away counts as the child's, so the least of some groups of rounds is taken.
 */
#include "engine/trap/calibrate.h"

#include "base/arch.h"
#include "tracee/clock.h"
#include "tracee/proc.h"
#include "tracee/ptrace.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 64, GROUP = 8, PAIR_MOST = 8 };

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Waits as tracees_next() does while stops follow each other closely. */
static pid_t wait_for(pid_t child, int *status)
{
	pid_t tid = 0;

	while (!tid) {
		sched_yield();
		tid = waitpid(child, status, __WALL | WNOHANG);
	}
	return tid;
}

/* Keeps the least ns that the child had a processor in a round of a group. */
static void measure_processor(const struct proc_runs *begin, const struct proc_runs *end,
			      uint64_t *least)
{
	const uint64_t had = (end->ns - begin->ns) / GROUP;

	if (begin->turns && end->turns && (!*least || had < *least))
		*least = had;
}

/*
 * Runs the child from breakpoint to breakpoint; returns the number of samples. *processor: ns that
 * the child had a processor, in one round; 0: not known.
 */
static int measure(pid_t child, uint64_t times[ROUNDS], uint64_t *processor)
{
	struct proc_runs group, last, now;
	struct regs regs;
	int status;
	int count = 0;

	if (waitpid(child, &status, __WALL) != child || !WIFSTOPPED(status))
		return 0;
	group = last = proc_runs(child);
	while (count < ROUNDS) {
		/*
		 * Make the same ptrace requests as at a real stop, so that caches are equally
		 * warm.
		 */
		if (regs_load(child, &regs) != 0 || regs_store(child, &regs) != 0)
			return count;
		uint64_t start = clock_now();

		if (pt_continue(child, 0) != 0 || wait_for(child, &status) != child ||
		    !WIFSTOPPED(status))
			return count;
		const uint64_t took = clock_now() - start;

		now = proc_runs(child);
		times[count++] = overhead_unhindered(took, now.waited - last.waited);
		last = now;
		if (count % GROUP == 0) {
			measure_processor(&group, &now, processor);
			group = now;
		}
	}
	return count;
}

/*
 * The child must not outlive the tracer. If the tracer dies before PTRACE_TRACEME, the child's new
 * parent becomes its tracer and never resumes it. So the child gets a signal when the tracer dies,
 * and then checks that the tracer has not died before that was arranged.
 */
static _Noreturn void run_into_breakpoints(pid_t tracer)
{
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* in case it dies at a breakpoint */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != tracer ||
	    ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(1);
	for (;;)
		host_breakpoint();
}

struct stop_costs trap_calibrate(void)
{
	struct stop_costs costs = {0, 0};
	uint64_t times[ROUNDS];
	pid_t self = getpid();
	pid_t child = fork();

	if (child < 0)
		return costs;
	if (child == 0)
		run_into_breakpoints(self);
	int count = measure(child, times, &costs.processor);

	kill(child, SIGKILL);
	waitpid(child, NULL, __WALL);
	if (!count)
		return (struct stop_costs){0, 0};
	qsort(times, (size_t)count, sizeof times[0], compare);
	costs.pair = times[count / 8] < 3 * times[0] ? times[count / 8] : 3 * times[0];
	if (costs.processor && costs.pair > PAIR_MOST * costs.processor)
		costs.pair = PAIR_MOST * costs.processor;
	return costs;
}
