/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expressions of options and the functions that are named: see conditions.c. */
#ifndef TRACER_TARGET_CONDITIONS_H
#define TRACER_TARGET_CONDITIONS_H

#include "target/target_state.h"

/*
 * Returns -EINVAL, after a message with the column, if --if, --sum or --by has an expression that
 * fits none of the functions that -x names; 0 otherwise. To be called when the prototypes are
 * known, before tracing begins.
 */
int conditions_check(const struct target *target);

#endif
