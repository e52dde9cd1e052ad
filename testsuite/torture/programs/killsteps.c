/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To be preloaded into the tracer: sends it SIGKILL so many of its requests of ptrace(2) behind one of its
 * single steps. Both numbers are in the environment, the second of the step: KILL_BEHIND_STEP="REQUESTS STEP".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <unistd.h>

typedef long request_function(enum __ptrace_request request, pid_t pid, void *address, void *data);

static long requests, steps;
static pid_t tracer;

__attribute__((constructor)) static void begin(void)
{
	const char *numbers = getenv("KILL_BEHIND_STEP");
	char *end = NULL;

	requests = numbers ? strtol(numbers, &end, 10) : 0;
	steps = numbers ? strtol(end, NULL, 10) : 0;
	tracer = getpid();
}

/* Not its guardian, which has it, too. */
static void count(enum __ptrace_request request)
{
	if (getpid() != tracer)
		return;
	if (steps > 0)
		steps -= request == PTRACE_SINGLESTEP;
	else if (requests-- == 0)
		kill(tracer, SIGKILL);
}

long ptrace(enum __ptrace_request request, ...)
{
	request_function *next = (request_function *)dlsym(RTLD_NEXT, "ptrace");
	va_list rest;

	va_start(rest, request);
	pid_t pid = va_arg(rest, pid_t);
	void *address = va_arg(rest, void *);
	void *data = va_arg(rest, void *);

	va_end(rest);
	count(request);
	return next(request, pid, address, data);
}
