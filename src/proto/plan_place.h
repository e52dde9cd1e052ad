/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the places of parameters and results by the calling conventions: see plan_place.c. */
#ifndef TRACER_PROTO_PLAN_PLACE_H
#define TRACER_PROTO_PLAN_PLACE_H

#include "proto/plan_private.h"

void plan_place_parameter(struct placement *placement, const struct type *type,
			  struct object_place *place);
/*
 * Finds the place of a result that is a struct. If it is in memory, its address is the first
 * parameter: see plan_place_hidden().
 */
void plan_place_result(const struct abi *abi, const struct type *type, struct object_place *place);
/* Uses up the place of the hidden parameter: the address for the result. */
void plan_place_hidden(struct placement *placement);

#endif
