/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether an expression can have a value in the calls of a function: see expression_fit.c. */
#ifndef TRACER_PROBE_EXPRESSION_FIT_H
#define TRACER_PROBE_EXPRESSION_FIT_H

#include "probe/expression.h"
#include "probe/probe.h"

/*
 * Returns true if the expression fits functions of this kind with this prototype. Otherwise stores
 * why not in *error, unless `error` is NULL.
 */
bool expression_fits(const struct expression *expression, enum probe_kind kind,
		     const struct prototype *prototype, struct expression_error *error);

#endif
