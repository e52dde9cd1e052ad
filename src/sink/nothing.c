/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sink that stands where lines would be if they were asked for. */
#include "sink/nothing.h"

#include "base/xalloc.h"

#include <stdlib.h>

static int take(struct sink *sink, const struct record *record)
{
	(void)sink;
	(void)record;
	return 0;
}

static int end(struct sink *sink)
{
	(void)sink;
	return 0;
}

static void destroy(struct sink *sink)
{
	free(sink);
}

static const struct sink_ops nothing_ops = {
	.record = take, .flush = end, .finish = end, .destroy = destroy};

struct sink *nothing_sink_create(const struct sink_target *target)
{
	struct sink *sink = xcalloc(1, sizeof *sink);

	(void)target;
	sink->ops = &nothing_ops;
	return sink;
}
