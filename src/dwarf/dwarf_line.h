/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the line table of a unit (.debug_line): see dwarf_line.c. */
#ifndef TRACER_DWARF_DWARF_LINE_H
#define TRACER_DWARF_DWARF_LINE_H

#include "dwarf/dwarf_private.h"

/* The line table of one unit. It is valid as long as the unit's first entry is. */
struct line_table {
	struct dwarf_file *file;
	const char *directory; /* where the compiler ran; NULL: not known */
	unsigned version, offset_size;
	unsigned instruction_size; /* factor of advances in the program */
	int line_base;
	unsigned line_range, opcode_base;
	struct bytes operands; /* how many the standard opcodes have, from opcode 1 on */
	struct bytes names;    /* the lists of directories and files */
	struct bytes program;
	unsigned work; /* bytes of the table that were read: see line_work() */
};

/* What a line table says of an address. */
struct line_place {
	uint64_t address;
	bool is_found;
	unsigned line; /* 0: the compiler made the code for no line */
	uint64_t file; /* its number in the table */
};

/* Returns false if the unit has no line table, or a damaged one. `first`: its first entry. */
bool line_table_open(const struct die *first, struct line_table *table);
/*
 * Finds the lines of several addresses, which ascend. Places that are already found stay as they
 * are.
 */
void line_table_find(struct line_table *table, struct line_place *const *places, size_t count);
/*
 * Adds the path of a file to `path`: as the table has it, behind its directory, behind that where
 * the compiler ran. Returns false, with `path` unchanged, if the path is not known or longer than
 * DWARF_PATH_MAX.
 */
bool line_table_path(struct line_table *table, uint64_t file, struct strbuf *path);

#endif
