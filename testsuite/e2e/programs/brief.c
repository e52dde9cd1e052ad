/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Four threads that make others, one after the other, each of which calls brief_work() ten times and ends. */
#include <pthread.h>
#include <stdio.h>

enum { MAKERS = 4, MADE = 300, CALLS = 10 };

int brief_work(int n);

__attribute__((noinline)) int brief_work(int n)
{
	__asm__ volatile("nop\n\tnop\n\tnop\n\tnop\n\tnop" : "+r"(n));
	return n + 1;
}

static void *work(void *argument)
{
	for (int i = 0; i < CALLS; i++)
		brief_work(i);
	return argument;
}

static void *make(void *argument)
{
	pthread_t thread;

	for (int i = 0; i < MADE; i++)
		if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
			return &thread;
	return argument;
}

int main(void)
{
	pthread_t threads[MAKERS];
	void *failed = NULL;

	for (int i = 0; i < MAKERS; i++)
		if (pthread_create(&threads[i], NULL, make, NULL))
			return 1;
	for (int i = 0; i < MAKERS; i++)
		if (pthread_join(threads[i], &failed) || failed)
			return 1;
	printf("calls %d\n", MAKERS * MADE * CALLS);
	return 0;
}
