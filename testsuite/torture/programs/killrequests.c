/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To be preloaded into the tracer: sends it SIGKILL so many of its requests of ptrace(2) behind one of a kind. The kind
 * and two numbers are in the environment, the second of the one of that kind: KILL_BEHIND="step REQUESTS STEP", or "set"
 * for requests that set registers or a mask; there it rests first, so that something can happen meanwhile.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

typedef long request_function(enum __ptrace_request request, pid_t pid, void *address, void *data);

enum { REST_NS = 3000000 };

static char kind[8];
static long requests, times;
static pid_t tracer;

__attribute__((constructor)) static void begin(void)
{
	const char *told = getenv("KILL_BEHIND");

	if (!told || sscanf(told, "%7s %ld %ld", kind, &requests, &times) != 3)
		abort();
	tracer = getpid();
}

static bool is_of_kind(enum __ptrace_request request)
{
	if (!strcmp(kind, "step"))
		return request == PTRACE_SINGLESTEP;
	return request == PTRACE_SETREGS || request == PTRACE_SETREGSET || request == PTRACE_SETSIGMASK;
}

/* Not its guardian, which has it, too. */
static void count(enum __ptrace_request request)
{
	if (getpid() != tracer)
		return;
	if (times > 0) {
		times -= is_of_kind(request);
	} else if (requests-- == 0) {
		if (!strcmp(kind, "set"))
			nanosleep(&(struct timespec){0, REST_NS}, NULL);
		kill(tracer, SIGKILL);
	}
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
