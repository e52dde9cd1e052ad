/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The watchdog shows the guardian whether the tracer has been inside one read or write of a
 * tracee's memory for too long. The tracing thread counts in a page that it shares with the
 * guardian.
 *
 * resident.h checks pages before they are read. If a page is gone between check and read, the
 * tracing thread blocks in the kernel, and only a SIGKILL from another process ends that.
 */
#ifndef TRACER_TRACEE_WATCHDOG_H
#define TRACER_TRACEE_WATCHDOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct watchdog {
	atomic_uint beats; /* odd: inside an access */
	atomic_int tid;	   /* whose memory is accessed, 0: a thread that is gone */
};

/* Returns NULL if there can be none. Must be called before the guardian is forked. */
struct watchdog *watchdog_create(void);
void watchdog_destroy(struct watchdog *watchdog);

/* For the tracing thread, around each access. `watchdog` may be NULL in enter and leave. */
static inline void watchdog_beat(struct watchdog *watchdog)
{
	unsigned beats = atomic_load_explicit(&watchdog->beats, memory_order_relaxed);

	atomic_store_explicit(&watchdog->beats, beats + 1, memory_order_relaxed);
}

static inline void watchdog_enter(struct watchdog *watchdog, pid_t tid)
{
	if (!watchdog)
		return;
	atomic_store_explicit(&watchdog->tid, tid, memory_order_relaxed);
	watchdog_beat(watchdog);
}

static inline void watchdog_leave(struct watchdog *watchdog)
{
	if (watchdog)
		watchdog_beat(watchdog);
}

/* The state seen by the last check. Initially zero. */
struct watchdog_check {
	unsigned beats;
	long switches;
	unsigned number; /* checks in a row that have found the same state */
};

/*
 * Checks once more. Returns how many checks in a row, including this one, have found the tracer
 * asleep in the same access, without having been awake in between. `tracer`: its pid, which is also
 * the tid of the tracing thread.
 */
unsigned watchdog_check(const struct watchdog *watchdog, struct watchdog_check *look, pid_t tracer);

#endif
