/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many processors there are, and whether they have work: proc(5), /proc/loadavg. */
#include "tracee/processors.h"

#include <sched.h>
#include <stdio.h>

int processors_count(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 2;
}

bool processors_one_is_idle(void)
{
	FILE *file = fopen("/proc/loadavg", "re");
	int running;

	if (!file)
		return false;
	/* The fourth field begins with the number of threads that could run, this one included. */
	const int fields = fscanf(file, "%*s %*s %*s %d", &running);

	fclose(file);
	return fields == 1 && running < processors_count();
}
