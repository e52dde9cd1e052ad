/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaching to the processes of -p.
 *
 * A list of processes is old when it is used: a server's workers end every second. A process that
 * cannot be attached to is named, with the reason, and the others are traced. strace(1) does the
 * same. If none can be attached to, that is an error.
 */
#include "session/attaching.h"

#include "base/diag.h"
#include "base/xalloc.h"
#include "inferior/guardian.h"
#include "inferior/proc.h"
#include "session/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	free(why);
	return error;
}

int attaching_start(struct session *session)
{
	const struct session_options *options = session->options;
	int first_error = 0;

	for (size_t i = 0; i < options->pid_count; i++)
		if (options->pids[i] != getpid())
			prepare_process(session, options->pids[i]);
	for (size_t i = 0; i < options->pid_count; i++) {
		int error = attach(session, options->pids[i]);

		session->unattached += error != 0;
		if (!first_error)
			first_error = error;
	}
	return options->command || session->unattached < options->pid_count ? 0 : first_error;
}
