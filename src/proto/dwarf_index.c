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
 * g++ puts lambdas and methods of local classes inside of the functions they are written in, gcc
 * nested functions. Where an address has no entry, all that may be inside of something is read,
 * once for a unit.
 *
 * An address may have several entries, or none that is meant by the symbol: linkers and compilers
 * keep one of functions that are the same code (--icf=all, -fipa-icf), so names decide. Entries of
 * functions without code of their own are looked for by name in the units that have the code at the
 * address. A symbol of another name than the only entry there is an alias.
 *
 * Declarations are in no index. They are looked for in the units one after the other, until
 * DWARF_DECLARATION_STEPS_MAX entries have been seen, once for all names; so the callers that
 * profit are programs of some size, not giants.
 *
 * dwz(1) moves entries without code that several units have, or several objects, to units of their
 * own, perhaps in the shared file, and these are imported by those that had them. Only what a unit
 * imports is looked at: the shared file has the functions of other objects, too.
 *
 * All that is remembered are places, by which the entries are read again: entries themselves are
 * large.
 */
#include "proto/dwarf_private.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

#include <string.h>

enum {
	NESTED_MAX = 8, /* namespaces, one inside the other */
	INNER_MAX = 32, /* functions, blocks and classes, one inside the other */
	IMPORT_DEPTH_MAX = 4,
	IMPORTS_MAX = 8 << 10 /* units that are looked at for others, all together */
};

/* An entry with code. */
struct entry {
	uint64_t offset; /* in .debug_info */
	size_t next;	 /* 1 + where another one is with code at the same address; 0: nowhere */
};

/* Functions of one unit. */
struct unit {
	struct unit_code code;
	struct vec entries;   /* of struct entry */
	struct map functions; /* address → 1 + where its last entry is */
	bool inner_read, names_read;
	struct names bodiless; /* name → place of the definition, or &ambiguous */
};

/* Marks names of several definitions. */
static const char ambiguous;

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

/* Whether code may be inside of such an entry. */
static bool is_around(unsigned tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_namespace:
		return true;
	default:
		return false;
	}
}

/*
 * Visits the functions inside of `owner` that visit_functions() does not; is_listed: not those that
 * are its children.
 */
static void visit_inner(struct dwarf_reader *reader, const struct die *owner, unsigned depth,
			bool is_listed, unsigned limit, function_visitor *visit, void *context)
{
	_cleanup_die_ struct die die = die_first_child(owner);

	while (die_is(&die) && reader->steps < limit) {
		const unsigned tag = die_tag(&die);

		if (tag == DW_TAG_subprogram && !is_listed)
			visit(reader, &die, context);
		if (is_around(tag) && depth < INNER_MAX)
			visit_inner(reader, &die, depth + 1, is_listed && tag == DW_TAG_namespace,
				    limit, visit, context);
		if (!die_advance(&die))
			break;
	}
}

/* ------------------------------------------------------------------ places and imports */

/* Where an entry is, so that it can be read again; NULL: that is not known. */
static void *place_of(const struct die *die)
{
	const struct dwarf_file *file = die->object->file;
	const uintptr_t offset = (uintptr_t)die_offset(die);

	return (void *)(offset << 1 | (offset && file == &file->reader->shared));
}

static struct die die_again(struct dwarf_reader *reader, const void *place)
{
	const uintptr_t number = (uintptr_t)place;

	return number ? die_at(number & 1 ? &reader->shared : &reader->main, number >> 1)
		      : (struct die){0};
}

/* What is done with the functions of imported units. */
struct importing {
	struct map *seen; /* units: place → anything */
	bool only_shared; /* not of those of the main file, nor what these import */
	unsigned limit;	  /* of steps */
	function_visitor *visit;
	void *context;
};

static void visit_imports(struct dwarf_reader *reader, const struct die *unit, unsigned depth,
			  const struct importing *importing);

static void visit_import(struct dwarf_reader *reader, const struct die *import, unsigned depth,
			 const struct importing *importing)
{
	_cleanup_die_ struct die unit = die_reference(import, DW_AT_import);
	void *place = die_is(&unit) ? place_of(&unit) : NULL;

	if (!place || die_tag(&unit) != DW_TAG_partial_unit ||
	    (importing->only_shared && unit.object->file != &reader->shared) ||
	    map_get(importing->seen, (uintptr_t)place) || reader->imports >= IMPORTS_MAX)
		return;
	reader->imports++;
	map_put(importing->seen, (uintptr_t)place, place);
	visit_functions(reader, die_first_child(&unit), 0, importing->limit, importing->visit,
			importing->context);
	if (depth < IMPORT_DEPTH_MAX)
		visit_imports(reader, &unit, depth + 1, importing);
}

