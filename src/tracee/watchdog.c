/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See watchdog.h.
 *
 * A read may take long for good reasons: 64 pages from a busy swap device, or a machine without
 * time for the tracer. So finding the same access twice is not enough. The thread must be asleep,
 * and must not have been awake since the last check: each page that arrives wakes it, which the
 * kernel counts as a voluntary context switch. With a FUSE server that has taken the request, the
 * sleep is interruptible ("S").
 */
#include "tracee/watchdog.h"

#include "tracee/proc.h"

#include <stddef.h>
#include <sys/mman.h>

struct watchdog *watchdog_create(void)
{
	void *page = mmap(NULL, sizeof(struct watchdog), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

void watchdog_destroy(struct watchdog *watchdog)
{
	if (watchdog)
		munmap(watchdog, sizeof *watchdog);
}

unsigned watchdog_check(const struct watchdog *watchdog, struct watchdog_check *look, pid_t tracer)
{
	unsigned beats = atomic_load_explicit(&watchdog->beats, memory_order_relaxed);
	long switches;
	char state;

	if (beats % 2 == 0) {
		look->number = 0;
		return 0;
	}
	switches = proc_status_number(tracer, "voluntary_ctxt_switches");
	state = proc_state(tracer);
	if (beats != look->beats || switches != look->switches)
		look->number = 0;
	look->beats = beats;
	look->switches = switches;
	if (state == 'D' || state == 'S')
		look->number++;
	else
		look->number = 0;
	return look->number;
}
