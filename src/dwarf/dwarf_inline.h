/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the functions that were inlined at an address: see dwarf_inline.c. */
#ifndef TRACER_DWARF_DWARF_INLINE_H
#define TRACER_DWARF_DWARF_INLINE_H

#include "dwarf/dwarf_private.h"

enum { INLINED_MAX = 64 }; /* functions that are inlined in each other */

/* A call that is not there, since the function's code is. */
struct inlined_call {
	const char *function; /* as index_symbol_name() returns it; NULL: not known */
	uint64_t file; /* where the call is written: the number of the file in the line table */
	unsigned line; /* 0: not known */
};

/*
 * Finds the functions that were inlined at `address` in the unit with the header at `header`; code:
 * what ranges_learn() says of the unit. The first one is in the function whose code it is, the next
 * one in the first one, and so on. Returns how many; 0 if there are more than INLINED_MAX.
 */
unsigned inline_find(struct dwarf_reader *reader, uint64_t header, const struct unit_code *code,
		     uint64_t address, struct inlined_call calls[INLINED_MAX]);

#endif
