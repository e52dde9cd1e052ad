/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries (DIEs) and their attributes, read by libdwarf: see dwarf_die.c. */
#ifndef TRACER_DWARF_DWARF_DIE_H
#define TRACER_DWARF_DWARF_DIE_H

#include "dwarf/dwarf_private.h"

/* Returns the entry at an offset in .debug_info. */
struct die die_at(struct dwarf_file *file, uint64_t offset);
struct die die_first_child(const struct die *die);
/* Moves to the next sibling. Returns false, with no entry in *die, at the end. */
bool die_advance(struct die *die);
unsigned die_tag(const struct die *die);
uint64_t die_offset(const struct die *die); /* in .debug_info */
/*
 * A key that identifies an entry in .debug_info of the main file; 0 for entries of other sections
 * or files.
 */
uint64_t die_key(const struct die *die);
bool die_is_same(const struct die *a, const struct die *b);
/* A number from which die_of_place() gets any entry again; 0: the offset is not known. */
uint64_t die_place(const struct die *die);
struct die die_of_place(struct dwarf_reader *reader, uint64_t place);
bool die_has(const struct die *die, unsigned attribute);
bool die_flag(const struct die *die, unsigned attribute);
/* Returns true if a function or a base class is virtual: called or found through a table only. */
bool die_is_virtual(const struct die *die);
/* The string of an attribute, owned by the entry's object; NULL if there is none. */
const char *die_text(const struct die *die, unsigned attribute);
/* Reads a constant; signed ones become their two's complement. */
bool die_number(const struct die *die, unsigned attribute, uint64_t *value);
/* Finds the offset of a member in its struct; false if that depends on the object. */
bool die_member_offset(const struct die *member, uint64_t *offset);
/*
 * Finds the first bit of a bit-field in its struct. `bits` is the width of the bit-field, `size`
 * the bytes of its declared type.
 */
bool die_bit_offset(const struct die *member, uint64_t bits, uint64_t size, uint64_t *offset);
bool die_address(const struct die *die, unsigned attribute, uint64_t *value);
/* Returns the entry that an attribute refers to, or none. */
struct die die_reference(const struct die *die, unsigned attribute);
/* Returns the entry that this one is an instance of, else its declaration; or none. */
struct die die_told_by(const struct die *die);
/*
 * Returns the end of the chain of DW_AT_abstract_origin that begins with `die`, which may be `die`.
 * Takes over `die`. Returns none if the chain is longer than ORIGINS_MAX.
 */
struct die die_last_origin(struct die die);
/* Returns true if a function has parameters; or_variable: `...` counts as one. */
bool die_has_parameters(const struct die *function, bool or_variable);
/* Returns the first entry of the unit of an entry. */
struct die die_unit(const struct die *die);
/* Returns true if the functions of a unit are called like those of C. `first`: its first entry. */
bool die_is_of_c(const struct die *first);
/* Returns true if the unit was compiled from Go. */
bool die_is_of_go(const struct die *first);
/* Returns true if the unit was compiled from C; false also if it names no language. */
bool die_is_of_c_itself(const struct die *first);
unsigned die_version(const struct die *die);	 /* of its unit */
unsigned die_offset_size(const struct die *die); /* 4 or 8, of its unit */
/* NULL if there is none. The caller frees it with dwarf_dealloc_attribute(). */
Dwarf_Attribute die_attribute(const struct die *die, unsigned attribute);
/* Reads an offset in a section, or an index of an offset; false if the attribute is neither. */
bool die_section_offset(const struct die *die, Dwarf_Attribute attribute, unsigned *form,
			uint64_t *value);
/* Finds the bytes of a block or expression; false if the attribute is neither. */
bool die_block(const struct die *die, Dwarf_Attribute attribute, struct bytes *block);
/* The address with that index in .debug_addr, which libdwarf finds; 0 if there is none. */
uint64_t die_indexed_address(const struct die *die, uint64_t index);

#endif
