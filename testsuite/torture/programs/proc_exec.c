/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exec, again and again and from any thread; and processes whose first thread is gone. */
#define _GNU_SOURCE
#include "proc.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- exec in a loop: as often as the first argument says, in each program some calls ---- */

static int exec_loop(void)
{
	int left = argument(0, 10);

	add(OWN, 3);
	if (left)
		again("exec-loop", left - 1, 0);
	return 21;
}

/*
 * The same from another thread, while a third sits in the kernel. (It makes no calls: how many a
 * thread can make before exec ends it is not to be counted.)
 */
static void *sleeper(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void *exec_in_thread(void *unused)
{
	square(OWN, 2);
	again("exec-thread", argument(0, 10) - 1, 0);
	return unused;
}

static int exec_thread(void)
{
	pthread_t threads[2];

	add(OWN, 3);
	if (!argument(0, 10))
		return 22;
	pthread_create(&threads[0], NULL, sleeper, NULL);
	pthread_create(&threads[1], NULL, exec_in_thread, NULL);
	pthread_join(threads[1], NULL);
	return 1;
}

/* ---- a first thread that ends first ---- */

/* Waits until the first thread is a zombie, of which /proc says little. */
static void wait_for_leader(void)
{
	char text[256] = "";

	while (!strstr(text, ") Z ")) {
		int fd = open("/proc/self/stat", O_RDONLY);
		ssize_t n = read(fd, text, sizeof text - 1);

		close(fd);
		text[n > 0 ? n : 0] = '\0';
		sched_yield();
	}
}

static void *calling(void *number)
{
	add(OWN, 50);
	square(OWN, 20);
	return number;
}

static void in_the_end(int status)
{
	say_tally();
	_exit(status);
}

/* After "go" the first thread ends, then the others call. */
static void *after_leader(void *unused)
{
	wait_for_leader();
	in_threads(3, calling);
	in_the_end(23);
	return unused;
}

static int leader_exits(void)
{
	pthread_t thread;

	add(OWN, 1);
	pthread_create(&thread, NULL, after_leader, NULL);
	pthread_exit(NULL);
}

/* It has ended before "ready". */
static void *without_leader(void *unused)
{
	wait_for_leader();
	serve();
	in_threads(3, calling);
	in_the_end(24);
	return unused;
}

static void leader_is_gone(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, without_leader, NULL);
	pthread_exit(NULL);
}

/* exec by a thread that outlived the first one. */
static void *exec_without_leader(void *unused)
{
	wait_for_leader();
	serve();
	add(OWN, 5);
	again("exec-loop", 2, 0);
	return unused;
}

static void leader_is_gone_exec(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exec_without_leader, NULL);
	pthread_exit(NULL);
}

const struct scenario exec_scenarios[] = {
	{"exec-loop", NULL, exec_loop},
	{"exec-thread", NULL, exec_thread},
	{"leader-exits", NULL, leader_exits},
	{"leader-is-gone", leader_is_gone, NULL},
	{"leader-is-gone-exec", leader_is_gone_exec, NULL},
	{0},
};
