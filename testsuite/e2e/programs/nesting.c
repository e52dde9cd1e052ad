/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls within calls, and calls of several threads at the same time; what the option tests look at. */
#include "work.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int go[2], came[2];

static void inner(void *unused)
{
	(void)unused;
	work_add(1, 2);
}

static void middle(void *unused)
{
	work_call(inner, unused);
}

/* Says that it is inside of its call, and stays there until it is told to leave. */
static void wait_inside(void *unused)
{
	char c;

	(void)unused;
	if (write(came[1], "", 1) != 1 || read(go[0], &c, 1) != 1)
		_exit(9);
}

static void *thread(void *unused)
{
	work_call(wait_inside, unused);
	return NULL;
}

static void overlap(void)
{
	pthread_t other;
	char c;

	if (pipe(go) || pipe(came))
		_exit(9);
	pthread_create(&other, NULL, thread, NULL);
	if (read(came[0], &c, 1) != 1)
		_exit(9);
	work_add(3, 4);
	if (write(go[1], "", 1) != 1)
		_exit(9);
	pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
	work_square(3);
	if (argc > 1 && strcmp(argv[1], "threads") == 0) {
		overlap();
	} else if (argc > 1 && strcmp(argv[1], "sleep") == 0) {
		for (int i = 0; i < 100; i++)
			usleep(1000);
		for (int i = 0; i < 5000; i++)
			work_square(i);
	} else {
		work_call(middle, NULL);
		signal(SIGCHLD, SIG_DFL);
		kill(getpid(), SIGCHLD);
		work_echo("bye");
	}
	return 7;
}
