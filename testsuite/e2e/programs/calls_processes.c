/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children of all kinds, and exec. */
#define _GNU_SOURCE
#include "calls.h"
#include "work.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void say_end(const char *what, pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status))
		say("%s exited %d", what, WEXITSTATUS(status));
	else
		say("%s killed %d", what, WTERMSIG(status));
}

/* The child obeys the next words up to `exit N`, or lines of stdin; the parent waits for it. */
static void do_fork(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		say("child %d", (int)getpid());
		return;
	}
	say_end("child", pid);
	while (*words && !same(*words, "exit"))
		words++;
	if (*words)
		words += 2;
}

/* As fork, but the parent does not wait. */
static void fork_on(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		say("child %d", (int)getpid());
		work_add(600, 6);
		_exit(4);
	}
	say("forked");
}

static void reap(void)
{
	say_end("child", -1);
}

static void do_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		work_add(300, 3);
		_exit(work_square(3));
	}
	say_end("vfork", pid);
}

static void vfork_exec(void)
{
	char *path = next();
	char *argv[] = {path, "add", "400", "4", "exit", "6", NULL};
	pid_t pid = vfork();

	if (pid == 0) {
		work_add(300, 3);
		execv(path, argv);
		_exit(9);
	}
	say_end("vfork-exec", pid);
}

static void spawn(void)
{
	char *path = next();
	char *argv[] = {path, "add", "400", "4", "exit", "6", NULL};
	pid_t pid = 0;

	if (posix_spawn(&pid, path, NULL, NULL, argv, environ) != 0)
		_exit(97);
	say_end("spawn", pid);
}

static int clone_child(void *unused)
{
	(void)unused;
	work_add(700, 7);
	syscall(SYS_exit, 8);
	return 0;
}

static void do_clone(int flags, const char *what)
{
	static char stack[65536] __attribute__((aligned(64)));
	pid_t pid = clone(clone_child, stack + sizeof stack, flags, NULL);

	if (pid < 0)
		_exit(96);
	say_end(what, pid);
}

static void clone_plain(void)
{
	do_clone(SIGCHLD, "clone");
}

static void clone_vm(void)
{
	do_clone(CLONE_VM | SIGCHLD, "clone-vm");
}

static void exec(void)
{
	char **argv = words;

	execvp(argv[0], argv);
	_exit(95);
}

static void *exec_thread(void *unused)
{
	exec();
	return unused;
}

/* exec from a thread other than the first, while others are busy. */
static void exec_in_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, exec_thread, NULL);
	pthread_join(thread, NULL);
}

static void do_exit(void)
{
	exit(number());
}

const struct verb process_verbs[] = {
	{"fork", do_fork},
	{"fork-on", fork_on},
	{"reap", reap},
	{"vfork", do_vfork},
	{"vfork-exec", vfork_exec},
	{"spawn", spawn},
	{"clone", clone_plain},
	{"clone-vm", clone_vm},
	{"exec", exec},
	{"thread-exec", exec_in_thread},
	{"exit", do_exit},
	{0},
};
