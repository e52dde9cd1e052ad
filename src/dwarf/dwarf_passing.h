/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out how an object is passed by value if the .conf language cannot express its type: see
 * dwarf_passing.c.
 */
#ifndef TRACER_DWARF_DWARF_PASSING_H
#define TRACER_DWARF_DWARF_PASSING_H

#include "dwarf/dwarf_private.h"

/*
 * Returns true if an object of this type with this alignment is passed on the stack, so that its
 * members do not decide on its place.
 */
bool type_is_in_memory(const struct type_writer *writer, const struct die *type, unsigned align);
/* Finds the registers that a record is passed in, if enough are left. False: they are not known. */
bool type_find_registers(const struct die *type, struct type_registers *out);
/*
 * Writes a struct of words that is passed by value like an object of this type, where the type
 * itself cannot be written. Returns -ENOTSUP if it is not known how the object is passed, or no
 * struct is passed so.
 */
int type_add_passed(struct type_writer *writer, const struct die *type);

#endif
