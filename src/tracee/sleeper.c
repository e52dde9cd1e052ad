/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a thread sleeps, without stopping it.
 *
 * A stop ends some system calls (syscall_restart.h) and takes time. The kernel tells the stack
 * pointer and pc of a thread that is not on a processor in /proc/TID/syscall (proc(5)), and in
 * /proc/TID/status how often it was scheduled out. If that number is the same before and behind a
 * walk of its stack, the thread has not run in between.
 */
#include "tracee/sleeper.h"

#include "base/cleanup.h"
#include "tracee/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "NUMBER ARGUMENT… SP PC", or "-1 SP PC" outside of system calls, or "running". */
static bool read_place(pid_t tid, struct sleeper *sleeper)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "/proc/%d/syscall", (int)tid);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (length <= 0)
		return false;
	text[length] = '\0';
	char *pc = strrchr(text, ' ');

	if (!pc)
		return false;
	*pc++ = '\0';
	const char *sp = strrchr(text, ' ');

	if (!sp)
		return false;
	sleeper->pc = strtoull(pc, NULL, 16);
	sleeper->sp = strtoull(sp, NULL, 16);
	sleeper->call = strtoll(text, NULL, 10);
	return sleeper->pc && sleeper->sp;
}

bool sleeper_read(pid_t tid, struct sleeper *sleeper)
{
	return proc_switches(tid, &sleeper->switches) && read_place(tid, sleeper);
}

bool sleeper_sleeps_on(pid_t tid, const struct sleeper *sleeper)
{
	struct sleeper now;
	uint64_t switches;

	return read_place(tid, &now) && now.pc == sleeper->pc && now.sp == sleeper->sp &&
	       proc_switches(tid, &switches) && switches == sleeper->switches;
}
