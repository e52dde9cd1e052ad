/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out whether debug information describes types at all: see dwarf_detail.c. */
#ifndef TRACER_DWARF_DWARF_DETAIL_H
#define TRACER_DWARF_DWARF_DETAIL_H

#include "dwarf/dwarf_private.h"

/*
 * Returns true if the debug information describes the types of a function. Else only the function's
 * name is known, and an entry without result and parameters does not mean that the function has
 * none. `unit` is the first entry of the unit that has the function, or an instance of it.
 */
bool detail_is_told(const struct die *function, const struct die *unit);

#endif
