/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the places of parameters and results of Go's compiler since Go 1.17
 * (cmd/compile/abi-internal.md in Go's sources): see plan_go.c.
 */
#ifndef TRACER_PROTO_PLAN_GO_H
#define TRACER_PROTO_PLAN_GO_H

#include "proto/plan_private.h"

/* Finds places by Go's convention, where results are placed like parameters. */
void plan_place_go(struct placement *placement, const struct type *type,
		   struct object_place *place);

#endif
