/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where a parameter is at the first instruction of its function, by its location expression
 * or location list: see dwarf_place.c.
 */
#ifndef TRACER_DWARF_DWARF_PLACE_H
#define TRACER_DWARF_DWARF_PLACE_H

#include "dwarf/dwarf_private.h"

/* Fills all fields of *place except `parameter`. */
void place_find(const struct die *parameter, const struct beginning *beginning,
		struct call_place *place);

#endif
