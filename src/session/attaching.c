/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaching to the processes of -p.
 *
 * A list of processes is outdated when it is used: workers of a server exit every second. So a
 * process that cannot be attached to is reported, with the reason, and the others are traced, like
 * strace(1) does. It is an error if none can be attached to.
 *
 * The tracer needs some milliseconds before it sees a call, and seconds if much is to be planted. A
 * user who wants to cause a call has to know when that time is over. The line "attached to process
 * PID (NAME), N functions" says so: it comes when every function that the filters ask for is
 * planted in what the process has loaded.
 *
 * A process that waits in the kernel for a disk, or for a child made by vfork(2), cannot be stopped
 * (state D, proc(5)). That may last, so it is told.
 */
#include "session/attaching.h"

#include "base/diag.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "engine/trap/references.h"
#include "recovery/guardian.h"
#include "session/session_state.h"
#include "target/attach_prefetch.h"
#include "target/indirect_calls.h"
#include "target/task_state.h"
#include "tracee/attach.h"
#include "tracee/clock.h"
#include "tracee/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------ attaching */

static int attach(struct session *session, pid_t pid)
{
	struct process *process;
	char *why = NULL;
	int error = -EINVAL;

	if (pid == getpid()) {
		why = xstrdup("it is the tracer itself");
	} else {
		guardian_await(pid);
		error = tracees_attach(session->target.tracees, pid, &process, &why);
	}
	if (error)
		diag("cannot attach to process %d: %s", (int)pid, why ? why : strerror(-error));
	else
		process->session->to_announce = true;
	free(why);
	return error;
}

/* Such a wait mostly ends soon, as those for a disk do: one that lasted so long may not. */
enum { WAIT_LOOKS = 5, WAIT_LOOK_US = 5000 };

static void note_other(void *context, pid_t tid)
{
	bool *is_other = context;

	*is_other |= proc_state(tid) != 'D';
}

/* Returns true if all threads of the process do. The first one's state is enough for most. */
static bool waits_uninterruptibly(pid_t pid)
{
	if (proc_state(pid) != 'D')
		return false;
	for (unsigned looks = 0; looks < WAIT_LOOKS; looks++) {
		bool is_other = false;

		if (looks)
			usleep(WAIT_LOOK_US);
		if (!proc_each_task(pid, note_other, &is_other) || is_other)
			return false;
	}
	return true;
}

int attaching_start(struct session *session)
{
	const struct session_options *options = session->target.options;
	int first_error = 0;

	for (size_t i = 0; i < options->pid_count; i++) {
		const pid_t pid = proc_process_of(options->pids[i]);

		if (pid == getpid())
			continue;
		prefetch_process(&session->target, pid);
		if (waits_uninterruptibly(pid))
			diag("process %d waits uninterruptibly: nothing is traced in it before it "
			     "goes on",
			     (int)pid);
	}
	for (size_t i = 0; i < options->pid_count; i++) {
		const pid_t pid = proc_process_of(options->pids[i]);
		int error = tracees_process(session->target.tracees, pid) ? 0
									  : attach(session, pid);

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
		indirect_each_site(hook, count_site, context);
}

/* Returns how many functions, or calls of them, are caught in the process. */
static size_t count_functions(const struct space *space)
{
	struct map seen = {0};

	trap_space_uses(space, count_use, &seen);
	const size_t count = seen.count;

	map_deinit(&seen);
	return count;
}

/* Writes a record, so that a sink ends an unfinished line on the terminal before the message. */
static void note_in_trace(struct session *session, const struct process *process, size_t count)
{
	const struct record record = {.size = sizeof record,
				      .version = RECORD_VERSION,
				      .kind = RECORD_ATTACHED,
				      .pid = process->pid,
				      .time = clock_wall(),
				      .number = (int64_t)count};

	emission_record(session, &record);
}

void attaching_done(struct session *session, struct process *process)
{
	char functions[64];
	char name[16];

	if (!process->session->to_announce)
		return;
	process->session->to_announce = false;
	const size_t count = count_functions(process->space);

	note_in_trace(session, process, count);
	if (session->target.options->quiet)
		return;
	snprintf(functions, sizeof functions, "%zu function%s%s", count, count == 1 ? "" : "s",
		 count ? "" : " so far");
	proc_name(process->pid, name);
	diag("attached to process %d (%s), %s%s", (int)process->pid, name,
	     count || !session->target.syscalls ? functions : "system calls",
	     count && session->target.syscalls ? " and system calls" : "");
}
