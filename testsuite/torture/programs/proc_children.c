/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children of all kinds that call what is traced: in copies of the memory, and in the same one. */
#define _GNU_SOURCE
#include "proc.h"

#include "work.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { THREADS = 4, STACK = 65536 };

/* ---- vfork ---- */

static void *vforks(void *number)
{
	for (int i = 0; i < argument(0, 10); i++) {
		pid_t pid = vfork();

		if (pid < 0)
			fail("vfork");
		if (pid == 0) {
			add(BELOW, 2);
			square(BELOW, 1);
			_exit(9);
		}
		add(OWN, 1);
		expect_exit(pid, 9);
	}
	return number;
}

static int vfork_one(void)
{
	vforks(NULL);
	return 11;
}

static int vfork_threads(void)
{
	in_threads(THREADS, vforks);
	return 12;
}

/* ---- clone with the same memory, on stacks of their own ---- */

/* Signal 0 is no signal: such a child is waited for with __WALL only. */
static const int clone_kinds[] = {
	CLONE_VM | SIGCHLD,
	CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD,
	CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND,
	CLONE_VM | CLONE_VFORK | SIGCHLD,
};

static int clone_body(void *unused)
{
	(void)unused;
	add(BELOW, 10);
	square(BELOW, 3);
	syscall(SYS_exit, 8);
	return 0;
}

static int untraced_body(void *unused)
{
	(void)unused;
	add(APART, 3);
	square(APART, 1);
	syscall(SYS_exit, 8);
	return 0;
}

static int clone_vm(void)
{
	size_t kinds = sizeof clone_kinds / sizeof *clone_kinds;
	char *stacks = mmap(NULL, kinds * STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < argument(0, 5); i++) {
		pid_t pids[4];

		for (size_t k = 0; k < kinds; k++) {
			pids[k] = clone(clone_body, stacks + (k + 1) * STACK, clone_kinds[k], NULL);
			if (pids[k] < 0)
				fail("clone: %s", strerror(errno));
			add(OWN, 5);
		}
		for (size_t k = 0; k < kinds; k++)
			expect_exit(pids[k], 8);
	}
	return 13;
}

/* ---- children that no tracer is told of ---- */

/* In a copy of the memory, as fork(2) makes it. */
static int untraced_copy(void)
{
	for (int i = 0; i < argument(0, 5); i++) {
		pid_t pid = (pid_t)syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);

		if (pid < 0)
			fail("clone: %s", strerror(errno));
		if (pid == 0) {
			add(APART, 4);
			square(APART, 2);
			_exit(7);
		}
		add(OWN, 2);
		expect_exit(pid, 7);
	}
	add(OWN, 3);
	return 17;
}

/* In the same memory, as vfork(2) does. */
static int untraced_same(void)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < argument(0, 5); i++) {
		pid_t pid = clone(untraced_body, stack + STACK,
				  CLONE_UNTRACED | CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);

		if (pid < 0)
			fail("clone: %s", strerror(errno));
		add(OWN, 1);
		expect_exit(pid, 8);
	}
	add(OWN, 3);
	return 18;
}

/* ---- posix_spawn ---- */

static int spawned(void)
{
	add(argument(0, BELOW), 3);
	_exit(6);
}

static char *spawn_words[8];

static void *spawns(void *number)
{
	for (int i = 0; i < argument(0, 4); i++) {
		pid_t pid;
		int error = posix_spawn(&pid, program_path, NULL, NULL, spawn_words, environ);

		if (error)
			fail("posix_spawn: %s", strerror(error));
		square(OWN, 2);
		expect_exit(pid, 6);
	}
	return number;
}

static int spawn_threads(void)
{
	again_words("spawned", BELOW, 0, spawn_words);
	in_threads(THREADS, spawns);
	return 14;
}

/* ---- fork ---- */

/* Each process of so many generations has two children, and all of them call. */
static void forks(int generations, enum who who)
{
	pid_t pids[2];

	add(who, 3);
	if (!generations)
		return;
	for (int i = 0; i < 2; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			fail("fork: %s", strerror(errno));
		if (pids[i] == 0) {
			forks(generations - 1, BELOW);
			_exit(generations);
		}
		square(who, 1);
	}
	for (int i = 0; i < 2; i++)
		expect_exit(pids[i], generations);
}

static void *fork_tree(void *number)
{
	forks(argument(0, 2), OWN);
	return number;
}

static int fork_storm(void)
{
	in_threads(THREADS, fork_tree);
	return 15;
}

/* ---- fork while tracers come and go ---- */

static bool stop;

static void *call_on(void *number)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		square(OWN, 1);
	return number;
}

static int in_child(int child)
{
	char text[32];

	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof text, "%d %d", child, i);
		if (work_add(child, i) != child + i || strtol(text, NULL, 10) != child ||
		    strtol(strchr(text, ' '), NULL, 10) != i)
			return 6;
	}
	return 5;
}

/*
 * Each child has a number, which its parent tells in a call before it is made, and the child in three
 * calls: when the parent's is traced, the child's must be.
 */
static void *fork_on(void *thread)
{
	int child = 1000000 * ((int)(intptr_t)thread + 1);

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		work_factorial(-++child);
		pid_t pid = fork();

		if (pid == 0)
			_exit(in_child(child));
		expect_exit(pid, 5);
	}
	return thread;
}

static pthread_t flight[4];

static void fork_flight_prepare(void)
{
	for (int i = 0; i < 4; i++)
		if (pthread_create(&flight[i], NULL, i < 2 ? fork_on : call_on,
				   (void *)(intptr_t)i))
			fail("pthread_create");
}

static int fork_flight(void)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 4; i++)
		pthread_join(flight[i], NULL);
	return 16;
}

const struct scenario children_scenarios[] = {
	{"vfork", NULL, vfork_one},
	{"vfork-threads", NULL, vfork_threads},
	{"clone-vm", NULL, clone_vm},
	{"untraced-copy", NULL, untraced_copy},
	{"untraced-same", NULL, untraced_same},
	{"spawned", NULL, spawned},
	{"spawn-threads", NULL, spawn_threads},
	{"fork-storm", NULL, fork_storm},
	{"fork-flight", fork_flight_prepare, fork_flight},
	{0},
};
