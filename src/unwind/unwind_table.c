/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind rules of a file.
 *
 * A walk meets some twenty functions of the thousands of a file, so a function's rows are made when
 * a pc first lies in it, and then kept. That takes some microseconds a function and a table of all
 * functions that is copied from .eh_frame_hdr.
 */
#include "unwind/unwind_table.h"

#include "base/xalloc.h"
#include "object/elf_private.h"
#include "unwind/eh_search.h"
#include "unwind/unwind_rows.h"

#include <stdlib.h>

enum {
	RECENT = 256, /* a power of two */
	PIECE = 512,  /* as elf_file_read_near() keeps them */
	ROWS_MAX = 16 << 20
};

/* The rows of one function; count 0: not read yet. */
struct function_rows {
	uint32_t first, count;
};

/* An address and its rule, among those that were asked for last; address 0: none. */
struct recent_rule {
	uint64_t address;
	struct unwind_rule rule;
};

struct unwind_table {
	struct elf_file *file;
	struct eh_search search;
	struct function_rows *functions; /* by the index in `search` */
	struct unwind_rows rows;
	struct recent_rule recent[RECENT]; /* by the lowest bits of the address */
};

static void table_free(struct unwind_table *table)
{
	if (!table)
		return;
	eh_search_deinit(&table->search);
	free(table->functions);
	unwind_rows_deinit(&table->rows);
	free(table);
}

static void start_rows(struct unwind_table *table)
{
	table->functions = xcalloc(table->search.count, sizeof *table->functions);
	unwind_rows_init(&table->rows, table->file, table->search.base, PIECE);
}

static void drop_rows(struct unwind_table *table)
{
	free(table->functions);
	unwind_rows_deinit(&table->rows);
	start_rows(table);
}

struct unwind_table *unwind_table(struct elf_file *file)
{
	if (file->unwind)
		return file->unwind;
	struct unwind_table *table = xcalloc(1, sizeof *table);

	table->file = file;
	eh_search_init(&table->search, file);
	start_rows(table);
	file->unwind = table;
	file->unwind_free = table_free;
	return table;
}

/*
 * Decodes the function around `address`. Stores its index in the search. Returns false if there is
 * none. A table in .eh_frame_hdr that leads to another function is given up, once.
 */
static bool find_function(struct unwind_table *table, uint64_t address, long *index,
			  struct eh_function *function)
{
	for (;;) {
		*index = eh_search_find(&table->search, address);
		if (*index < 0)
			return false;
		if (eh_frame_at(table->file, eh_search_entry(&table->search, *index), function) &&
		    function->start == eh_search_start(&table->search, *index))
			return true;
		if (!table->search.from_header)
			return false;
		eh_search_reread(&table->search, table->file);
		drop_rows(table);
	}
}

static void read_rows(struct unwind_table *table, long index, const struct eh_function *function)
{
	if (table->rows.count > ROWS_MAX)
		drop_rows(table);
	struct function_rows *rows = &table->functions[index];

	rows->first = (uint32_t)table->rows.count;
	unwind_rows_add(&table->rows, function);
	rows->count = (uint32_t)table->rows.count - rows->first;
}

/* Finds the rule in the rows of the function. */
static struct unwind_rule find_rule(struct unwind_table *table, uint64_t address)
{
	static const struct unwind_rule none = {.cfa = UNWIND_NONE};
	struct eh_function function;
	long index = eh_search_find(&table->search, address);

	if (index < 0)
		return none;
	if (!table->functions[index].count) {
		if (!find_function(table, address, &index, &function))
			return none;
		read_rows(table, index, &function);
	}
	const struct function_rows *rows = &table->functions[index];
	const uint32_t *pcs = table->rows.pcs + rows->first;
	size_t row = unwind_rows_find(pcs, rows->count, (uint32_t)(address - table->search.base));

	if (row == rows->count)
		return none;
	const struct unwind_rule *rules = table->rows.rules.items;

	return rules[table->rows.numbers[rows->first + row]];
}

struct unwind_rule unwind_table_rule(struct unwind_table *table, uint64_t address)
{
	struct recent_rule *recent = &table->recent[address % RECENT];

	if (recent->address != address || !address)
		*recent = (struct recent_rule){address, find_rule(table, address)};
	return recent->rule;
}

struct row_search {
	uint64_t address;
	struct eh_unwind_row *row;
	bool found;
};

static bool take_row(void *context, const struct eh_unwind_row *row)
{
	struct row_search *search = context;

	search->found = search->address >= row->from && search->address < row->to;
	if (search->found)
		*search->row = *row;
	return !search->found;
}

bool unwind_table_row(struct unwind_table *table, uint64_t address, struct eh_unwind_row *row,
		      struct eh_function *function)
{
	struct row_search search = {.address = address, .row = row};
	long index;

	if (!find_function(table, address, &index, function))
		return false;
	eh_unwind_rows_for_each(table->rows.interpreter, function, take_row, &search);
	return search.found && row->cfa.kind != EH_UNDEFINED;
}

struct eh_reader *unwind_table_expressions(struct unwind_table *table)
{
	return &table->rows.expressions;
}

size_t unwind_table_bytes(const struct unwind_table *table)
{
	const struct unwind_rows *rows = &table->rows;
	size_t functions = table->search.count *
			   (sizeof *table->search.starts + sizeof *table->search.entries +
			    sizeof *table->functions);

	return sizeof *table + functions + rows->rules.capacity * rows->rules.item_size +
	       rows->capacity * (sizeof *rows->pcs + sizeof *rows->numbers);
}
