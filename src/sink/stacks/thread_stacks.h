/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of --stacks: a process, its threads, what each does, and its stack. */
#ifndef TRACER_SINK_STACKS_THREAD_STACKS_H
#define TRACER_SINK_STACKS_THREAD_STACKS_H

#include "sink/render/outbuf.h"
#include "sink/sink.h"

enum thread_activity {
	ACTIVITY_RUNS,	  /* on a processor, or ready for one */
	ACTIVITY_CALL,	  /* waits in a system call */
	ACTIVITY_WAITS,	  /* waits and does not stop (state D of ps(1)), perhaps in a system call */
	ACTIVITY_STOPPED, /* in a group-stop (SIGSTOP, ^Z) */
	ACTIVITY_SIGNAL	  /* was killed by a signal: a core dump */
};

/* What is shown of a thread. The caller owns all of it. */
struct thread_stack {
	int32_t tid;
	const char *name; /* the kernel's (comm); "": not known */
	enum thread_activity activity;
	/*
	 * A record of the entry of the system call that it was in, and one of its return, in which
	 * what the call will fill in is not filled in. NULL: not known, or none.
	 */
	const struct record *entry, *unfilled;
	/* ACTIVITY_SIGNAL: the signal's number, and the address of the fault if `has_fault`. */
	int32_t signal;
	bool has_fault;
	uint64_t fault;
	uint32_t stack; /* number in the stack table; 0: nothing is known */
};

/* "process PID (NAME), N threads" */
void thread_stacks_put_process(struct outbuf *out, int32_t pid, const char *name, size_t threads);
/* "core FILE of process PID (NAME), N threads" */
void thread_stacks_put_core(struct outbuf *out, const char *file, int32_t pid, const char *name,
			    size_t threads);
/* "thread TID (NAME) …", and its frames in lines below. */
void thread_stacks_put(struct outbuf *out, const struct sink_target *target,
		       const struct thread_stack *thread);

#endif
