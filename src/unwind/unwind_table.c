/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind rules of a file, for a walk that meets a few functions, and for one that cannot wait.
 *
 * A walk of the tracer's meets some twenty functions of the thousands of a file, so a function's
 * rows are made when a pc first lies in it, and then kept. That takes some microseconds a function
 * and a table of all functions that is copied from .eh_frame_hdr.
 *
 * The agent cannot read files, so it gets the rows of all functions in one block. Functions are
 * decoded in the order of the file, in one pass, and sorted afterwards.
 */
#include "unwind/unwind_table.h"

#include "base/xalloc.h"
#include "object/elf_private.h"
#include "unwind/eh_search.h"
#include "unwind/unwind_rows.h"

#include <stdlib.h>
#include <string.h>

enum {
	PIECE = 512,		     /* as elf_file_read_near() keeps them */
	WHOLE_PIECE = 64 << 10,	     /* functions follow one another in the file */
	INSTRUCTIONS_MAX = 64 << 20, /* in one file; the largest libraries have five million */
	ROWS_MAX = 16 << 20
};

/* The rows of one function; count 0: not read yet. */
struct function_rows {
	uint32_t first, count;
};

struct unwind_table {
	struct elf_file *file;
	struct eh_search search;
	struct function_rows *functions; /* by the index in `search` */
	struct unwind_rows rows;
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

struct unwind_rule unwind_table_rule(struct unwind_table *table, uint64_t address)
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

/* ------------------------------------------------------------------ the rows of a whole file */

struct piece {
	uint32_t pc;
	uint32_t first, count; /* its rows */
};

struct gathering {
	struct unwind_rows rows;
	struct vec pieces; /* struct piece: the functions in the order of the file */
};

static void gather(void *context, const struct eh_function *function)
{
	struct gathering *all = context;
	struct piece piece = {.first = (uint32_t)all->rows.count};
	uint64_t start = function->start - all->rows.base;

	if (all->rows.instructions > INSTRUCTIONS_MAX || all->rows.count > ROWS_MAX ||
	    start >= UINT32_MAX)
		return;
	unwind_rows_add(&all->rows, function);
	piece.pc = (uint32_t)start;
	piece.count = (uint32_t)all->rows.count - piece.first;
	vec_push(&all->pieces, &piece);
}

static int compare(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	return (a->pc > b->pc) - (a->pc < b->pc);
}

/* Appends a row to the image. The arrays have room for all rows. */
static void put_row(struct unwind_image *image, uint32_t *pcs, uint16_t *numbers, uint32_t pc,
		    uint16_t number)
{
	if (image->row_count && pcs[image->row_count - 1] >= pc) {
		/* A function begins where the one in front of it ends, or overlaps it. */
		if (pcs[image->row_count - 1] == pc)
			numbers[image->row_count - 1] = number;
		return;
	}
	if (image->row_count && numbers[image->row_count - 1] == number)
		return;
	pcs[image->row_count] = pc;
	numbers[image->row_count++] = number;
}

/* Returns a block with room for `rows` rows, all of whose offsets are set. */
static struct unwind_image *allocate(const struct gathering *all)
{
	size_t rows = all->rows.count, rules = all->rows.rules.count;
	size_t rule_bytes = rules * sizeof(struct unwind_rule);
	struct unwind_image layout = {.base = all->rows.base, .rule_count = (uint32_t)rules};

	layout.rules = sizeof layout;
	layout.pcs = layout.rules + (uint32_t)rule_bytes;
	layout.numbers = layout.pcs + (uint32_t)(rows * sizeof(uint32_t));
	layout.bytes = layout.numbers + (uint32_t)(rows * sizeof(uint16_t));
	struct unwind_image *image = xmalloc(layout.bytes);

	*image = layout;
	memcpy((char *)image + layout.rules, all->rows.rules.items, rule_bytes);
	return image;
}

static struct unwind_image *assemble(const struct gathering *all)
{
	struct unwind_image *image = allocate(all);
	uint32_t *pcs = (uint32_t *)(void *)((char *)image + image->pcs);
	uint16_t *numbers = (uint16_t *)(void *)((char *)image + image->numbers);
	const struct piece *pieces = all->pieces.items;

	for (size_t i = 0; i < all->pieces.count; i++)
		for (size_t j = 0; j < pieces[i].count; j++)
			put_row(image, pcs, numbers, all->rows.pcs[pieces[i].first + j],
				all->rows.numbers[pieces[i].first + j]);
	/* The numbers move up to the addresses that are there. */
	uint32_t moved = image->pcs + image->row_count * (uint32_t)sizeof *pcs;

	memmove((char *)image + moved, numbers, image->row_count * sizeof *numbers);
	image->numbers = moved;
	image->bytes = moved + image->row_count * (uint32_t)sizeof *numbers;
	return xrealloc(image, image->bytes);
}

struct unwind_image *unwind_image_create(struct elf_file *file)
{
	struct gathering all = {.pieces = VEC_OF(struct piece)};

	unwind_rows_init(&all.rows, file, eh_search_base(file), WHOLE_PIECE);
	eh_frame_for_each(file, gather, &all);
	if (all.pieces.count)
		qsort(all.pieces.items, all.pieces.count, all.pieces.item_size, compare);
	struct unwind_image *image = assemble(&all);

	vec_deinit(&all.pieces);
	unwind_rows_deinit(&all.rows);
	return image;
}

struct unwind_rule unwind_image_rule(const struct unwind_image *image, uint64_t address)
{
	const char *block = (const char *)image;
	const uint32_t *pcs = (const uint32_t *)(const void *)(block + image->pcs);
	const uint16_t *numbers = (const uint16_t *)(const void *)(block + image->numbers);
	const struct unwind_rule *rules =
		(const struct unwind_rule *)(const void *)(block + image->rules);
	uint64_t pc = address - image->base;
	size_t row = pc > UINT32_MAX ? image->row_count
				     : unwind_rows_find(pcs, image->row_count, (uint32_t)pc);

	return rules[row < image->row_count ? numbers[row] : UNWIND_RULE_NONE];
}
