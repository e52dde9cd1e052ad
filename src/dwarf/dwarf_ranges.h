/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the unit that has the code at an address: see dwarf_ranges.c. */
#ifndef TRACER_DWARF_DWARF_RANGES_H
#define TRACER_DWARF_DWARF_RANGES_H

#include "dwarf/dwarf_private.h"

/* Visits the ranges of code of an entry, in the order of the debug information. */
void ranges_visit(const struct die *die, const struct unit_code *code, code_visitor *visit,
		  void *context);
/* Finds units that have the code at `address`, UNITS_AT_ONCE_MAX at most. Returns their number. */
unsigned ranges_find_units(struct dwarf_reader *reader, uint64_t address,
			   uint64_t headers[UNITS_AT_ONCE_MAX]);

#endif
