/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives libdwarf access to a file with debug information: see dwarf_file.c. */
#ifndef TRACER_DWARF_DWARF_FILE_H
#define TRACER_DWARF_DWARF_FILE_H

#include "dwarf/dwarf_private.h"

/*
 * Opens the debug information of `elf`. Returns 0, or -ENOENT: there is no debug information, or it
 * cannot be unpacked; -ENOTSUP: the compression is unknown.
 */
int dwarf_file_open(struct dwarf_file *file, struct dwarf_reader *reader, struct elf_file *elf);
void dwarf_file_close(struct dwarf_file *file);
/* Frees the slices when there are many. The caller must hold no entries of the file. */
void dwarf_file_trim(struct dwarf_file *file);
/* The slice that begins with the unit header at `header`; NULL if libdwarf rejects it. */
struct dwarf_object *dwarf_file_slice(struct dwarf_file *file, uint64_t header);
/*
 * Finds the header of the unit with the entry at `offset` of .debug_info; false if there is none.
 */
bool dwarf_file_unit_of(struct dwarf_file *file, uint64_t offset, uint64_t *header);
/*
 * Finds in .debug_info where the first entry of the unit at `header` is, and where the next unit
 * begins. Returns false at the end of the section, and where the section is damaged.
 */
bool units_next(struct dwarf_file *file, uint64_t header, uint64_t *first, uint64_t *next);
/* Counts one step. Returns false if the reader has used up its steps. */
bool may_step(const struct dwarf_file *file);
/* The contents of a section from `offset` on; empty if the section is not there. */
struct bytes section_bytes(struct dwarf_file *file, const char *name, uint64_t offset);

#endif
