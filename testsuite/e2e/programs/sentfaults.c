/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread calls functions that begin by reading memory, and is sent the signals that a fault would be, one when the one before
 * has come. Says how many have come: all of them, or in vain waits for one until its alarm.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { SIGNALS = 3000 };

struct item {
	long first, second;
};

__attribute__((noinline, noclone, noipa)) long s_first(const struct item *item)
{
	return item->first;
}

__attribute__((noinline, noclone, noipa)) long s_letter(const char *text)
{
	return text[0];
}

static volatile int come, stop;
static sem_t has_come;

static void on_signal(int number)
{
	(void)number;
	come++;
	sem_post(&has_come);
}

static void *call_on(void *unused)
{
	static const struct item item = {1, 2};
	volatile long sum = 0;

	while (!stop)
		sum += s_first(&item) + s_letter("some text");
	return unused;
}

int main(void)
{
	pthread_t thread;
	sigset_t faults;

	signal(SIGSEGV, on_signal);
	signal(SIGBUS, on_signal);
	pthread_create(&thread, NULL, call_on, NULL);
	sigemptyset(&faults);
	sigaddset(&faults, SIGSEGV);
	sigaddset(&faults, SIGBUS);
	pthread_sigmask(SIG_BLOCK, &faults, NULL);
	for (int i = 0; i < SIGNALS; i++) {
		alarm(30);
		pthread_kill(thread, i % 2 ? SIGSEGV : SIGBUS);
		while (sem_wait(&has_come))
			;
	}
	stop = 1;
	pthread_join(thread, NULL);
	printf("%d\n", come);
	return 0;
}
