/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command as a job of a shell.
 *
 * Ctrl-Z sends SIGTSTP to the tracer and to the command. The shell knows the tracer only, and takes
 * the terminal back when the tracer stops. If the tracer stopped at once, the command would stay in
 * a ptrace stop for its own SIGTSTP, whatever it does about that signal: a command that ignores
 * SIGTSTP would not run on, and one that catches it would do so only after `fg`, and then stop
 * without the shell noticing. So the tracer lets the command handle the signal, and stops when the
 * command has stopped. SIGTTIN and SIGTTOU, for a job that uses the terminal from the background,
 * are treated alike.
 *
 * SIGCONT goes to both again. A user who stops the command alone (kill -STOP) also continues it
 * alone; the tracer has to be running then, and does not stop.
 */
#include "session/job_control.h"

#include "session/live_view.h"
#include "session/session_state.h"
#include "tracee/proc.h"

#include <signal.h>
#include <unistd.h>

/* Stops the tracer until it gets SIGCONT. */
static void stop_self(struct session *session, int signal)
{
	sigset_t set;

	session->stop_wanted = 0;
	emission_flush(session);
	live_view_suspend(session);
	sigemptyset(&set);
	sigaddset(&set, signal);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(signal);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	live_view_resume(session);
}

static void note_group_stop(struct thread *thread, void *found)
{
	*(bool *)found |= thread->stop == STOP_GROUP;
}

static bool is_ignored(const struct process *command, int signal)
{
	uint64_t ignored;
	uint64_t caught;

	return proc_signals(command->pid, &ignored, &caught) && ignored >> (signal - 1) & 1;
}

void job_asked_to_stop(struct session *session, struct process *command, int signal,
		       bool from_terminal)
{
	bool stopped = false;

	if (!command || (from_terminal && getpgid(command->pid) != getpgrp())) {
		stop_self(session, signal);
		return;
	}
	if (!from_terminal)
		kill(command->pid, signal);
	process_each_thread(command, note_group_stop, &stopped);
	if (stopped)
		stop_self(session, signal);
	else if (!is_ignored(command, signal))
		session->stop_wanted = signal;
}

void job_stopped(struct session *session, const struct process *process)
{
	if (session->stop_wanted && process->launched)
		stop_self(session, session->stop_wanted);
}
