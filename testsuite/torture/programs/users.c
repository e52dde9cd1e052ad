/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: users THREADS [forbid]: a server that was started by root and is nobody's then, so that it may not open its
 * own /proc/PID/mem. Its threads call functions on 64 pages. Answers each line of its input. "forbid": nor may it
 * call process_vm_readv(2) and process_vm_writev(2).
 */
#define _GNU_SOURCE
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534, THREADS_MAX = 64 };

#define FUNCTION(number)                                                                                               \
	__attribute__((noinline, noclone, aligned(4096))) int p_##number(int given)                                    \
	{                                                                                                              \
		__asm__ volatile("" : "+r"(given));                                                                    \
		return given + 1;                                                                                      \
	}
#define DEFINE(tens)                                                                                                   \
	FUNCTION(tens##0)                                                                                              \
	FUNCTION(tens##1)                                                                                              \
	FUNCTION(tens##2)                                                                                              \
	FUNCTION(tens##3)                                                                                              \
	FUNCTION(tens##4)                                                                                              \
	FUNCTION(tens##5)                                                                                              \
	FUNCTION(tens##6)                                                                                              \
	FUNCTION(tens##7)
#define LIST(tens) p_##tens##0, p_##tens##1, p_##tens##2, p_##tens##3, p_##tens##4, p_##tens##5, p_##tens##6, p_##tens##7

DEFINE(0)
DEFINE(1)
DEFINE(2)
DEFINE(3)
DEFINE(4)
DEFINE(5)
DEFINE(6)
DEFINE(7)

static int (*const functions[])(int) = {LIST(0), LIST(1), LIST(2), LIST(3), LIST(4), LIST(5), LIST(6), LIST(7)};
static atomic_bool over;
static atomic_ulong rounds;

static void *call_all(void *unused)
{
	(void)unused;
	while (!over) {
		int sum = 0;

		for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
			sum = functions[i](sum);
		if (sum != (int)(sizeof functions / sizeof functions[0]))
			abort();
		rounds++;
	}
	return NULL;
}

/* These calls fail with EPERM from here on. */
static int forbid(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t ids[THREADS_MAX];
	char line[64];

	if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0 || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1)
		return 2;
	if (argc > 2 && forbid())
		return 3;
	for (int i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, call_all, NULL) != 0)
			return 2;
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		unsigned long before = rounds;

		while (rounds < before + 2)
			usleep(1000);
		puts("done");
		fflush(stdout);
	}
	over = true;
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}
