/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes conditions that are decided where a call is caught: see expression_compile.c. */
#ifndef TRACER_PROBE_EXPRESSION_COMPILE_H
#define TRACER_PROBE_EXPRESSION_COMPILE_H

#include "probe/expression.h"
#include "proto/prototype.h"
#include "record/condition.h"

struct condition {
	struct condition_op ops[CONDITION_OPS];
	unsigned count; /* 0: it always holds */
};

/*
 * Makes the condition that holds whenever the expression does, for calls of functions with this
 * prototype.
 */
void expression_compile(const struct expression *expression, const struct prototype *prototype,
			struct condition *condition);

#endif
