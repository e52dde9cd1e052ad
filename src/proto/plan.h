/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiles a prototype into a capture plan for one ABI. */
#ifndef TRACER_PROTO_PLAN_H
#define TRACER_PROTO_PLAN_H

#include "base/arch.h"
#include "proto/prototype.h"
#include "record/capture.h"

/* How much is captured. */
struct plan_limits {
	unsigned string_max; /* -s: bytes of a string */
	unsigned array_max;  /* -A: elements of an array, and objects in one another */
};

/*
 * Never fails: what has no place in a plan (a parameter beyond CAPTURE_ARGS_MAX) is left out. Free
 * with plan_destroy(). A plan does not refer to the prototype.
 *
 * Entry operations cover the parameters before the first '+'; exit operations the result (none for
 * void), then the parameters from the first '+' on; none of them what is hidden. The renderer
 * relies on exactly this order.
 */
struct capture_plan *plan_create(const struct prototype *prototype, const struct abi *abi,
				 const struct plan_limits *limits);
void plan_destroy(struct capture_plan *plan);

/* A plan that captures nothing at all: what -c needs. */
struct capture_plan *plan_create_empty(void);

#endif
