/* SPDX-License-Identifier: GPL-2.0-or-later */
/* siglongjmp out of signal handlers, which run on the thread's stack or on one of their own. */
#include "flow.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

static sigjmp_buf out;
static unsigned long sum;
static int around; /* traced calls around the handler on its stack */
static volatile int inside;

static void jump_deep(void *unused)
{
	(void)unused;
	mark(around + 1);
	siglongjmp(out, 2);
}

static void on_usr1(int number)
{
	mark(around);
	sum = flow_mix(sum, COUNT(add)(number, around));
	LEFT(call, 1);
	COUNT(call)(jump_deep, NULL);
}

static void on_alarm(int number)
{
	(void)number;
	if (inside)
		siglongjmp(out, 3);
}

static void on_usr2(int number)
{
	mark(around);
	sum = flow_mix(sum, COUNT(add)(number, 3)); /* and returns */
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_flags = flags};

	action.sa_handler = handler;
	sigaction(number, &action, NULL);
}

static void raise_inside(void *number)
{
	COUNT(raise)((int)(long)number);
}

/* The handler leaves two calls of ours and one of its own, and goes on right behind them. */
static void leave_by_handler(void)
{
	if (sigsetjmp(out, 1) == 0)
		COUNT(call)(raise_inside, (void *)SIGUSR1);
	mark(0);
	LEFT(call, 1);
	LEFT(raise, 1);
}

static void leave_a_loop(void)
{
	struct itimerval soon = {{0, 1000}, {0, 1000}};
	struct itimerval never = {{0, 0}, {0, 0}};

	inside = 0;
	setitimer(ITIMER_REAL, &soon, NULL);
	if (sigsetjmp(out, 1) == 0)
		COUNT(spin)(&inside);
	inside = 0;
	setitimer(ITIMER_REAL, &never, NULL);
	mark(0);
	LEFT(spin, 1);
}

static void round_of(int number, int on_stack)
{
	int flags = on_stack ? SA_ONSTACK : 0;

	handle(SIGUSR1, on_usr1, flags);
	handle(SIGUSR2, on_usr2, flags);
	handle(SIGALRM, on_alarm, flags);
	around = on_stack ? 0 : 2; /* flow_call and flow_raise */
	leave_by_handler();
	leave_a_loop();
	COUNT(call)(raise_inside, (void *)SIGUSR2);
	mark(0);
	sum = flow_mix(sum, number);
}

int main(int argc, char **argv)
{
	static char mine[65536];
	int rounds = argc > 1 ? atoi(argv[1]) : 3;
	stack_t stack = {.ss_size = sizeof mine, .ss_sp = mine};

	sigaltstack(&stack, NULL);
	flow_ready();
	for (int i = 0; i < rounds; i++) {
		round_of(i, 1);
		round_of(i, 0);
	}
	handle(SIGUSR1, on_usr1, SA_ONSTACK);
	around = 0;
	leave_by_handler();
	flow_report(sum);
	return 7;
}
