/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes structs, unions and arrays of the debug information as types of .conf files: see
 * dwarf_struct.c.
 */
#ifndef TRACER_DWARF_DWARF_STRUCT_H
#define TRACER_DWARF_DWARF_STRUCT_H

#include "dwarf/dwarf_private.h"

bool type_is_record(unsigned tag);
/*
 * Returns true for a record that is shown behind a pointer: one that C could have, or a small
 * class.
 */
bool type_is_shown(const struct die *type);
/* Returns true if a child of a record is a part of its objects. */
bool type_has_part(const struct die *child);
/* These two return what type_add_object() returns. */
int type_add_struct(struct type_writer *writer, const struct die *type, struct type_layout *layout);
int type_add_array(struct type_writer *writer, const struct die *type, struct type_layout *layout);
/* Computes the number of all elements; false if that is not known, or too large. */
bool type_array_length(const struct die *type, uint64_t *length);

#endif
