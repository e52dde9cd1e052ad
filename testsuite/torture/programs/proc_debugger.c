/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small debugger and its children, and programs that look whether they are debugged. */
#define _GNU_SOURCE
#include "proc.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static long word_there = 4711; /* what the debugger reads, and writes, in its child */

static void request(int what, pid_t pid, uintptr_t address, uintptr_t data, const char *name)
{
	if (ptrace(what, pid, (void *)address, (void *)data) != 0)
		fail("%s: %s", name, strerror(errno));
}

/* Waits for a stop; its signal. */
static int wait_stop(pid_t pid)
{
	int status = -1;

	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		fail("the debugged child did not stop but %x", (unsigned)status);
	note((uint64_t)status);
	return WSTOPSIG(status);
}

static void expect_stop(pid_t pid, int signal)
{
	int found = wait_stop(pid);

	if (found != signal)
		fail("the debugged child stopped for %d, not for %d", found, signal);
}

/* Reads and writes the child's memory and registers, steps it, and lets it make system calls. */
static void examine(pid_t pid)
{
	struct user_regs_struct regs;
	struct iovec place = {&regs, sizeof regs};

	errno = 0;
	long word = ptrace(PTRACE_PEEKDATA, pid, &word_there, NULL);

	if (errno || word != 4711)
		fail("PEEKDATA: %ld, %s", word, strerror(errno));
	request(PTRACE_POKEDATA, pid, (uintptr_t)&word_there, 4712, "POKEDATA");
	request(PTRACE_GETREGSET, pid, 1, (uintptr_t)&place, "GETREGSET");
	for (int i = 0; i < 20; i++) {
		request(PTRACE_SINGLESTEP, pid, 0, 0, "SINGLESTEP");
		expect_stop(pid, SIGTRAP);
	}
	for (int i = 0; i < 4; i++) {
		request(PTRACE_SYSCALL, pid, 0, 0, "SYSCALL");
		expect_stop(pid, SIGTRAP);
	}
}

/* ---- PTRACE_TRACEME ---- */

static void be_debugged(void)
{
	add(BELOW, 4);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		fail("TRACEME: %s", strerror(errno));
	raise(SIGSTOP);
	add(APART, 5);
	raise(SIGUSR1);
	add(APART, 2);
	_exit(word_there == 4712 ? 30 : 31);
}

static int debug_fork(void)
{
	for (int i = 0; i < argument(0, 3); i++) {
		pid_t pid = fork();

		if (pid == 0)
			be_debugged();
		add(OWN, 2);
		expect_stop(pid, SIGSTOP);
		examine(pid);
		request(PTRACE_CONT, pid, 0, 0, "CONT");
		expect_stop(pid, SIGUSR1);
		request(PTRACE_CONT, pid, 0, 0, "CONT");
		expect_exit(pid, 30);
		square(OWN, 1);
	}
	return 31;
}

/* As debuggers start programs: the child asks to be traced, and execs. */
static int debug_exec(pid_t child_of(void))
{
	pid_t pid = child_of();

	if (pid < 0)
		fail("no child");
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(errno);
		again("spawned", APART, 0);
	}
	add(OWN, 2);
	expect_stop(pid, SIGTRAP);
	request(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT, "SETOPTIONS");
	request(PTRACE_CONT, pid, 0, 0, "CONT");
	expect_stop(pid, SIGTRAP);
	request(PTRACE_CONT, pid, 0, 0, "CONT");
	expect_exit(pid, 6);
	square(OWN, 1);
	return 32;
}

static int debug_fork_exec(void)
{
	return debug_exec(fork);
}

static int debug_vfork_exec(void)
{
	return debug_exec(vfork);
}

/* ---- PTRACE_ATTACH and PTRACE_SEIZE ---- */

static volatile sig_atomic_t told;

static void on_signal(int signal)
{
	told = signal;
}

/* A child that calls before it is debugged, and afterwards. */
static pid_t busy_child(int ready[2])
{
	pid_t pid = fork();

	if (pid)
		return pid;
	signal(SIGUSR1, on_signal);
	add(BELOW, 5);
	if (write(ready[1], "r", 1) != 1)
		_exit(1);
	while (!told)
		sched_yield();
	add(APART, 5);
	_exit(33);
}

static int debug_attach(void)
{
	int ready[2];
	char byte;

	if (pipe(ready) != 0)
		fail("pipe");
	for (int i = 0; i < 2; i++) {
		pid_t pid = busy_child(ready);
		int status;

		if (read(ready[0], &byte, 1) != 1)
			fail("read");
		if (i) {
			request(PTRACE_SEIZE, pid, 0, 0, "SEIZE");
			request(PTRACE_INTERRUPT, pid, 0, 0, "INTERRUPT");
		} else {
			request(PTRACE_ATTACH, pid, 0, 0, "ATTACH");
		}
		expect_stop(pid, i ? SIGTRAP : SIGSTOP);
		request(PTRACE_CONT, pid, 0, 0, "CONT");
		kill(pid, SIGUSR1);
		expect_stop(pid, SIGUSR1);
		request(PTRACE_DETACH, pid, 0, SIGUSR1, "DETACH");
		if (waitpid(pid, &status, 0) != pid || status != 33 << 8)
			fail("status %x", (unsigned)status);
		add(OWN, 1);
	}
	return 33;
}

/* ---- am I being watched? ---- */

static int ask_traceme(void)
{
	add(OWN, 3);
	say("first: %ld", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	add(OWN, 3);
	say("again: %ld", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	add(OWN, 3);
	return 34;
}

const struct scenario debugger_scenarios[] = {
	{"debug-fork", NULL, debug_fork},
	{"debug-fork-exec", NULL, debug_fork_exec},
	{"debug-vfork-exec", NULL, debug_vfork_exec},
	{"debug-attach", NULL, debug_attach},
	{"ask-traceme", NULL, ask_traceme},
	{0},
};
