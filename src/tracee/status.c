/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes wait statuses. Separate from the wait loop, as it needs no tables and no ptrace requests.
 */
#include "tracee/status.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

static struct stop_status decode_event(int event, int signal)
{
	switch (event) {
	case PTRACE_EVENT_STOP:
		/* A group-stop has its signal here; every other PTRACE_EVENT_STOP has SIGTRAP. */
		return (struct stop_status){signal == SIGTRAP ? STOP_TRAP : STOP_GROUP, signal};
	case PTRACE_EVENT_CLONE:
		return (struct stop_status){STOP_CLONE, 0};
	case PTRACE_EVENT_FORK:
		return (struct stop_status){STOP_FORK, 0};
	case PTRACE_EVENT_VFORK:
		return (struct stop_status){STOP_VFORK, 0};
	case PTRACE_EVENT_EXEC:
		return (struct stop_status){STOP_EXEC, 0};
	case PTRACE_EVENT_EXIT:
		return (struct stop_status){STOP_ENDING, 0};
	default:
		return (struct stop_status){STOP_OTHER, 0};
	}
}

bool stop_is_end(enum stop_kind kind)
{
	return kind == STOP_ENDING || kind == STOP_EXITED || kind == STOP_KILLED;
}

bool stop_ends_program(enum stop_kind kind)
{
	return stop_is_end(kind) || kind == STOP_EXEC;
}

int stop_status_trap(void)
{
	return PTRACE_EVENT_STOP << 16 | SIGTRAP << 8 | 0x7f;
}

struct stop_status stop_status_decode(int wait_status)
{
	if (WIFEXITED(wait_status))
		return (struct stop_status){STOP_EXITED, WEXITSTATUS(wait_status)};
	if (WIFSIGNALED(wait_status))
		return (struct stop_status){STOP_KILLED, WTERMSIG(wait_status)};
	int signal = WSTOPSIG(wait_status);
	int event = wait_status >> 16;

	/*
	 * PTRACE_O_TRACESYSGOOD sets this bit, which no signal has. Without the option the stop
	 * would look like a SIGTRAP, and the kernel would send the thread a SIGTRAP if the tracer
	 * dies at that moment.
	 */
	if (!event && signal == (SIGTRAP | 0x80))
		return (struct stop_status){STOP_SYSCALL, 0};
	return event ? decode_event(event, signal) : (struct stop_status){STOP_SIGNAL, signal};
}
