/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From code addresses to places in source files.
 *
 * The addresses of one question, which are those of a stack in one module, are looked up together:
 * the line table of a unit is read once for all addresses in the unit. Several units may claim to
 * have the code at an address, as linkers merge identical functions; the first one whose line table
 * has the address counts.
 */
#include "dwarf/dwarf_source.h"

#include "base/cleanup.h"
#include "dwarf/dwarf_die.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/dwarf_inline.h"
#include "dwarf/dwarf_line.h"
#include "dwarf/dwarf_private.h"
#include "dwarf/dwarf_ranges.h"

#include <errno.h>
#include <stdlib.h>

/* An address that is asked about, and the units that may have it. */
struct source_query {
	struct line_place place;
	uint64_t units[UNITS_AT_ONCE_MAX];
	unsigned unit_count;
	uint64_t unit;	    /* the one that is to be read next */
	unsigned count;	    /* of places that were found */
	struct strbuf text; /* their texts */
};

/* Orders by unit, then by address. */
static int compare_queries(const void *left, const void *right)
{
	const struct source_query *a = *(struct source_query *const *)left;
	const struct source_query *b = *(struct source_query *const *)right;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return a->place.address < b->place.address ? -1 : a->place.address > b->place.address;
}

/* Adds a place. function: NULL: it was not inlined, or its name is not known. */
static void add_place(struct source_query *query, struct line_table *table, uint64_t file,
		      unsigned line, const char *function)
{
	struct strbuf path = {0};
	const bool has_file = line_table_path(table, file, &path);

	strbuf_printf(&query->text, "%u", has_file ? line : 0);
	strbuf_add_char(&query->text, '\0');
	if (has_file)
		strbuf_add(&query->text, path.text);
	strbuf_add_char(&query->text, '\0');
	if (function && strnlen(function, DWARF_PATH_MAX) < DWARF_PATH_MAX)
		strbuf_add(&query->text, function);
	strbuf_add_char(&query->text, '\0');
	strbuf_deinit(&path);
	query->count++;
}

/*
 * Adds the places of an address whose row in the line table is known, from the innermost function
 * outward: each function but the first is where it calls the one before. If the texts are too long,
 * the inlined functions are left out.
 */
static void add_places(struct source_query *query, struct line_table *table,
		       const struct inlined_call *calls, unsigned count)
{
	uint64_t file = query->place.file;
	unsigned line = query->place.line;

	for (unsigned left = count; left; left--) {
		add_place(query, table, file, line, calls[left - 1].function);
		file = calls[left - 1].file;
		line = calls[left - 1].line;
	}
	add_place(query, table, file, line, NULL);
	if (query->text.length <= DWARF_TEXT_MAX)
		return;
	strbuf_clear(&query->text);
	query->count = 0;
	add_place(query, table, query->place.file, query->place.line, NULL);
}

/* Asks one unit about addresses, which ascend. */
static void ask_unit(struct dwarf_reader *reader, struct source_query *const *queries, size_t count,
		     bool inlines)
{
	struct line_place *places[DWARF_ADDRESSES_MAX];
	struct inlined_call calls[INLINED_MAX];
	struct line_table table;
	struct unit_code code;
	uint64_t first, next;

	dwarf_file_trim(&reader->main);
	if (!units_next(&reader->main, queries[0]->unit, &first, &next))
		return;
	_cleanup_die_ struct die die = die_at(&reader->main, first);

	if (!die_is(&die) || !line_table_open(&die, &table))
		return;
	for (size_t i = 0; i < count; i++)
		places[i] = &queries[i]->place;
	line_table_find(&table, places, count);
	ranges_learn(&die, &code);
	for (size_t i = 0; i < count; i++) {
		struct source_query *query = queries[i];

		if (query->place.is_found)
			add_places(query, &table, calls,
				   inlines ? inline_find(reader, query->unit, &code,
							 query->place.address, calls)
					   : 0);
	}
}

/*
 * Asks for each address that is not found yet the unit with index `number` among those that may
 * have it. Returns false if there is none.
 */
static bool ask_units(struct dwarf_reader *reader, struct source_query *queries, size_t count,
		      unsigned number, bool inlines)
{
	struct source_query *open[DWARF_ADDRESSES_MAX];
	size_t open_count = 0;

	for (size_t i = 0; i < count; i++) {
		if (queries[i].place.is_found || number >= queries[i].unit_count)
			continue;
		queries[i].unit = queries[i].units[number];
		open[open_count++] = &queries[i];
	}
	qsort(open, open_count, sizeof *open, compare_queries);
	for (size_t i = 0, end; i < open_count; i = end) {
		for (end = i + 1; end < open_count && open[end]->unit == open[i]->unit; end++)
			;
		ask_unit(reader, open + i, end - i, inlines);
	}
	return open_count != 0;
}

int dwarf_reader_lines(struct dwarf_reader *reader, const uint64_t *addresses, size_t count,
		       bool inlines, struct strbuf *text)
{
	struct source_query queries[DWARF_ADDRESSES_MAX] = {0};

	for (size_t i = 0; i < count; i++) {
		queries[i].place.address = addresses[i];
		queries[i].unit_count = ranges_find_units(reader, addresses[i], queries[i].units);
	}
	for (unsigned number = 0; ask_units(reader, queries, count, number, inlines); number++)
		;
	const int error = reader->steps >= reader->steps_max ? -E2BIG : 0;

	for (size_t i = 0; i < count; i++) {
		if (!error) {
			strbuf_printf(text, "%u", queries[i].count);
			strbuf_add_char(text, '\0');
			strbuf_add_bytes(text, queries[i].text.text, queries[i].text.length);
		}
		strbuf_deinit(&queries[i].text);
	}
	return error;
}
