/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes and threads that may make only some system calls, or are killed. */
#define _GNU_SOURCE
#include "proc.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD_NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define LET_GO BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define IF_NUMBER(number, then, otherwise)                                                         \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), (then), (otherwise))

#ifdef __NR_mmap2
#define NR_MMAP __NR_mmap2
#else
#define NR_MMAP __NR_mmap
#endif

static void filter(struct sock_filter *code, size_t count)
{
	struct sock_fprog program = {(unsigned short)count, code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
		fail("seccomp: %s", strerror(errno));
}

/* Anything goes, but mapping memory kills. */
static void forbid_mmap(void)
{
	struct sock_filter code[] = {LOAD_NUMBER, IF_NUMBER(NR_MMAP, 0, 1), KILL, LET_GO};

	filter(code, sizeof code / sizeof *code);
}

/* Changing protections kills, as unmapping does. */
static void forbid_mprotect(void)
{
	struct sock_filter code[] = {LOAD_NUMBER, IF_NUMBER(__NR_mprotect, 1, 0),
				     IF_NUMBER(__NR_munmap, 0, 1), KILL, LET_GO};

	filter(code, sizeof code / sizeof *code);
}

/* Everything kills but reading, writing, and the end. */
static void forbid_nearly_all(void)
{
	struct sock_filter code[] = {LOAD_NUMBER,
				     IF_NUMBER(__NR_read, 4, 0),
				     IF_NUMBER(__NR_write, 3, 0),
				     IF_NUMBER(__NR_exit, 2, 0),
				     IF_NUMBER(__NR_exit_group, 1, 0),
				     KILL,
				     LET_GO};

	filter(code, sizeof code / sizeof *code);
}

/* Calls from places that no filter has seen a call from before. */
static void call_from_new_places(void)
{
	add(OWN, 20);
	square(OWN, 20);
}

static void *calls(void *number)
{
	call_from_new_places();
	return number;
}

/* ---- filters set in mid-run ---- */

static int no_mmap(void)
{
	add(OWN, 5);
	forbid_mmap();
	call_from_new_places();
	return 41;
}

static int nearly_nothing(void)
{
	add(OWN, 5);
	forbid_nearly_all();
	call_from_new_places();
	say_tally();
	_exit(42);
}

/* Mode 1 of seccomp(2): read, write, exit and sigreturn. */
static int strict(void)
{
	add(OWN, 5);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0)
		fail("seccomp");
	call_from_new_places();
	say_tally();
	syscall(SYS_exit, 43);
	return 1;
}

/* ---- threads with filters of their own, set before "ready" ---- */

enum { THREADS = 4 };

static pthread_barrier_t filtered, go;

static void *filtered_thread(void *number)
{
	switch ((intptr_t)number) {
	case 0:
		forbid_mmap();
		break;
	case 1:
		forbid_mprotect();
		break;
	default:
		break;
	}
	pthread_barrier_wait(&filtered);
	pthread_barrier_wait(&go);
	call_from_new_places();
	return number;
}

static pthread_t threads[THREADS];

static void differing_prepare(void)
{
	pthread_barrier_init(&filtered, NULL, THREADS + 1);
	pthread_barrier_init(&go, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, filtered_thread, (void *)(intptr_t)i);
	pthread_barrier_wait(&filtered);
}

static int differing(void)
{
	pthread_barrier_wait(&go);
	call_from_new_places();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 44;
}

/* ---- filters set before "ready" ---- */

static int filtered_work(void)
{
	call_from_new_places();
	say_tally();
	_exit(45);
}

/* One filter for many threads: none of them can map anything. */
static pthread_t filtered_threads[THREADS];

static void *filtered_calls(void *number)
{
	pthread_barrier_wait(&go);
	return calls(number);
}

static void no_mmap_threads_prepare(void)
{
	pthread_barrier_init(&go, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&filtered_threads[i], NULL, filtered_calls, NULL);
	struct sock_filter code[] = {LOAD_NUMBER, IF_NUMBER(NR_MMAP, 0, 1), KILL, LET_GO};
	struct sock_fprog program = {sizeof code / sizeof *code, code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
		fail("seccomp: %s", strerror(errno));
}

static int no_mmap_threads(void)
{
	pthread_barrier_wait(&go);
	for (int i = 0; i < THREADS; i++)
		pthread_join(filtered_threads[i], NULL);
	return 46;
}

const struct scenario seccomp_scenarios[] = {
	{"no-mmap", NULL, no_mmap},
	{"nearly-nothing", NULL, nearly_nothing},
	{"strict", NULL, strict},
	{"differing-filters", differing_prepare, differing},
	{"no-mmap-before", forbid_mmap, filtered_work},
	{"nearly-nothing-before", forbid_nearly_all, filtered_work},
	{"no-mmap-threads", no_mmap_threads_prepare, no_mmap_threads},
	{0},
};
