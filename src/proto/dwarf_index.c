/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an address, or a name, to the entry of a function, without reading all the debug information
 * there is: for a web browser that is a gigabyte, and few of its functions are ever asked for.
 *
 * Debug information is a sequence of units, one for each source file; which of them has the code at
 * an address, dwarf_ranges.c finds out. Of such a unit the entries that begin a function are listed
 * when it is first needed. Compilers tell for each entry where the next one beside it is (gcc), so
 * what is inside of functions and types is not read.
 *
 * Declarations are in no index. They are looked for in the units one after the other, until
 * DWARF_DECLARATION_STEPS_MAX entries have been seen, once for all names; so the callers that
 * profit are programs of some size, not giants.
 *
 * All that is remembered are places, by which the entries are read again: entries themselves are
 * large.
 */
#include "proto/dwarf_private.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

#include <string.h>

enum { NESTED_MAX = 8 /* namespaces, one inside the other */ };

/* Functions of one unit. */
struct unit {
	struct unit_code code;
	struct map functions; /* address → offset in .debug_info */
};

/* What is done with the functions of a unit. */
typedef void function_visitor(struct dwarf_reader *reader, const struct die *function,
			      void *context);

/*
 * Visits the functions beside `first`, which is used up; `limit`: when there have been so many
 * steps, that is all.
 */
static void visit_functions(struct dwarf_reader *reader, struct die first, unsigned depth,
			    unsigned limit, function_visitor *visit, void *context)
{
	_cleanup_die_ struct die die = first;

	while (die_is(&die) && reader->steps < limit) {
		unsigned tag = die_tag(&die);

		if (tag == DW_TAG_subprogram)
			visit(reader, &die, context);
		else if (tag == DW_TAG_namespace && depth < NESTED_MAX)
			visit_functions(reader, die_first_child(&die), depth + 1, limit, visit,
					context);
		if (!die_advance(&die))
			break;
	}
}

/* ------------------------------------------------------------------ by address */

/* A function on its way into its unit. */
struct noting {
	struct unit *unit;
	uint64_t offset;
};

static void note_code(void *context, uint64_t start, uint64_t end)
{
	const struct noting *noting = context;

	(void)end;
	if (start && noting->offset)
		map_put(&noting->unit->functions, start, (void *)(uintptr_t)noting->offset);
}

/* Each part of a function that was split counts as its beginning: they are in no order. */
static void note_function(struct dwarf_reader *reader, const struct die *function, void *context)
{
	struct unit *unit = context;
	struct noting noting = {unit, 0};

	(void)reader;
	if (die_flag(function, DW_AT_declaration))
		return;
	noting.offset = die_offset(function);
	ranges_visit(function, &unit->code, note_code, &noting);
}

static struct unit *get_unit(struct dwarf_reader *reader, uint64_t header)
{
	struct unit *unit = map_get(&reader->units, header);
	uint64_t first, next;

	if (unit)
		return unit;
	unit = xcalloc(1, sizeof *unit);
	map_put(&reader->units, header, unit);
	if (!units_next(&reader->main, header, &first, &next))
		return unit;
	_cleanup_die_ struct die die = die_at(&reader->main, first);

	if (!die_is(&die))
		return unit;
	reader->split |= die_has(&die, DW_AT_dwo_name) || die_has(&die, DW_AT_GNU_dwo_name);
	if (!die_is_of_c(&die))
		return unit;
	ranges_learn(&die, &unit->code);
	visit_functions(reader, die_first_child(&die), 0, DWARF_STEPS_MAX, note_function, unit);
	return unit;
}

struct die index_find_function(struct dwarf_reader *reader, uint64_t address)
{
	uint64_t header;

	if (ranges_find_unit(reader, address, &header)) {
		const struct unit *unit = get_unit(reader, header);
		uint64_t offset = (uintptr_t)map_get(&unit->functions, address);

		if (offset)
			return die_at(&reader->main, offset);
	}
	return (struct die){0};
}

/* ------------------------------------------------------------------ by name */

static void note_declaration(struct dwarf_reader *reader, const struct die *function, void *context)
{
	(void)context;
	if (!die_flag(function, DW_AT_declaration) || !die_flag(function, DW_AT_external))
		return;
	const char *name = die_text(function, DW_AT_linkage_name);

	if (!name)
		name = die_text(function, DW_AT_name);
	uint64_t offset = die_offset(function);

	if (name && offset && !names_get(&reader->declarations, name, strlen(name)))
		names_put(&reader->declarations, name, strlen(name), (void *)(uintptr_t)offset);
}

static void read_declarations(struct dwarf_reader *reader)
{
	unsigned limit = reader->steps + DWARF_DECLARATION_STEPS_MAX;
	uint64_t header = 0, first, next;

	while (reader->steps < limit && units_next(&reader->main, header, &first, &next)) {
		_cleanup_die_ struct die die = die_at(&reader->main, first);

		if (die_is(&die) && die_is_of_c(&die))
			visit_functions(reader, die_first_child(&die), 0, limit, note_declaration,
					NULL);
		die_drop(&die);
		dwarf_file_trim(&reader->main);
		header = next;
	}
}

struct die index_find_declaration(struct dwarf_reader *reader, const char *name)
{
	if (!reader->declarations_read) {
		reader->declarations_read = true;
		read_declarations(reader);
	}
	uint64_t offset = (uintptr_t)names_get(&reader->declarations, name, strlen(name));

	return offset ? die_at(&reader->main, offset) : (struct die){0};
}

void index_deinit(struct dwarf_reader *reader)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&reader->units, &cursor, NULL, &value)) {
		map_deinit(&((struct unit *)value)->functions);
		free(value);
	}
	map_deinit(&reader->units);
	names_deinit(&reader->declarations);
	vec_deinit(&reader->ranges);
	map_deinit(&reader->covered);
}
