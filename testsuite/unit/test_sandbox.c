/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What seccomp filters of a stopped process do with system calls. */
#include "tasks.h"

#include "tracee/sandbox.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define IF(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1)
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, (action))

/* Returns a stopped child that has these filters. */
static pid_t child_with(const struct sock_fprog *const *filters)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		_exit(1);
	raise(SIGSTOP);
	for (; *filters; filters++)
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, *filters, 0, 0))
			_exit(1);
	/*
	 * The child reports by a signal, as its filters may forbid system calls. The signal would
	 * end it.
	 */
	__asm__ volatile("int3");
	_exit(0);
}

static bool may_kill(const struct sock_fprog *const *filters, bool *is_told)
{
	const pid_t pid = child_with(filters);
	struct space space = {.arch = host_arch()};
	struct process process = {.pid = pid, .space = &space};
	const struct thread thread = {.tid = pid, .process = &process};
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	assert_false(sandbox_may_kill(&thread));
	assert_int_equal(ptrace(PTRACE_CONT, pid, 0, 0), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	const bool found = sandbox_may_kill(&thread);

	*is_told = pt_get_filter(pid, 0, NULL, 0) != -EACCES;
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return found;
}

static void check(const struct sock_fprog *first, const struct sock_fprog *second, bool expected)
{
	const struct sock_fprog *const filters[] = {first, second, NULL};
	bool is_told;
	const bool found = may_kill(filters, &is_told);

	/* A tracer that may not read the filters assumes the worst. */
	assert_int_equal(found, expected || (first && !is_told));
}

#define PROGRAM(name, ...)                                                                         \
	struct sock_filter name##_code[] = {__VA_ARGS__};                                          \
	const struct sock_fprog name = {sizeof name##_code / sizeof *name##_code, name##_code}

static void filters(void **state)
{
	PROGRAM(allow, ANSWER(SECCOMP_RET_ALLOW));
	PROGRAM(refuse, LOAD(nr), IF(__NR_openat), ANSWER(SECCOMP_RET_ERRNO | EPERM),
		ANSWER(SECCOMP_RET_ALLOW));
	PROGRAM(kill_open, LOAD(nr), IF(__NR_openat), ANSWER(SECCOMP_RET_KILL_PROCESS),
		ANSWER(SECCOMP_RET_ALLOW));
	PROGRAM(kill_other, LOAD(nr), IF(__NR_socket), ANSWER(SECCOMP_RET_KILL_THREAD),
		ANSWER(SECCOMP_RET_ALLOW));
	PROGRAM(trap_code, LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mprotect, 0, 3),
		LOAD(args[2]), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 6), IF(6),
		ANSWER(SECCOMP_RET_TRAP), ANSWER(SECCOMP_RET_ALLOW));
	/* Computed by the accumulator and scratch memory, and a jump over the killing. */
	PROGRAM(computed, LOAD(nr), BPF_STMT(BPF_ST, 3), BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_ALU | BPF_SUB | BPF_X, 0),
		BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 0x7fff0000), BPF_STMT(BPF_JMP | BPF_JA, 1),
		ANSWER(SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_A, 0));

	(void)state;
	check(NULL, NULL, false);
	check(&allow, NULL, false);
	check(&refuse, NULL, false);
	check(&kill_open, NULL, true);
	check(&kill_other, NULL, false);
	check(&trap_code, NULL, true);
	check(&computed, NULL, false);
	check(&kill_open, &allow, true);
	check(&refuse, &kill_open, true);
	check(&refuse, &computed, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(filters)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
