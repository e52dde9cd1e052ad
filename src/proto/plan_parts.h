/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the parts of objects (record/capture.h) from their types: see plan_parts.c. */
#ifndef TRACER_PROTO_PLAN_PARTS_H
#define TRACER_PROTO_PLAN_PARTS_H

#include "proto/plan_private.h"

void plan_parts_init(struct plan_parts *parts, unsigned word, unsigned arg_count);
void plan_parts_deinit(struct plan_parts *parts);
/*
 * Adds the part for what a value of this type is, or points to (a struct; a pointer with a target).
 * Returns the index of the part, or PLAN_NO_PART if there are too many.
 */
uint16_t plan_parts_add(struct plan_parts *parts, const struct type *type);

#endif
