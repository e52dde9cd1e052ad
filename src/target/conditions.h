/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conditions (--if) and the functions that are named: see conditions.c. */
#ifndef TRACER_TARGET_CONDITIONS_H
#define TRACER_TARGET_CONDITIONS_H

#include "target/target_state.h"

/*
 * Returns -EINVAL, after a message with the column, if --if cannot hold for any of the functions
 * that -x names; 0 if it may. To be called when the prototypes are known, before tracing begins.
 */
int conditions_check(const struct target *target);

#endif
