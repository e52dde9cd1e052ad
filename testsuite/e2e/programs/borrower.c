/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread's vfork child stays in the process's memory and calls what is traced until stdin says
 * otherwise; the other thread calls it, too. Says how the child ended.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;

static void *work(void *argument)
{
	while (!stop) {
		strtol("7", NULL, 10);
		usleep(1000);
	}
	return argument;
}

int main(void)
{
	pthread_t worker;
	int status = -1;

	if (pthread_create(&worker, NULL, work, NULL))
		return 2;
	pid_t child = vfork();

	if (child == 0) {
		char byte;

		/* The parent is held up by vfork: the child speaks for it. */
		if (write(1, "ready\n", 6) != 6 || read(0, &byte, 1) != 1)
			_exit(3);
		for (int i = 0; i < 1000; i++)
			if (strtol("7", NULL, 10) != 7)
				_exit(4);
		_exit(5);
	}
	waitpid(child, &status, 0);
	stop = 1;
	pthread_join(worker, NULL);
	printf("child %d\n", status);
	return 0;
}
