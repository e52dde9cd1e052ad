/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads single facts about tasks from /proc. */
#include "tracee/proc.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	STATUS_LINE = 256,
	/* PF_EXITING and others of the kernel's <linux/sched.h>, as shown in /proc/TID/stat */
	FLAG_EXITING = 0x4,
	FLAG_SIGNALED = 0x400,
	FLAG_KERNEL_THREAD = 0x200000
};

/* A line to be found in /proc/TID/status or a similar file, and its value behind "NAME:\t". */
struct status_line {
	const char *name;
	char value[STATUS_LINE]; /* "" if there is no such line */
};

/* Returns true if the line is one of those wanted. */
static bool take_line(const char *line, struct status_line *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(wanted[i].name);

		if (!strncmp(line, wanted[i].name, length) && line[length] == ':') {
			snprintf(wanted[i].value, STATUS_LINE, "%s",
				 line + length + 1 + strspn(line + length + 1, " \t"));
			return true;
		}
	}
	return false;
}

static bool read_lines(const char *path, struct status_line *wanted, size_t count)
{
	char line[STATUS_LINE];
	char buffer[4096]; /* holds most such files at once: a process may be stopped meanwhile */
	FILE *file = fopen(path, "re");

	if (!file)
		return false;
	setvbuf(file, buffer, _IOFBF, sizeof buffer);
	/* To read on to the end would take another system call. */
	for (size_t found = 0; found < count && fgets(line, sizeof line, file);)
		found += take_line(line, wanted, count);
	fclose(file);
	return true;
}

/* Returns false if the task is gone. */
static bool read_status(pid_t tid, struct status_line *wanted, size_t count)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	return read_lines(path, wanted, count);
}

long proc_pidfd_target(pid_t pid, int fd)
{
	struct status_line line = {.name = "Pid"};
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)pid, fd);
	return read_lines(path, &line, 1) ? strtol(line.value, NULL, 10) : 0;
}

long proc_status_number(pid_t tid, const char *name)
{
	struct status_line line = {.name = name};

	return read_status(tid, &line, 1) && line.value[0] ? strtol(line.value, NULL, 10) : -1;
}

pid_t proc_process_of(pid_t tid)
{
	const long pid = proc_status_number(tid, "Tgid");

	return pid > 0 ? (pid_t)pid : tid;
}

pid_t proc_own_pid(pid_t tid)
{
	/* From the tracer's namespace to the task's own, which is the last one. */
	struct status_line line = {.name = "NSpid"};
	const char *last = read_status(tid, &line, 1) ? strrchr(line.value, '\t') : NULL;
	const long own = strtol(last ? last : line.value, NULL, 10);

	return own > 0 ? (pid_t)own : tid;
}

bool proc_status_has(pid_t tid, const char *name, const char *word)
{
	struct status_line line = {.name = name};

	return read_status(tid, &line, 1) && strstr(line.value, word);
}

bool proc_has_shadow_stack(pid_t tid)
{
	return proc_status_has(tid, "x86_Thread_features", "shstk");
}

long proc_effective_id(pid_t tid, const char *name)
{
	struct status_line line = {.name = name};
	long id = -1;

	if (read_status(tid, &line, 1))
		sscanf(line.value, "%*d %ld", &id);
	return id;
}

/*
 * Returns the fields of /proc/TID/stat from the third on. The second is a name with any bytes in
 * it.
 */
static const char *read_stat(pid_t tid, char text[512])
{
	char path[96];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, 511);

	if (n <= 0)
		return NULL;
	text[n] = '\0';
	const char *end = strrchr(text, ')');

	return end && end[1] == ' ' ? end + 2 : NULL;
}

char proc_state(pid_t tid)
{
	char text[512];
	const char *fields = read_stat(tid, text);

	return fields ? fields[0] : '?';
}

bool proc_has_ended(pid_t tid)
{
	return strchr("ZX?", proc_state(tid)) != NULL;
}

pid_t proc_living_task(pid_t pid)
{
	char path[64];
	pid_t living = 0;

	if (!proc_has_ended(pid))
		return pid;
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	const struct dirent *entry;

	while (tasks && !living && (entry = readdir(tasks))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		living = tid > 0 && !proc_has_ended(tid) ? tid : 0;
	}
	if (tasks)
		closedir(tasks);
	return living ? living : pid;
}

bool proc_each_task(pid_t pid, void (*visit)(void *context, pid_t tid), void *context)
{
	const struct dirent *entry;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);

	if (!tasks)
		return false;
	while ((entry = readdir(tasks))) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0)
			visit(context, tid);
	}
	closedir(tasks);
	return true;
}

/* Returns field `wanted` (proc(5)) in the result of read_stat(), or NULL. */
static const char *stat_field(const char *fields, int wanted)
{
	for (int number = 3; fields && number < wanted; number++) {
		fields = strchr(fields, ' ');
		fields = fields ? fields + 1 : NULL;
	}
	return fields;
}

uint64_t proc_start_time(pid_t pid)
{
	char text[512];
	const char *field = stat_field(read_stat(pid, text), 22);

	return field ? strtoull(field, NULL, 10) : 0;
}

