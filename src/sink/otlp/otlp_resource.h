/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Host and process, as OpenTelemetry describes what spans come from: see otlp_resource.c. */
#ifndef TRACER_SINK_OTLP_OTLP_RESOURCE_H
#define TRACER_SINK_OTLP_OTLP_RESOURCE_H

#include "base/vec.h"
#include "sink/render/outbuf.h"

struct otlp_pair {
	char *key, *value; /* owned */
};

/* What all processes have in common. */
struct otlp_resource {
	struct vec pairs; /* struct otlp_pair: what the environment asks for */
	char host[256];
};

/* Reads the environment. What is wrong in it is reported, and left out. */
void otlp_resource_init(struct otlp_resource *resource);
void otlp_resource_deinit(struct otlp_resource *resource);

/*
 * Parses "KEY=VALUE,KEY=VALUE", with %XX in the values, and appends struct otlp_pair to a vec.
 * Returns 0; or -EINVAL for anything else, and appends nothing.
 */
int otlp_resource_parse(const char *text, struct vec *pairs);
/* Frees the pairs and the vec. */
void otlp_resource_free(struct vec *pairs);

/* Writes {"attributes":[…]} for a process; `name`: the kernel's (comm), or "". */
void otlp_resource_put(struct outbuf *out, const struct otlp_resource *resource, int32_t pid,
		       const char *name);

#endif
