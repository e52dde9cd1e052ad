/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread calls a function all the time, under a timer whose handler falls asleep when it has interrupted code of
 * nobody's. Lines on stdin: "look", answered with "asleep" or "awake"; "wake", with "done" when it has woken up and gone
 * on; "stop", with how often the function's result was wrong.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

enum { OFTEN_US = 200 };

static atomic_bool stop, asleep, wake;
static atomic_long wrong;
static atomic_ulong rounds;

static void nap(void)
{
	nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static void *interrupted(const ucontext_t *context)
{
#ifdef __x86_64__
	return (void *)context->uc_mcontext.gregs[REG_RIP];
#else
	return (void *)context->uc_mcontext.gregs[REG_EIP];
#endif
}

static void on_alarm(int number, siginfo_t *info, void *context)
{
	Dl_info found;

	(void)number, (void)info;
	if (dladdr(interrupted(context), &found))
		return;
	asleep = true;
	while (!wake)
		nap();
	asleep = false;
}

__attribute__((noinline)) int asleep_work(int value)
{
	__asm__ volatile("" : "+r"(value));
	return value + 1;
}

static void *work(void *unused)
{
	for (int i = 0; !stop; i = (i + 1) % 1000) {
		wrong += asleep_work(i) != i + 1;
		rounds++;
	}
	return unused;
}

static void await_progress(void)
{
	const unsigned long before = rounds;

	wake = true;
	while (rounds == before)
		nap();
	wake = false;
}

int main(void)
{
	struct sigaction alarm = {.sa_flags = SA_SIGINFO | SA_RESTART};
	const struct itimerval often = {{0, OFTEN_US}, {0, OFTEN_US}};
	sigset_t alarms;
	pthread_t thread;
	char line[64];

	alarm.sa_sigaction = on_alarm;
	sigaction(SIGALRM, &alarm, NULL);
	if (pthread_create(&thread, NULL, work, NULL))
		return 2;
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin) && strncmp(line, "stop", 4) != 0) {
		if (!strncmp(line, "wake", 4))
			await_progress();
		puts(strncmp(line, "wake", 4) == 0 ? "done" : asleep ? "asleep" : "awake");
		fflush(stdout);
	}
	stop = wake = true;
	pthread_join(thread, NULL);
	printf("wrong %ld\n", (long)wrong);
	return 0;
}
