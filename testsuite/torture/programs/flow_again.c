/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that return twice: setjmp, getcontext, vfork, all of them traced. */
#include "flow.h"

#include <setjmp.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static jmp_buf place;
static ucontext_t context;
static unsigned long sum;
static volatile int times;
static long setjmps, getcontexts, vforks, setcontexts;

static void again(void *value)
{
	LEFT(jump, 1);
	COUNT(jump)(place, (int)(long)value);
}

static void by_setjmp(void)
{
	int value;

	times = 0;
	setjmps++;
	value = setjmp(place); /* returns five times, is called once */
	sum = flow_mix(sum, COUNT(add)(value, times));
	mark(0);
	if (++times < 5) {
		LEFT(call, 1);
		COUNT(call)(again, (void *)(long)times);
	}
}

static void back(void *unused)
{
	mark(1);
	setcontexts++;
	setcontext(&context);
}

/* The second return goes on right behind the call that it left. */
static void by_getcontext(void)
{
	times = 0;
	getcontexts++;
	getcontext(&context);
	if (!times++)
		COUNT(call)(back, NULL);
	mark(0);
	sum = flow_mix(sum, COUNT(add)(times, 7));
	LEFT(call, 1);
}

static void by_vfork(void)
{
	int status;
	pid_t child;

	vforks++;
	child = vfork();
	if (!child)
		_exit(times & 0x7f);
	mark(0);
	waitpid(child, &status, 0);
	sum = flow_mix(sum, WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 3;

	flow_ready();
	for (int i = 0; i < rounds; i++) {
		by_setjmp();
		by_getcontext();
		by_vfork();
	}
	mark(0);
	printf("counted _setjmp %ld\ncounted getcontext %ld\ncounted vfork %ld\n", setjmps, getcontexts,
	       vforks);
	printf("counted setcontext %ld\nunwound setcontext %ld\n", setcontexts, setcontexts);
	flow_report(sum);
	return 9;
}
