/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for the next stop of any task: by sleeping or by polling, whichever has been faster. */
#ifndef TRACER_TRACEE_WAITING_H
#define TRACER_TRACEE_WAITING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Measured costs of both ways. Initially zero. */
struct waiting {
	uint64_t cost[2]; /* running mean of short waits, in ns: sleeping, polling */
	unsigned count;	  /* number of short waits so far */
	unsigned idle;	  /* number of long waits in a row, at most IDLE_MAX */
};

/*
 * Waits for any task, as waitpid(2): its tid and *status; 0 if `block` is false and no status is
 * there; -errno. A stop at a signal is not collected: it is reported again until the task is
 * resumed or waiting_take() is called, so one of both must be done before the next wait.
 */
pid_t waiting_next(struct waiting *waiting, bool block, int *status);

/* Returns true if waiting_next() would return a status without blocking. */
bool waiting_is_due(void);

/* Like waiting_next(), for one task, without blocking. On error -1 with errno. */
pid_t waiting_poll(pid_t tid, int *status);

/*
 * Collects a stop at a signal. If the tracer dies before it resumes the task, the signal is lost.
 * *status is what was collected: an end, if the task was killed meanwhile. Returns false if there
 * was nothing.
 */
bool waiting_take(pid_t tid, int *status);

#endif
