/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind rules of a file. The file owns what is read; it is read function by function, when
 * first asked for. Addresses are those of the file's own address space. See unwind_table.c.
 */
#ifndef TRACER_UNWIND_UNWIND_TABLE_H
#define TRACER_UNWIND_UNWIND_TABLE_H

#include "object/elf.h"
#include "unwind/eh_rows.h"
#include "unwind/unwind_rule.h"

struct unwind_table;

/* Returns the table of a file; it belongs to the file. */
struct unwind_table *unwind_table(struct elf_file *file);
/* Returns the rule for the code at `address`; UNWIND_NONE if nothing describes it. */
struct unwind_rule unwind_table_rule(struct unwind_table *table, uint64_t address);
/*
 * Stores the row that describes the code at `address`, and its function, without the loss that
 * comes with a rule. Returns false if there is none.
 */
bool unwind_table_row(struct unwind_table *table, uint64_t address, struct eh_unwind_row *row,
		      struct eh_function *function);
/* Returns a reader for the expressions of such a row. */
struct eh_reader *unwind_table_expressions(struct unwind_table *table);
/* Returns how many bytes of memory the table has. */
size_t unwind_table_bytes(const struct unwind_table *table);

#endif
