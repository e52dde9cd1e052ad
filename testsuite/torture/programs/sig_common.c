/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handlers, contexts, mappings and states of threads. */
#include "sig.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
#define PC_REGISTER REG_RIP
#define SP_REGISTER REG_RSP
#else
#define PC_REGISTER REG_EIP
#define SP_REGISTER REG_ESP
#endif

enum { MAPPINGS_MAX = 256 };

static struct {
	uintptr_t low, high;
} mappings[MAPPINGS_MAX];
static unsigned mapping_count;
static _Atomic unsigned long strange;

void die(const char *what)
{
	perror(what);
	_exit(99);
}

void handle(int number, handler *function, int flags, const sigset_t *mask)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | flags};

	action.sa_sigaction = function;
	sigemptyset(&action.sa_mask);
	if (mask)
		action.sa_mask = *mask;
	if (sigaction(number, &action, NULL))
		die("sigaction");
}

sigset_t set_of(int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	return set;
}

void block(int number, bool on)
{
	sigset_t set = set_of(number);

	pthread_sigmask(on ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

uintptr_t context_pc(const void *context)
{
	return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[PC_REGISTER];
}

uintptr_t context_sp(const void *context)
{
	return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[SP_REGISTER];
}

void context_set_pc(void *context, uintptr_t pc)
{
	((ucontext_t *)context)->uc_mcontext.gregs[PC_REGISTER] = (greg_t)pc;
}

void mappings_read(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[4500];

	while (file && fgets(line, sizeof line, file) && mapping_count < MAPPINGS_MAX) {
		unsigned long low, high;
		char rights[8], name[4096] = "";

		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %4095s", &low, &high, rights, name) < 3 || rights[2] != 'x')
			continue;
		if (name[0] != '/' && strcmp(name, "[vdso]") && strcmp(name, "[vsyscall]"))
			continue;
		mappings[mapping_count].low = low;
		mappings[mapping_count++].high = high;
	}
	if (file)
		fclose(file);
}

bool mappings_have(uintptr_t pc)
{
	for (unsigned i = 0; i < mapping_count; i++)
		if (pc >= mappings[i].low && pc < mappings[i].high)
			return true;
	return false;
}

void check_pc(const void *context)
{
	if (!mappings_have(context_pc(context)))
		strange++;
}

unsigned long strange_pcs(void)
{
	return strange;
}

pid_t own_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

char thread_state(pid_t pid, pid_t tid)
{
	char path[64], text[512];

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	if (length <= 0)
		return '?';
	text[length] = '\0';
	const char *end = strrchr(text, ')');

	return end ? end[2] : '?';
}

void wait_asleep(pid_t pid, pid_t tid)
{
	while (thread_state(pid, tid) != 'S')
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}
