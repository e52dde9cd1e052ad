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
/*
 * Returns the entry of the function around `address` in the unit with the header at `header`, or
 * none.
 */
struct die index_find_code(struct dwarf_reader *reader, uint64_t header, uint64_t address);
/*
 * Returns the name of a function's symbol: the linkage name of the entry, of what it is an instance
 * of, or of its declaration; if none of them has one, the source name. NULL: it has none.
 */
const char *index_symbol_name(const struct die *function);
void index_deinit(struct dwarf_reader *reader);

#endif
