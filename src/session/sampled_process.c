/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process whose stacks are looked at without tracing it.
 *
 * The process has no tracer, but for the threads that are stopped, while they are. What it does
 * (create threads, exec, end) is found out by looking.
 */
#include "session/sampled_process.h"

#include "base/diag.h"
#include "base/xalloc.h"
#include "recovery/guardian.h"
#include "target/mapped_files.h"
#include "target/mapped_modules.h"
#include "target/module_list.h"
#include "tracee/attach.h"
#include "tracee/clock.h"
#include "tracee/proc.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000, LEAVE_NS = 300 * NS_PER_MS };

/* Both are chosen at random by exec (randomize_va_space, proc(5)). */
static uint64_t program_of(pid_t pid)
{
	const pid_t tid = proc_living_task(pid);

	return proc_start_stack(tid) ^ proc_start_brk(tid) << 1;
}

static int check(pid_t pid)
{
	const char state = proc_state(proc_living_task(pid));

	if (state == '?')
		return -ESRCH;
	if (state == 'Z' || proc_is_kernel_thread(pid) || proc_status_number(pid, "TracerPid") > 0)
		return -EPERM;
	return 0;
}

static void report(pid_t pid, int error)
{
	char *why;

	if (pid == getpid())
		why = xstrdup("it is the tracer itself");
	else if (error == -ESRCH)
		why = xstrdup("no such process");
	else if (error == -EPERM || error == -EACCES)
		why = attach_explain(-EPERM, pid, 0);
	else
		why = xstrdup(mapped_files_reason(error));
	diag("cannot attach to process %d: %s", (int)pid, why);
	free(why);
}

int sampled_process_open(struct session *session, pid_t pid, struct sampled_process **opened)
{
	struct tracees *tracees = session->target.tracees;
	int error = pid == getpid() ? -EINVAL : 0;

	if (!error) {
		/* A tracer that was killed may be about to be cleaned up after. */
		guardian_await(pid);
		error = check(pid);
	}
	if (error) {
		report(pid, error);
		return error;
	}
	struct sampled_process *sampled = xcalloc(1, sizeof *sampled);

	sampled->pid = pid;
	sampled->process = process_create(tracees, pid);
	sampled->program = program_of(pid);
	/* A leader that has ended has no mappings any more. */
	struct sampled_thread *first = sampled_process_thread(session, sampled,
							      proc_living_task(pid));

	error = mapped_modules_read(&session->target, first->thread);
	if (error) {
		report(pid, error);
		sampled_process_close(session, sampled);
		return error;
	}
	*opened = sampled;
	return 0;
}

void sampled_process_close(struct session *session, struct sampled_process *sampled)
{
	struct space *space = sampled->process->space;
	const uint64_t until = clock_now() + LEAVE_NS;
	size_t cursor = 0;
	void *value;

	if (space) {
		module_list_destroy(space->modules);
		space->modules = NULL;
	}
	while (map_next(&sampled->threads, &cursor, NULL, &value)) {
		const uint64_t now = clock_now();

		/* What is left stopped by then is let go by the end of the tracer. */
		sampled_thread_destroy(session->target.tracees, value,
				       now < until ? (unsigned)((until - now) / NS_PER_MS) : 0);
	}
	map_deinit(&sampled->threads);
	free(sampled);
}

struct thread *sampled_process_any(const struct sampled_process *sampled)
{
	size_t cursor = 0;
	void *value;

	map_next(&sampled->threads, &cursor, NULL, &value);
	return ((struct sampled_thread *)value)->thread;
}

struct sampled_thread *sampled_process_thread(struct session *session,
					      struct sampled_process *sampled, pid_t tid)
{
	struct sampled_thread *thread = map_get(&sampled->threads, (uint64_t)tid);

	if (!thread) {
		thread = sampled_thread_create(session->target.tracees, sampled->process, tid);
		map_put(&sampled->threads, (uint64_t)tid, thread);
	}
	return thread;
}

bool sampled_process_is_same(const struct sampled_process *sampled)
{
	return sampled->program == program_of(sampled->pid);
}
