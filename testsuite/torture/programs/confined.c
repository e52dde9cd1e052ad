/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confined soft|hard|locked|dispatched: a thread that calls strtol() in a process that can be given no more memory
 * (by its soft limit, or by its hard one as well, or as all of it is to be locked and that has a limit), or whose
 * system calls from elsewhere than libc become SIGSYS. Lines on stdin, each answered with "done": "progress", "stop",
 * which says how often something went wrong.
 */
#define _GNU_SOURCE
#include "rounds.h"

#include <link.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DISPATCH = 59, ON = 1, BLOCK = 1 }; /* linux/prctl.h: PR_SET_SYSCALL_USER_DISPATCH */

static atomic_bool stop;
static atomic_long wrong;
static atomic_ulong rounds[1];
static volatile char selector = BLOCK;
static bool dispatched;
static pthread_barrier_t begun;

static void on_system_call(int number)
{
	(void)number;
	wrong++;
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *found)
{
	ElfW(Addr) *range = found;

	(void)size;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			range[0] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			range[1] = info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

static void *work(void *argument)
{
	ElfW(Addr) range[2] = {0};

	(void)argument;
	if (dispatched) {
		dl_iterate_phdr(find_libc, range);
		if (prctl(DISPATCH, ON, range[0], range[1], &selector) != 0)
			wrong++;
	}
	pthread_barrier_wait(&begun);
	while (!stop) {
		if (strtol("77", NULL, 10) != 77)
			wrong++;
		++*rounds;
	}
	return NULL;
}

static void leave_no_room(bool hard)
{
	FILE *file = fopen("/proc/self/statm", "re");
	struct rlimit limit;
	unsigned long pages = 0;

	if (!file || fscanf(file, "%lu", &pages) != 1)
		wrong++;
	fclose(file);
	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = (pages + 2) * (rlim_t)sysconf(_SC_PAGESIZE);
	if (hard)
		limit.rlim_max = limit.rlim_cur;
	setrlimit(RLIMIT_AS, &limit);
}

/* Without the capabilities of the superuser, for whom there is no limit. */
static void lock_what_comes(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}, {0}};
	struct rlimit limit;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	limit.rlim_cur = (rlim_t)sysconf(_SC_PAGESIZE);
	if (syscall(SYS_capset, &header, none) != 0 || mlockall(MCL_FUTURE) != 0 ||
	    setrlimit(RLIMIT_MEMLOCK, &limit) != 0)
		wrong++;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;

	dispatched = !strcmp(how, "dispatched");
	signal(SIGSYS, on_system_call);
	pthread_barrier_init(&begun, NULL, 2);
	if (pthread_create(&thread, NULL, work, NULL))
		return 2;
	pthread_barrier_wait(&begun);
	if (!strcmp(how, "locked"))
		lock_what_comes();
	else if (!dispatched)
		leave_no_room(!strcmp(how, "hard"));
	rounds_serve(rounds, 1);
	stop = true;
	pthread_join(thread, NULL);
	printf("wrong %ld\n", (long)wrong);
	return wrong != 0;
}