uint64_t proc_start_brk(pid_t pid)
{
	char text[512];
	const char *field = stat_field(read_stat(pid, text), 47);

	return field ? strtoull(field, NULL, 10) : 0;
}

uint64_t proc_start_stack(pid_t pid)
{
	char text[512];
	const char *field = stat_field(read_stat(pid, text), 28);

	return field ? strtoull(field, NULL, 10) : 0;
}

void proc_name(pid_t tid, char name[16])
{
	char path[96];

	snprintf(path, sizeof path, "/proc/%d/comm", (int)tid);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, name, 15);

	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

bool proc_signals(pid_t tid, uint64_t *ignored, uint64_t *caught)
{
	struct status_line lines[] = {{.name = "SigIgn"}, {.name = "SigCgt"}};

	return read_status(tid, lines, 2) && sscanf(lines[0].value, "%" SCNx64, ignored) == 1 &&
	       sscanf(lines[1].value, "%" SCNx64, caught) == 1;
}

struct proc_runs proc_runs(pid_t tid)
{
	struct proc_runs runs = {0};
	char path[64], text[128], *rest;

	snprintf(path, sizeof path, "/proc/%d/schedstat", (int)tid);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (length <= 0)
		return runs;
	text[length] = '\0';
	runs.ns = strtoull(text, &rest, 10);
	runs.waited = strtoull(rest, &rest, 10);
	runs.turns = strtoull(rest, NULL, 10);
	return runs;
}

bool proc_turns(pid_t tid, uint64_t *turns)
{
	struct status_line lines[] = {{.name = "voluntary_ctxt_switches"},
				      {.name = "nonvoluntary_ctxt_switches"}};

	/* This file is much shorter than the other one. */
	*turns = proc_runs(tid).turns;
	if (*turns)
		return true;
	if (!read_status(tid, lines, 2))
		return false;
	*turns = strtoull(lines[0].value, NULL, 10) + strtoull(lines[1].value, NULL, 10);
	return true;
}

bool proc_caught_and_filtered(pid_t tid, uint64_t *caught, bool *filtered)
{
	struct status_line lines[] = {{.name = "SigCgt"}, {.name = "Seccomp"}};

	if (!read_status(tid, lines, 2) || sscanf(lines[0].value, "%" SCNx64, caught) != 1)
		return false;
	*filtered = strtol(lines[1].value, NULL, 10) > 0;
	return true;
}

static bool has_flags(pid_t tid, unsigned long flags)
{
	char text[512];
	const char *field = stat_field(read_stat(tid, text), 9);

	return field && strtoul(field, NULL, 10) & flags;
}

/* Returns true if the task has a fatal signal or is in exit(2), by its kernel flags. */
static bool is_leaving(pid_t tid)
{
	return has_flags(tid, FLAG_EXITING | FLAG_SIGNALED);
}

bool proc_is_kernel_thread(pid_t tid)
{
	return has_flags(tid, FLAG_KERNEL_THREAD);
}

uint64_t signals_of_faults(void)
{
	return signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGFPE) | signal_bit(SIGILL) |
	       signal_bit(SIGTRAP);
}

uint64_t signals_to_hold(void)
{
	return ~(signals_of_faults() | signal_bit(SIGKILL) | signal_bit(SIGSTOP));
}

bool proc_is_pending(pid_t tid, int signal)
{
	struct status_line lines[] = {{.name = "SigPnd"}, {.name = "ShdPnd"}};
	uint64_t own = 0;
	uint64_t shared = 0;

	return read_status(tid, lines, 2) && sscanf(lines[0].value, "%" SCNx64, &own) == 1 &&
	       sscanf(lines[1].value, "%" SCNx64, &shared) == 1 &&
	       (own | shared) & UINT64_C(1) << (signal - 1);
}

bool proc_blocked(pid_t tid, uint64_t *blocked)
{
	struct status_line line = {.name = "SigBlk"};

	return read_status(tid, &line, 1) && sscanf(line.value, "%" SCNx64, blocked) == 1;
}

bool proc_is_exiting(pid_t tid)
{
	struct status_line lines[] = {{.name = "State"}, {.name = "SigPnd"}};
	uint64_t pending = 0;

	if (!read_status(tid, lines, 2) || lines[0].value[0] == 'Z' || lines[0].value[0] == 'X')
		return true;
	sscanf(lines[1].value, "%" SCNx64, &pending);
	return pending & UINT64_C(1) << (SIGKILL - 1) || is_leaving(tid);
}

bool proc_sees_our_pids(pid_t tid)
{
	char path[64];
	struct stat its;
	struct stat ours;

	snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)tid);
	return stat(path, &its) == 0 && stat("/proc/self/ns/pid", &ours) == 0 &&
	       its.st_dev == ours.st_dev && its.st_ino == ours.st_ino;
}

void proc_children(pid_t pid, pid_t tid, struct vec *children)
{
	char path[96];
	int child;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)tid);
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	while (fscanf(file, "%d", &child) == 1)
		vec_push(children, &(pid_t){child});
	fclose(file);
}
