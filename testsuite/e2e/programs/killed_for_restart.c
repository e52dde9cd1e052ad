// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sleeps for a twentieth of a second, again and again, in a sandbox that kills it for restart_syscall(2), until it is told
 * something. Says how often a sleep was shorter, or failed.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLEEP_NS = 50000000 };

static int enter(void)
{
	static struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
					    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_restart_syscall, 0, 1),
					    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
					    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	const struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	unsigned long short_ones = 0;

	if (enter())
		return 2;
	puts("ready");
	fflush(stdout);
	while (poll(&input, 1, 0) == 0) {
		const long long start = now();
		const struct timespec time = {.tv_nsec = SLEEP_NS};

		short_ones += nanosleep(&time, NULL) != 0 || now() - start < SLEEP_NS;
	}
	printf("short ones: %lu\n", short_ones);
	return 0;
}
