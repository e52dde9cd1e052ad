/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the entry of a function by address or name, without reading all debug information: see
 * dwarf_index.c.
 */
#ifndef TRACER_DWARF_DWARF_INDEX_H
#define TRACER_DWARF_DWARF_INDEX_H

#include "dwarf/dwarf_private.h"

/*
 * Returns the entry of the function that begins at `address` and has the symbol `name` or an alias
 * of that symbol. Returns none if the entry cannot be chosen for certain.
 */
struct die index_find_function(struct dwarf_reader *reader, uint64_t address, const char *name);
/* Returns the entry of the declaration with that name, or none. */
struct die index_find_declaration(struct dwarf_reader *reader, const char *name);
void index_deinit(struct dwarf_reader *reader);

#endif
