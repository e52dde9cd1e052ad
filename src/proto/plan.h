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
	unsigned array_max;  /* -A: elements of an array, and levels of nested objects */
	/* What has to hold for a record to be made; copied. */
	const struct condition_op *condition;
	unsigned condition_count;
};

/*
 * Never fails: parameters beyond CAPTURE_ARGS_MAX are left out. The caller frees the plan with
 * plan_destroy(). A plan does not refer to the prototype.
 *
 * The entry operations capture the parameters before the first '+'. The exit operations capture the
 * result (none for void), then the parameters from the first '+' on. Hidden parameters have no
 * operation. The renderer relies on exactly this order.
 */
struct capture_plan *plan_create(const struct prototype *prototype, const struct abi *abi,
				 const struct plan_limits *limits);
void plan_destroy(struct capture_plan *plan);

/* Makes a plan that captures nothing, for -c. */
struct capture_plan *plan_create_empty(void);

#endif
