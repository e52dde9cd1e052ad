/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of a tracee that are not in memory are brought in by somebody: its file system, or with
 * userfaultfd(2) a process. That somebody may never answer, and whoever touches the page then waits
 * until it is killed. So an expendable process touches such pages first, and is killed when it
 * takes too long.
 */
#ifndef TRACER_INFERIOR_PREFAULT_H
#define TRACER_INFERIOR_PREFAULT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	PREFAULT_PAGES_MAX = 64,   /* in one request */
	PREFAULT_LIMIT_MS = 1000,  /* how long a page is waited for */
	PREFAULT_BUDGET_MS = 2000, /* what pages that never come may cost at once */
	PREFAULT_LEAST_MS = 20	   /* how long a page is waited for when the budget is spent */
};

struct prefault;

/* Starts nothing yet. */
struct prefault *prefault_create(void);
/*
 * Makes the expendable process now. It is a fork, which takes the longer the more this process
 * holds, and makes its writes slower for a while: best done while nothing waits for it. What fails
 * is tried again by the first request.
 */
void prefault_start(struct prefault *prefault);
/* Ends the expendable process, but does not wait for one that cannot even be killed. */
void prefault_destroy(struct prefault *prefault); /* NULL is fine */

/*
 * Has `count` pages of the memory of task `tid` read, at ascending addresses from `address` on.
 * Returns how many of them from the first on can be read, and are there now; 0 when the first one
 * cannot be. -ETIMEDOUT: it did not come in time; -EBUSY: too many processes wait for pages already
 * and cannot be killed; -ESRCH: no such task; another -errno: this process may not read that
 * memory, or there is none to be had.
 */
int prefault_pages(struct prefault *prefault, pid_t tid, uint64_t address, size_t count);

#endif
