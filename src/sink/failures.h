/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which calls have failed: see failures.c. */
#ifndef TRACER_SINK_FAILURES_H
#define TRACER_SINK_FAILURES_H

#include "base/map.h"
#include "sink/call_values.h"

/* What was parsed. Begin with zeros. */
struct failures {
	struct map parsed; /* text of `fails` → struct expression * */
};

void failures_deinit(struct failures *failures);

/* Returns true if the call has failed. An expression that cannot be parsed is reported, once. */
bool failures_has_failed(struct failures *failures, struct call_values *values);

#endif
