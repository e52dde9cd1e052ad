/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes types of the debug information as types of .conf files: see dwarf_type.c. */
#ifndef TRACER_DWARF_DWARF_TYPE_H
#define TRACER_DWARF_DWARF_TYPE_H

#include "dwarf/dwarf_private.h"

/*
 * Returns true if `text` is valid as a name in a .conf file. Names of C are valid; names of other
 * languages need not be. False for NULL.
 */
bool type_is_name(const char *text);
bool type_is_full(const struct type_writer *writer);
/* Cuts the text back to `length` bytes. */
void type_cut_back(struct type_writer *writer, size_t length);
/* Removes typedefs and qualifiers. Sets *is_const if `const` was one of them. Takes over `type`. */
struct die type_peel(struct die type, bool *is_const);
/*
 * Like type_peel(). *is_text: the type is a character of 1, 2 or 4 bytes, by its name or a
 * typedef's.
 */
struct die type_peel_text(struct die type, bool *is_const, bool *is_text);
/*
 * Returns the .conf name of a wide character if `owner` (a parameter, a member) is one, else NULL.
 * `type` and `is_text` are the results of type_peel_text() for the type of `owner`.
 */
const char *type_wide_character(const struct die *owner, const struct die *type, bool is_text);
/* Writes a type that was peeled. Returns 0, or -ENOTSUP, when the text may have grown. */
int type_add_object(struct type_writer *writer, const struct die *type, struct type_layout *layout);
/*
 * Writes the type that DW_AT_type of `owner` refers to, or `void` if there is none. *by_reference:
 * the object is of a C++ class whose objects are passed by a pointer, and the text is the type of
 * that pointer. Returns 0, or -ENOTSUP, when the text may have grown.
 */
int type_add(struct strbuf *text, const struct die *owner, unsigned word, bool *by_reference);

#endif
