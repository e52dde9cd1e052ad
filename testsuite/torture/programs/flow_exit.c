/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls where a program begins and ends: constructors and destructors of libraries that are loaded and
 * unloaded, handlers of atexit and on_exit, exit from deep inside, destructors at the end. libflow's own
 * destructor, the last one, tells the numbers.
 */
#include "flow.h"

#include <dlfcn.h>

static void at_exit(void)
{
	flow_sum = flow_mix(flow_sum, COUNT(add)(1, 1));
}

static void on_end(int status, void *argument)
{
	flow_sum = flow_mix(flow_sum, COUNT(add)(status, (long)argument));
}

static __attribute__((destructor)) void destruct(void)
{
	flow_sum = flow_mix(flow_sum, COUNT(add)(3, 3));
}

static __attribute__((constructor)) void construct(void)
{
	if (getenv("FLOW_FROM_THE_START"))
		flow_sum = flow_mix(flow_sum, COUNT(add)(4, 4));
}

static void leave(void *status)
{
	exit((int)(long)status);
}

static void deeper(void *status)
{
	COUNT(call)(leave, status); /* neither returned nor unwound: it is still running at the end */
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 3;

	flow_ready();
	atexit(at_exit);
	on_exit(on_end, (void *)2);
	for (int i = 0; i < rounds; i++) {
		void *plugin = dlopen(argv[1], RTLD_NOW);

		if (!plugin)
			return 99;
		flow_sum = flow_mix(flow_sum, COUNT(add)(i, 5));
		if (i < rounds - 1) /* the last one is unloaded by exit */
			dlclose(plugin);
	}
	flow_report_last = 1;
	COUNT(call)(deeper, (void *)10);
	return 98;
}
