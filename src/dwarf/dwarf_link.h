/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes pointers to structs of the debug information as types of .conf files: see dwarf_link.c. */
#ifndef TRACER_DWARF_DWARF_LINK_H
#define TRACER_DWARF_DWARF_LINK_H

#include "dwarf/dwarf_private.h"

/*
 * Pointers to structs. Both functions add a mark that stands for a pointer to
 * `target`: link_add() inside of an object, link_add_root() for a parameter or the result.
 * links_resolve() must replace the marks in the end. They return false, with nothing added, if the
 * pointer is to be written as an address.
 */
bool link_add(struct type_writer *writer, const struct die *target);
bool link_add_root(struct type_writer *writer, const struct die *target);
/* Replaces the marks from `start` on by types, and puts the typedefs of these types in front. */
void links_resolve(struct dwarf_reader *reader, struct strbuf *text, size_t start);
void links_deinit(struct dwarf_reader *reader);

#endif
