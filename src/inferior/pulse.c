/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See pulse.h.
 *
 * A read may take long for good reasons: 64 pages that come from a busy swap device, a machine that
 * has no time for the tracer. So it is not enough that it is the same read as before. The thread
 * must be asleep, and must have slept since the look before: each page that comes wakes it, which
 * the kernel counts as a switch of its own will. With a FUSE server that has taken the request, the
 * sleep is an interruptible one ("S").
 */
#include "inferior/pulse.h"

#include "inferior/proc.h"

#include <stddef.h>
#include <sys/mman.h>

struct pulse *pulse_create(void)
{
	void *page = mmap(NULL, sizeof(struct pulse), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

void pulse_destroy(struct pulse *pulse)
{
	if (pulse)
		munmap(pulse, sizeof *pulse);
}

unsigned pulse_look(const struct pulse *pulse, struct pulse_look *look, pid_t tracer)
{
	unsigned beats = atomic_load_explicit(&pulse->beats, memory_order_relaxed);
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
