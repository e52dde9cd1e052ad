/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How C++ passes objects of a class by value: in registers or on the stack, like C; or by a
 * pointer to an object that the caller has made, and a result by a pointer to its place: see
 * dwarf_copy.c.
 */
#ifndef TRACER_DWARF_DWARF_COPY_H
#define TRACER_DWARF_DWARF_COPY_H

#include "dwarf/dwarf_private.h"

/*
 * Returns true if the unit with this first entry has the marks that type_find_passing() needs for
 * classes with functions. The caller stores the result in marks_defaulted.
 */
bool copy_is_marked(const struct die *first);

#endif