/* Visits what a unit imports; some have other entries in front of that. */
static void visit_imports(struct dwarf_reader *reader, const struct die *unit, unsigned depth,
			  const struct importing *importing)
{
	_cleanup_die_ struct die child = die_first_child(unit);

	while (die_is(&child) && reader->steps < importing->limit) {
		if (die_tag(&child) == DW_TAG_imported_unit)
			visit_import(reader, &child, depth, importing);
		if (!die_advance(&child))
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
	struct unit *unit = noting->unit;

	(void)end;
	if (!start || !noting->offset)
		return;
	struct entry entry = {noting->offset, (uintptr_t)map_get(&unit->functions, start)};

	vec_push(&unit->entries, &entry);
	map_put(&unit->functions, start, (void *)(uintptr_t)unit->entries.count);
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
	vec_init(&unit->entries, sizeof(struct entry));
	map_put(&reader->units, header, unit);
	if (!units_next(&reader->main, header, &first, &next))
		return unit;
	_cleanup_die_ struct die die = die_at(&reader->main, first);

	if (!die_is(&die))
		return unit;
	reader->split |= die_has(&die, DW_AT_dwo_name) || die_has(&die, DW_AT_GNU_dwo_name);
	if (!die_is_of_c(&die) && !die_is_of_go(&die))
		return unit;
	ranges_learn(&die, &unit->code);
	visit_functions(reader, die_first_child(&die), 0, reader->steps_max, note_function, unit);
	return unit;
}

/* Adds those that are inside of others. */
static void read_inner(struct dwarf_reader *reader, struct unit *unit, uint64_t header)
{
	const unsigned before = reader->steps;
	const unsigned limit = before + DWARF_INNER_STEPS_MAX - reader->inner_steps;
	uint64_t first, next;

	if (unit->inner_read || !units_next(&reader->main, header, &first, &next))
		return;
	unit->inner_read = true;
	_cleanup_die_ struct die die = die_at(&reader->main, first);

	if (die_is(&die) && die_is_of_c(&die))
		visit_inner(reader, &die, 0, true, limit, note_function, unit);
	reader->inner_steps += reader->steps < limit ? reader->steps - before : limit - before;
}

/* ------------------------------------------------------------------ by address and name */

static const char *linkage_name(const struct die *function)
{
	const char *name = die_text(function, DW_AT_linkage_name);

	return name ? name : die_text(function, DW_AT_MIPS_linkage_name);
}

/*
 * What its symbol is called: the entry itself may say so, that of which it is an instance, or its
 * declaration; the name for people, if none of them has another one. NULL: it has none.
 */
static const char *symbol_name(const struct die *function)
{
	const char *linkage = linkage_name(function), *name = die_text(function, DW_AT_name);
	struct die die = {0};

	for (unsigned i = 0; !linkage && i < ORIGINS_MAX; i++) {
		struct die next = die_told_by(i ? &die : function);

		die_drop(&die);
		die = next;
		if (!die_is(&die))
			break;
		linkage = linkage_name(&die);
		if (!name)
			name = die_text(&die, DW_AT_name);
	}
	die_drop(&die);
	return linkage ? linkage : name;
}

static void note_any_code(void *context, uint64_t start, uint64_t end)
{
	(void)end;
	*(bool *)context |= start != 0;
}

/*
 * Notes a definition that no address leads to: it has none, or 0, as linkers say of code that they
 * have dropped.
 */
static void note_bodiless(struct names *names, const struct die *function,
			  const struct unit_code *code)
{
	bool has_code = false;

	if (die_flag(function, DW_AT_declaration))
		return;
	ranges_visit(function, code, note_any_code, &has_code);
	if (has_code)
		return;
	const char *name = symbol_name(function);

	void *place = place_of(function);

	if (!name || !place)
		return;
	const bool is_known = names_get(names, name, strlen(name)) != NULL;

	names_put(names, name, strlen(name), is_known ? &ambiguous : place);
}

static void note_bodiless_of_unit(struct dwarf_reader *reader, const struct die *function,
				  void *context)
{
	struct unit *unit = context;

	(void)reader;
	note_bodiless(&unit->bodiless, function, &unit->code);
}

static void read_names(struct dwarf_reader *reader, struct unit *unit, uint64_t header)
{
	uint64_t first, next;

	if (unit->names_read)
		return;
	unit->names_read = true;
	if (!units_next(&reader->main, header, &first, &next))
		return;
	_cleanup_die_ struct die die = die_at(&reader->main, first);

	if (!die_is(&die) || !die_is_of_c(&die))
		return;
	struct map seen = {0};
	const struct importing importing = {.seen = &seen,
					    .limit = reader->steps_max,
					    .visit = note_bodiless_of_unit,
					    .context = unit};

	visit_functions(reader, die_first_child(&die), 0, reader->steps_max, note_bodiless_of_unit,
			unit);
	visit_imports(reader, &die, 0, &importing);
	map_deinit(&seen);
}

/* The entries at one address. */
struct choice {
	const char *name;
	uint64_t named;	   /* of the one of that name: where it is in .debug_info; 0: none */
	uint64_t other;	   /* of another one */
	const char *title; /* and its name */
	bool is_several;   /* there are others of different names */
};

static void look_at(struct dwarf_reader *reader, uint64_t offset, struct choice *choice)
{
	_cleanup_die_ struct die die = die_at(&reader->main, offset);
	const char *name = die_is(&die) ? symbol_name(&die) : NULL;

	if (name && !strcmp(name, choice->name)) {
		choice->named = offset;
	} else if (!choice->other) {
		choice->other = offset;
		choice->title = name;
	} else if (offset != choice->other) {
		choice->is_several |= !name || !choice->title || strcmp(name, choice->title) != 0;
	}
}

static void look_in(struct dwarf_reader *reader, const struct unit *unit, uint64_t address,
		    struct choice *choice)
{
	uintptr_t at = (uintptr_t)map_get(&unit->functions, address);

	while (at && !choice->named) {
		const struct entry *entry = vec_at(&unit->entries, at - 1);

		look_at(reader, entry->offset, choice);
		at = entry->next;
	}
}

/* ------------------------------------------------------------------ by name */

static void note_declaration(struct dwarf_reader *reader, const struct die *function, void *context)
{
	if (!die_flag(function, DW_AT_external))
		return;
	note_bodiless(&reader->bodiless, function, context);
	if (!die_flag(function, DW_AT_declaration))
		return;
	const char *name = die_text(function, DW_AT_linkage_name);

	if (!name)
		name = die_text(function, DW_AT_name);
	void *place = place_of(function);

	if (name && place && !names_get(&reader->declarations, name, strlen(name)))
		names_put(&reader->declarations, name, strlen(name), place);
}

static void read_declarations(struct dwarf_reader *reader)
{
	unsigned limit = reader->steps + DWARF_DECLARATION_STEPS_MAX;
	uint64_t header = 0, first, next;
	struct unit_code code;
	struct map seen = {0};
	/* The others are on the way. */
	const struct importing importing = {.seen = &seen,
					    .only_shared = true,
					    .limit = limit,
					    .visit = note_declaration,
					    .context = &code};

	if (reader->declarations_read)
		return;
	reader->declarations_read = true;
	while (reader->steps < limit && units_next(&reader->main, header, &first, &next)) {
		_cleanup_die_ struct die die = die_at(&reader->main, first);

		if (die_is(&die) && die_is_of_c(&die)) {
			ranges_learn(&die, &code);
			visit_functions(reader, die_first_child(&die), 0, limit, note_declaration,
					&code);
			visit_imports(reader, &die, 0, &importing);
		}
		die_drop(&die);
		dwarf_file_trim(&reader->main);
		header = next;
	}
	map_deinit(&seen);
}

struct die index_find_declaration(struct dwarf_reader *reader, const char *name)
{
	read_declarations(reader);
	return die_again(reader, names_get(&reader->declarations, name, strlen(name)));
}

/* ------------------------------------------------------------------ by both */

/*
 * A definition of that name without code; in the units, or elsewhere if nothing is known of the
 * code (link-time optimisation). &ambiguous: there are several.
 */
static const void *find_bodiless(struct dwarf_reader *reader, const uint64_t *headers,
				 unsigned count, const struct choice *choice)
{
	const size_t length = strlen(choice->name);
	const void *found = NULL;

	for (unsigned i = 0; i < count && !found; i++) {
		struct unit *unit = get_unit(reader, headers[i]);

		read_names(reader, unit, headers[i]);
		found = names_get(&unit->bodiless, choice->name, length);
	}
	if (!found && count) {
		read_declarations(reader);
		found = names_get(&reader->bodiless, choice->name, length);
	}
	return found;
}

struct die index_find_function(struct dwarf_reader *reader, uint64_t address, const char *name)
{
	uint64_t headers[UNITS_AT_ONCE_MAX];
	const unsigned count = ranges_find_units(reader, address, headers);
	struct choice choice = {.name = name};

	for (unsigned i = 0; i < count && !choice.named; i++)
		look_in(reader, get_unit(reader, headers[i]), address, &choice);
	for (unsigned i = 0; i < count && !choice.other && !choice.named; i++) {
		read_inner(reader, get_unit(reader, headers[i]), headers[i]);
		look_in(reader, get_unit(reader, headers[i]), address, &choice);
	}
	if (choice.named)
		return die_at(&reader->main, choice.named);
	const void *bodiless = find_bodiless(reader, headers, count, &choice);

	if (bodiless && bodiless != &ambiguous)
		return die_again(reader, bodiless);
	return choice.other && !choice.is_several ? die_at(&reader->main, choice.other)
						  : (struct die){0};
}

void index_deinit(struct dwarf_reader *reader)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&reader->units, &cursor, NULL, &value)) {
		struct unit *unit = value;

		vec_deinit(&unit->entries);
		map_deinit(&unit->functions);
		names_deinit(&unit->bodiless);
		free(unit);
	}
	map_deinit(&reader->units);
	names_deinit(&reader->declarations);
	names_deinit(&reader->bodiless);
	map_deinit(&reader->manners);
	map_deinit(&reader->details);
	vec_deinit(&reader->ranges);
	map_deinit(&reader->covered);
}
