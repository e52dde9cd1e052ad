/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A page of a tracee that is not in memory has to be provided by its file system or, with
 * userfaultfd(2), by a process. Either may never answer, and a thread that touches the page then
 * waits until it is killed. So an expendable process touches such pages first, and is killed if it
 * takes too long.
 */
#ifndef TRACER_TRACEE_PREFAULT_H
#define TRACER_TRACEE_PREFAULT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	PREFAULT_PAGES_MAX = 64,   /* in one request */
	PREFAULT_LIMIT_MS = 1000,  /* time limit for a page */
	PREFAULT_BUDGET_MS = 2000, /* what waiting in vain may cost in one go */
	PREFAULT_LEAST_MS = 20	   /* time limit when the budget is spent */
};

struct prefault;

/* Does not start the process yet. */
struct prefault *prefault_create(void);
/*
 * Starts the expendable process now. That is a fork, which takes the longer the more memory the
 * tracer has, and slows down its writes for a while: best done while the tracee runs. If it fails,
 * the first request tries again.
 */
void prefault_start(struct prefault *prefault);
/* Ends the expendable process. Does not wait for one that cannot even be killed. */
void prefault_destroy(struct prefault *prefault); /* NULL is allowed */

/*
 * Reads `count` pages of the memory of task `tid`, from `address` upward. Returns how many pages at
 * the beginning are readable, and present now; 0 if the first one is not. -ETIMEDOUT: a page did
 * not come in time. -EBUSY: too many processes that cannot be killed wait for pages already.
 * -ESRCH: no such task. Another -errno: the process may not read that memory, or cannot be started.
 */
int prefault_pages(struct prefault *prefault, pid_t tid, uint64_t address, size_t count);

#endif
