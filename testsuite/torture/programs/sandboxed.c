/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls a function all the time in a sandbox: what system calls it does not need kill it. "strict":
 * that of seccomp(2), which forbids to read the processor's clock, too; else by a filter.
 */
#define _GNU_SOURCE
#include "rounds.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD_NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define LET_GO BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define IF_NUMBER(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1)

#ifdef __NR_sigreturn
#define NR_SIGRETURN __NR_sigreturn
#else
#define NR_SIGRETURN __NR_rt_sigreturn
#endif

static atomic_ulong rounds;
static atomic_bool stop;
static atomic_ulong wrong;
static bool strict;

long sandboxed_call(long number, const char *text);

__attribute__((noinline)) long sandboxed_call(long number, const char *text)
{
	__asm__ volatile("" : : "r"(text) : "memory");
	return number * 2 + 1;
}

static void enter(void)
{
	static struct sock_filter code[] = {LOAD_NUMBER,
					    IF_NUMBER(__NR_read),
					    LET_GO,
					    IF_NUMBER(__NR_write),
					    LET_GO,
					    IF_NUMBER(__NR_exit),
					    LET_GO,
					    IF_NUMBER(__NR_rt_sigreturn),
					    LET_GO,
					    IF_NUMBER(NR_SIGRETURN),
					    LET_GO,
					    IF_NUMBER(__NR_restart_syscall),
					    LET_GO,
					    KILL};
	const struct sock_fprog program = {sizeof code / sizeof *code, code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, strict ? SECCOMP_MODE_STRICT : SECCOMP_MODE_FILTER, &program, 0,
		  0) != 0)
		exit(2);
}

static void *call(void *none)
{
	enter();
	for (long i = 0; !stop; i++) {
		wrong += sandboxed_call(i, "some text") != i * 2 + 1;
		if (i % 1000 == 0)
			rounds++;
	}
	syscall(SYS_exit, 0);
	return none;
}

int main(int argc, char **argv)
{
	static char in[256], out[256], last[32];
	pthread_t caller;

	strict = argc > 1 && !strcmp(argv[1], "strict");
	setvbuf(stdin, in, _IOFBF, sizeof in); /* so that no memory is asked for */
	setvbuf(stdout, out, _IOFBF, sizeof out);
	if (pthread_create(&caller, NULL, call, NULL))
		return 2;
	while (!rounds)
		;
	enter();
	rounds_serve(&rounds, 1);
	stop = true;
	snprintf(last, sizeof last, "wrong %lu\n", (unsigned long)wrong);
	syscall(SYS_exit, write(STDOUT_FILENO, last, strlen(last)) < 0);
}
