/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the prototype of a function of Go from its entry: see dwarf_go.c. */
#ifndef TRACER_DWARF_DWARF_GO_H
#define TRACER_DWARF_DWARF_GO_H

#include "dwarf/dwarf_private.h"

/*
 * Writes the prototype of a function of Go with code at `address`. Returns 0, -ENOTSUP
 * or -EPROTOTYPE, like dwarf_reader_go().
 */
int go_describe(const struct die *function, const struct die *unit, uint64_t address,
		struct strbuf *text);

#endif
