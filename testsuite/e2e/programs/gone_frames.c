/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gone_frames TIMES [MICROSECONDS]: a virtual machine with two frames, `inner` and `outer`. It calls work_square(0) while both are there,
 * and work_square(1) from the same place while the memory of `outer` is unmapped, in turns. A timer with that period sends
 * SIGALRM meanwhile. See agent_stacks.test.
 */
#include "work.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>

struct frame {
	struct frame *caller;
	const char *file, *function;
	unsigned line;
};

unsigned gone_version = 7;
struct frame *gone_top;

/* The one place that calls. */
static __attribute__((noinline)) int call(int number)
{
	int result = work_square(number);

	return result + 1;
}

static volatile int alarms;

static void count(int number)
{
	alarms += number == SIGALRM;
}

static void start_timer(int period)
{
	struct itimerval timer = {{0, period}, {0, period}};

	signal(SIGALRM, count);
	setitimer(ITIMER_REAL, &timer, NULL);
}

int main(int argc, char **argv)
{
	static struct frame inner = {NULL, "script", "inner", 1};
	int sum = 0;

	inner.caller = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc < 2 || inner.caller == MAP_FAILED)
		return 2;
	gone_top = &inner;
	if (argc > 2)
		start_timer(atoi(argv[2]));
	for (int i = 0; i < 2 * atoi(argv[1]); i++) {
		if (i % 2)
			munmap(inner.caller, 4096);
		else if (mmap(inner.caller, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			return 1;
		else
			*inner.caller = (struct frame){NULL, "script", "outer", 2};
		sum += call(i % 2);
	}
	return sum == 0 || (argc > 2 && !alarms);
}
