/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaching to the processes of -p.
 *
 * A list of processes is old when it is used: a server's workers end every second. A process that
 * cannot be attached to is named, with the reason, and the others are traced. strace(1) does the
 * same. If none can be attached to, that is an error.
 *
 * The tracer needs some milliseconds before it sees a call, and seconds where much is to be
 * planted. A user who wants to cause a call has to know when that time is over. The line "attached
 * to process PID (NAME), N functions" tells him: it comes when every function that the filters ask
 * for is planted in what the process has loaded.
 */
#include "session/attaching.h"

#include "base/diag.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "inferior/guardian.h"
#include "inferior/proc.h"
#include "session/private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------ the beginning */

static int attach(struct session *session, pid_t pid)
{
	struct process *process;
	char *why = NULL;
	int error = -EINVAL;

	if (pid == getpid()) {
		why = xstrdup("it is the tracer itself");
	} else {
		guardian_await(pid);
		error = inferior_attach(session->inferior, pid, &process, &why);
	}
	if (error)
		diag("cannot attach to process %d: %s", (int)pid, why ? why : strerror(-error));
	else
		process->to_announce = true;
	free(why);
	return error;
}

/* The process, where a thread of it is named, as `ps -L` and top show them. */
static pid_t process_of(pid_t tid)
{
	const long pid = proc_status_number(tid, "Tgid");

	return pid > 0 ? (pid_t)pid : tid;
}

int attaching_start(struct session *session)
{
	const struct session_options *options = session->options;
	int first_error = 0;

	for (size_t i = 0; i < options->pid_count; i++) {
		const pid_t pid = process_of(options->pids[i]);

		if (pid != getpid())
			prepare_process(session, pid);
	}
	for (size_t i = 0; i < options->pid_count; i++) {
		const pid_t pid = process_of(options->pids[i]);
		int error = inferior_process(session->inferior, pid) ? 0 : attach(session, pid);

		session->unattached += error != 0;
		if (!first_error)
			first_error = error;
	}
	return options->command || session->unattached < options->pid_count ? 0 : first_error;
}

/* ------------------------------------------------------------------ when tracing has begun */

static void count_site(void *context, const struct probe_site *site)
{
	struct map *seen = context;

	map_put(seen, site->info->id, seen);
}

static void count_use(void *context, const struct probe_site *site, struct hook *hook)
{
	if (site)
		count_site(context, site);
	if (hook)
		pointers_each_site(hook, count_site, context);
}

/* How many functions, or calls of them, have a place in the process where they are caught. */
static size_t count_functions(const struct space *space)
{
	struct map seen = {0};

	trap_space_uses(space, count_use, &seen);
	const size_t count = seen.count;

	map_deinit(&seen);
	return count;
}

/* Whatever line stands on the terminal is ended first. */
static void note_in_trace(struct session *session, const struct process *process, size_t count)
{
	const struct record record = {.size = sizeof record,
				      .version = RECORD_VERSION,
				      .kind = RECORD_ATTACHED,
				      .pid = process->pid,
				      .time = inferior_wall_clock(),
				      .number = (int64_t)count};

	session_record(session, &record);
}

void attaching_done(struct session *session, struct process *process)
{
	char functions[64];
	char name[16];

	if (!process->to_announce)
		return;
	process->to_announce = false;
	const size_t count = count_functions(process->space);

	note_in_trace(session, process, count);
	if (session->options->quiet)
		return;
	snprintf(functions, sizeof functions, "%zu function%s%s", count, count == 1 ? "" : "s",
		 count ? "" : " so far");
	proc_name(process->pid, name);
	diag("attached to process %d (%s), %s%s", (int)process->pid, name,
	     count || !session->syscalls ? functions : "system calls",
	     count && session->syscalls ? " and system calls" : "");
}
