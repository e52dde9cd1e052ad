/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls libflow when it is loaded and when it is unloaded. */
#include "flow.h"

static void inner(void *unused)
{
	flow_sum = flow_mix(flow_sum, COUNT(add)(6, 6));
}

static __attribute__((constructor)) void construct(void)
{
	COUNT(call)(inner, NULL);
}

static __attribute__((destructor)) void destruct(void)
{
	flow_sum = flow_mix(flow_sum, COUNT(add)(7, 7));
}
