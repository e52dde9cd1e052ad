/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that change who they are and where they live. */
#define _GNU_SOURCE
#include "proc.h"

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534, THREADS = 3 };

static void *calls(void *number)
{
	add(OWN, 10);
	square(OWN, 10);
	return number;
}

static void call_everywhere(void)
{
	pid_t pid;

	in_threads(THREADS, calls);
	pid = fork();
	if (pid == 0) {
		add(BELOW, 5);
		_exit(3);
	}
	expect_exit(pid, 3);
	pid = vfork();
	if (pid == 0) {
		add(BELOW, 5);
		_exit(4);
	}
	expect_exit(pid, 4);
	calls(NULL);
}

/* ---- not dumpable: /proc/PID belongs to root ---- */

static void hide(void)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		fail("PR_SET_DUMPABLE");
}

static int after_hiding(void)
{
	call_everywhere();
	return 51;
}

static int not_dumpable(void)
{
	add(OWN, 5);
	hide();
	return after_hiding();
}

/* ---- another user ---- */

static void become_nobody(void)
{
	if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
		fail("setuid: %s", strerror(errno));
	say("uid %d %d", (int)getuid(), (int)geteuid());
}

static int other_user(void)
{
	add(OWN, 5);
	become_nobody();
	call_everywhere();
	return 52;
}

static int call_and_return(void)
{
	call_everywhere();
	return 53;
}

/* And back: a program that was privileged all the time. */
static int other_user_for_a_while(void)
{
	for (int i = 0; i < 3; i++) {
		if (seteuid(NOBODY) != 0)
			fail("seteuid");
		call_everywhere();
		if (seteuid(0) != 0)
			fail("seteuid back");
		call_everywhere();
	}
	return 54;
}

/* ---- namespaces ---- */

/* The children are the first processes of a new PID namespace. */
static int pid_namespace(void)
{
	pid_t pid;

	add(OWN, 3);
	if (unshare(CLONE_NEWPID) != 0)
		fail("unshare: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		say("pid %d", (int)getpid());
		pid = fork();
		if (pid == 0) {
			say("pid %d", (int)getpid());
			add(BELOW, 2);
			_exit(5);
		}
		expect_exit(pid, 5);
		add(BELOW, 3);
		_exit(6);
	}
	expect_exit(pid, 6);
	square(OWN, 3);
	return 55;
}

static int user_namespace(void)
{
	add(OWN, 3);
	if (unshare(CLONE_NEWUSER) != 0)
		fail("unshare: %s", strerror(errno));
	call_everywhere();
	return 56;
}

/* ---- daemons ---- */

/*
 * Twice removed from the one that was started, in a session of its own. Says what was counted at
 * the end, when the others are gone (their end is the end of a pipe).
 */
static int daemonise(void)
{
	int alive[2];
	char byte;

	add(OWN, 2);
	if (pipe(alive) != 0)
		fail("pipe");
	pid_t pid = fork();

	if (pid > 0)
		_exit(57);
	setsid();
	pid = fork();
	if (pid > 0)
		_exit(0);
	close(alive[1]);
	if (read(alive[0], &byte, 1) != 0)
		fail("read");
	if (chdir("/") != 0)
		fail("chdir");
	add(BELOW, 20);
	say_tally();
	_exit(58);
}

const struct scenario world_scenarios[] = {
	{"not-dumpable", NULL, not_dumpable},
	{"not-dumpable-before", hide, after_hiding},
	{"other-user", NULL, other_user},
	{"other-user-before", become_nobody, call_and_return},
	{"other-user-for-a-while", NULL, other_user_for_a_while},
	{"plain", NULL, call_and_return},
	{"pid-namespace", NULL, pid_namespace},
	{"user-namespace", NULL, user_namespace},
	{"daemon", NULL, daemonise},
	{0},
};
