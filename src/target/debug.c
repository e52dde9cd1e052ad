/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What -D shows: lines on standard error about what the tracer does, by domain. */
#include "target/debug.h"

#include "base/diag.h"
#include "target/target_state.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE_MAX_BYTES = 1024 };

static const char *domain_name(unsigned domain)
{
	switch (domain) {
	case DEBUG_MODULES:
		return "modules";
	case DEBUG_EVENTS:
		return "events";
	case DEBUG_PROCESSES:
		return "processes";
	default:
		return "functions";
	}
}

bool debug_wanted(const struct target *target, unsigned domain)
{
	const struct session_options *options = target->options;

	return ((options->debug | (options->verbose ? DEBUG_FUNCTIONS : 0)) & domain) != 0;
}

void debug_say(const struct target *target, unsigned domain, const char *format, ...)
{
	char line[LINE_MAX_BYTES];
	va_list arguments;

	if (!debug_wanted(target, domain))
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	diag("[%s] %s", domain_name(domain), line);
}

void debug_stop(const struct target *target, const struct stop *stop)
{
	static const char *const kinds[] = {
		[STOP_SIGNAL] = "signal",      [STOP_GROUP] = "group-stop",
		[STOP_TRAP] = "interrupted",   [STOP_CLONE] = "clone",
		[STOP_FORK] = "fork",	       [STOP_VFORK] = "vfork",
		[STOP_EXEC] = "exec",	       [STOP_OTHER] = "other event",
		[STOP_ENDING] = "ending",      [STOP_SYSCALL] = "system call",
		[STOP_EXITED] = "exit status", [STOP_KILLED] = "killed by signal",
	};
	struct regs regs = {.pc = 0};

	if (!debug_wanted(target, DEBUG_EVENTS) || !stop->thread)
		return;
	/* A thread that is gone has no registers. */
	if (regs_load(stop->thread->tid, &regs) < 0)
		regs.pc = 0;
	debug_say(target, DEBUG_EVENTS, "task %d of process %d: %s %d, message %lu, pc 0x%llx%s",
		  (int)stop->thread->tid, (int)stop->thread->process->pid, kinds[stop->kind],
		  stop->signal, stop->message, (unsigned long long)regs.pc,
		  stop->first ? ", its first stop" : "");
}

void debug_record(const struct target *target, const struct record *record)
{
	const char *what = NULL;

	if (!debug_wanted(target, DEBUG_PROCESSES)) /* checked first: called for each record */
		return;
	if (record->kind == RECORD_THREAD)
		what = "is traced";
	else if (record->kind == RECORD_THREAD_END)
		what = "has ended";
	else if (record->kind == RECORD_EXEC)
		what = "runs another program";
	else if (record->kind == RECORD_EXITED)
		what = "has exited with status";
	else if (record->kind == RECORD_KILLED)
		what = "was killed by signal";
	if (record->kind == RECORD_EXITED || record->kind == RECORD_KILLED)
		debug_say(target, DEBUG_PROCESSES, "process %d %s %lld", record->pid, what,
			  (long long)record->number);
	else if (what)
		debug_say(target, DEBUG_PROCESSES, "task %d of process %d %s", record->tid,
			  record->pid, what);
}
