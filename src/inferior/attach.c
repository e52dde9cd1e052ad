/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaching to a running process: every thread in /proc/PID/task is seized, again and again
 * until a whole pass finds nothing new. Threads that a seized thread creates meanwhile are
 * attached by the kernel and come with their parent's PTRACE_EVENT_CLONE. Seizing stops nobody;
 * only one thread is then interrupted, as planting breakpoints needs one at hand. One that runs
 * is preferred, as an interrupt ends some system calls (epoll_wait, for one) with EINTR.
 */
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "inferior/inferior.h"
#include "inferior/ptrace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A number from a line of /proc/PID/status, or -1. */
static long status_field(pid_t pid, const char *name)
{
	char path[64];
	char line[256];
	long value = -1;
	size_t length = strlen(name);

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "re");

	if (!file)
		return -1;
	while (value < 0 && fgets(line, sizeof line, file))
		if (!strncmp(line, name, length) && line[length] == ':')
			value = strtol(line + length + 1, NULL, 10);
	fclose(file);
	return value;
}

/* The state letter of a thread ('R', 'S', 'Z' …), or '?'. */
static char thread_state_letter(pid_t pid, pid_t tid)
{
	char path[96];
	char text[512];

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (n <= 0)
		return '?';
	text[n] = '\0';
	const char *end = strrchr(text, ')'); /* the name may hold anything */

	return end && end[1] == ' ' ? end[2] : '?';
}

static long read_number(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[32];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (n <= 0)
		return -1;
	text[n] = '\0';
	return strtol(text, NULL, 10);
}

/* Which of the reasons for EPERM it is, for the user. */
static char *explain_permission(pid_t pid)
{
	long tracer = status_field(pid, "TracerPid");
	long scope = read_number("/proc/sys/kernel/yama/ptrace_scope");
	long uid = status_field(pid, "Uid");

	if (tracer > 0)
		return xasprintf("already traced by process %ld", tracer);
	if (thread_state_letter(pid, pid) == 'Z')
		return xasprintf("it has exited (zombie)");
	if (geteuid() && uid >= 0 && (uid_t)uid != geteuid())
		return xasprintf("not permitted: it belongs to user %ld; CAP_SYS_PTRACE is needed",
				 uid);
	if (scope == 3)
		return xasprintf("not permitted: kernel.yama.ptrace_scope is 3, no process may be "
				 "traced until the next boot");
	if (geteuid() && scope > 0)
		return xasprintf("not permitted: kernel.yama.ptrace_scope is %ld; run with "
				 "CAP_SYS_PTRACE, or as the one who launches the command",
				 scope);
	if (geteuid())
		return xasprintf(
			"not permitted: it runs with more rights than you "
			"(set-user-ID, capabilities, or not dumpable); CAP_SYS_PTRACE is needed");
	return xasprintf("not permitted: a kernel thread, or CAP_SYS_PTRACE is missing");
}

/* Seizes the threads that are not ours yet; the number of new ones, or -errno. */
static int seize_new(struct inferior *inferior, struct process *process, DIR *task)
{
	struct dirent *entry;
	int found = 0;

	rewinddir(task);
	while ((entry = readdir(task))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0 || inferior_thread(inferior, tid))
			continue;
		int error = pt_seize(tid, inferior->ptrace_options);

		if (!error) {
			struct thread *thread = thread_create(inferior, process, tid);

			thread->fresh = false;
			thread->seized = true;
			found++;
		} else if (error == -EPERM && status_field(tid, "TracerPid") == getpid()) {
			continue; /* attached by the kernel: its parent will tell */
		} else if (error != -ESRCH &&
			   !(error == -EPERM &&
			     strchr("ZX?", thread_state_letter(process->pid, tid)))) {
			return error;
		}
	}
	return found;
}

struct choice {
	struct thread *any;
	struct thread *running;
};

static void choose(struct thread *thread, void *context)
{
	struct choice *choice = context;
	char state = thread_state_letter(thread->process->pid, thread->tid);

	/* A leader that has exited stays as a zombie and never stops. */
	if (state != 'Z' || !choice->any)
		choice->any = thread;
	if (state == 'R')
		choice->running = thread;
}

static void let_go(struct thread *thread, void *context)
{
	if (!thread_stop(context, thread, 1000))
		pt_detach(thread->tid, thread->stop == STOP_SIGNAL ? thread->stop_signal : 0);
	thread_destroy(context, thread);
}

int inferior_attach(struct inferior *inferior, pid_t pid, struct process **process, char **why)
{
	char path[64];

	*why = NULL;
	if (inferior_process(inferior, pid)) {
		*why = xstrdup("given twice");
		return -EBUSY;
	}
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *task = opendir(path);

	if (!task) {
		*why = xstrdup("no such process");
		return -ESRCH;
	}
	struct process *made = process_create(inferior, pid);
	int found;

	made->starting = true;
	do
		found = seize_new(inferior, made, task);
	while (found > 0);
	closedir(task);
	if (found < 0 || !made->threads) {
		*why = found == -EPERM || !found ? explain_permission(pid)
						 : xstrdup(strerror(-found));
		if (!made->threads) {
			map_remove(&inferior->processes, (uint64_t)pid);
			free(made);
		} else {
			process_each_thread(made, let_go, inferior);
		}
		return found < 0 ? found : -EPERM;
	}
	struct choice choice = {0};

	process_each_thread(made, choose, &choice);
	struct thread *first = choice.running ? choice.running : choice.any;

	pt_interrupt(first->tid);
	*process = made;
	return 0;
}
