/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting for the next stop of any task, in the way that has been the quicker one. */
#ifndef TRACER_INFERIOR_WAITING_H
#define TRACER_INFERIOR_WAITING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What is known about both ways. Zero-initialised: nothing yet. */
struct waiting {
	uint64_t cost[2]; /* running mean of short waits, ns: sleeping, looking */
	unsigned count;	  /* short waits so far */
	unsigned idle;	  /* long waits in a row, up to a bound */
};

/*
 * waitpid(2) for any task: its tid and *status; 0 when `block` is false and there is nothing;
 * -errno. A stop at a signal stays to be waited for until the task is resumed or waiting_take()
 * is called, so one or the other must be done before the next wait.
 */
pid_t waiting_next(struct waiting *waiting, bool block, int *status);

/* Whether a task has stopped or ended, and waits for waiting_next(). */
bool waiting_is_due(void);

/* The same for one task that belongs to the caller, without blocking. */
pid_t waiting_poll(pid_t tid, int *status);

/*
 * Takes a stop at a signal, which is lost should the tracer die before the task is resumed. What
 * was taken, as the task may have been killed meanwhile; false if nothing was.
 */
bool waiting_take(pid_t tid, int *status);

#endif
