/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the entry of a function by address or name, without reading all debug information. A web
 * browser has a gigabyte of it, and few of its functions are ever asked for.
 *
 * Debug information is a sequence of units, one for each source file. dwarf_ranges.c finds the unit
 * with the code at an address. The function entries of a unit are listed when the unit is first
 * needed. Entries refer to their next sibling (gcc), so the insides of functions and types are not
 * read.
 *
 * g++ puts lambdas and methods of local classes inside of the functions they are written in; gcc
 * does that with nested functions. If an address has no entry, the insides of all entries of the
 * unit are read, once per unit.
 *
 * An address may have several entries, or none for the symbol that is asked about: linkers and
 * compilers keep one of several functions with the same code (--icf=all, -fipa-icf). So names
 * decide. Entries of functions without code of their own are found by name in the units that have
 * the code at the address. If the only entry at the address has another name, the symbol is taken
 * for an alias.
 *
 * Declarations are in no index. They are collected from one unit after the other, once for all
 * names, until DWARF_DECLARATION_STEPS_MAX steps have been taken. That covers programs of ordinary
 * size.
 *
 * dwz(1) moves entries without code that several units or objects have to partial units, perhaps in
 * the shared file, and the units that had them import these. Only the imports of a unit are read:
 * the shared file has the functions of other objects, too.
 *
 * Tables keep places, by which entries are read again. Entries themselves are large.
 */
#include "dwarf/dwarf_index.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "dwarf/dwarf_die.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/dwarf_private.h"
#include "dwarf/dwarf_ranges.h"

#include <string.h>

enum {
	NESTED_MAX = 8, /* nested namespaces */
	INNER_MAX = 32, /* nested functions, blocks and classes */
	IMPORT_DEPTH_MAX = 4,
	IMPORTS_MAX = 8 << 10 /* partial units read, for all units together */
};

/* An entry with code. */
struct entry {
	uint64_t offset; /* in .debug_info */
	uint64_t start, end;
	size_t next; /* 1 + index of another entry with the same start; 0: none */
};

/* The functions of one unit. */
struct unit {
	struct unit_code code;
	struct vec entries;   /* of struct entry */
	struct map functions; /* address → 1 + index of its last entry */
	/* of a language whose functions have other conventions: none of them has a prototype */
	bool is_foreign;
	bool foreign_read, inner_read, names_read;
	struct names bodiless; /* name → place of a definition without code, or &ambiguous */
};

/* Stands for a name with several definitions. */
static const char ambiguous;

/* Called for each function that is found. */
typedef void function_visitor(struct dwarf_reader *reader, const struct die *function,
			      void *context);

/*
 * Visits `first` and those of its siblings that are functions, in namespaces as well. Takes over
 * `first`. Stops when the reader has taken `limit` steps.
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

/* Returns true for an entry that may contain code. */
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
 * Visits the functions inside of `owner` that visit_functions() does not visit. is_listed: the
 * children of `owner` itself have been visited.
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

/* A place from which die_again() reads the entry; NULL: not known. */
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

/* What to do with the functions of imported units. */
struct importing {
	struct map *seen; /* units visited: place → place */
	bool only_shared; /* skip partial units of the main file, and what these import */
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

/* Visits all imports of a unit; other entries may come before them. */
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

/* A function that note_code() adds to its unit. */
struct noting {
	struct unit *unit;
	uint64_t offset;
};

static void note_code(void *context, uint64_t start, uint64_t end)
{
	const struct noting *noting = context;
	struct unit *unit = noting->unit;

	if (!start || !noting->offset)
		return;
	struct entry entry = {noting->offset, start, end,
			      (uintptr_t)map_get(&unit->functions, start)};

	vec_push(&unit->entries, &entry);
	map_put(&unit->functions, start, (void *)(uintptr_t)unit->entries.count);
}

/*
 * Adds a function. Every range of a split function counts as a beginning: the ranges have no order.
 */
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

/* `first`: the first entry of the unit. */
static void list_functions(struct dwarf_reader *reader, struct unit *unit, const struct die *first)
{
	ranges_learn(first, &unit->code);
	visit_functions(reader, die_first_child(first), 0, reader->steps_max, note_function, unit);
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
	unit->is_foreign = !die_is_of_c(&die) && !die_is_of_go(&die);
	if (!unit->is_foreign)
		list_functions(reader, unit, &die);
	return unit;
}

/* Adds the functions that are inside of other entries, within DWARF_INNER_STEPS_MAX. */
static void read_inner(struct dwarf_reader *reader, struct unit *unit, uint64_t header)
{
	const unsigned before = reader->steps;
	const unsigned limit = before + DWARF_INNER_STEPS_MAX - reader->inner_steps;
	uint64_t first, next;

	if (unit->inner_read || unit->is_foreign != unit->foreign_read ||
	    !units_next(&reader->main, header, &first, &next))
		return;
	unit->inner_read = true;
	_cleanup_die_ struct die die = die_at(&reader->main, first);

	if (die_is(&die) && !die_is_of_go(&die))
		visit_inner(reader, &die, 0, true, limit, note_function, unit);
	reader->inner_steps += reader->steps < limit ? reader->steps - before : limit - before;
}

/* ------------------------------------------------------------------ by address and name */

static const char *linkage_name(const struct die *function)
{
	const char *name = die_text(function, DW_AT_linkage_name);

	return name ? name : die_text(function, DW_AT_MIPS_linkage_name);
}

const char *index_symbol_name(const struct die *function)
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
 * Notes a definition without code, which no address leads to. Linkers set the address of code that
 * they have dropped to 0.
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
	const char *name = index_symbol_name(function);

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

/* Chooses between the entries at one address. */
struct entry_choice {
	const char *name;
	uint64_t named;	   /* offset in .debug_info of the entry with that name; 0: none */
	uint64_t other;	   /* offset of an entry with another name */
	const char *title; /* the name of `other` */
	bool is_several;   /* `other` is one of several with different names */
};

static void look_at(struct dwarf_reader *reader, uint64_t offset, struct entry_choice *choice)
{
	_cleanup_die_ struct die die = die_at(&reader->main, offset);
	const char *name = die_is(&die) ? index_symbol_name(&die) : NULL;

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
		    struct entry_choice *choice)
{
	uintptr_t at = unit->is_foreign ? 0 : (uintptr_t)map_get(&unit->functions, address);

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
	/* The loop visits the partial units of the main file itself. */
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
 * Finds a definition without code by name: in the units, or in any unit if these do not have it
 * (link-time optimisation). Returns &ambiguous if there are several.
 */
static const void *find_bodiless(struct dwarf_reader *reader, const uint64_t *headers,
				 unsigned count, const struct entry_choice *choice)
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
	struct entry_choice choice = {.name = name};

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

/* ------------------------------------------------------------------ by an address inside */

static void read_foreign(struct dwarf_reader *reader, struct unit *unit, uint64_t header)
{
	uint64_t first, next;

	if (!unit->is_foreign || unit->foreign_read ||
	    !units_next(&reader->main, header, &first, &next))
		return;
	unit->foreign_read = true;
	_cleanup_die_ struct die die = die_at(&reader->main, first);

	if (die_is(&die))
		list_functions(reader, unit, &die);
}

/* Returns the smallest entry around an address. */
static struct die find_around(struct dwarf_reader *reader, const struct unit *unit,
			      uint64_t address)
{
	const struct entry *found = NULL;

	for (size_t i = 0; i < unit->entries.count; i++) {
		const struct entry *entry = vec_at(&unit->entries, i);

		if (address >= entry->start && address < entry->end &&
		    (!found || entry->end - entry->start < found->end - found->start))
			found = entry;
	}
	return found ? die_at(&reader->main, found->offset) : (struct die){0};
}

struct die index_find_code(struct dwarf_reader *reader, uint64_t header, uint64_t address)
{
	struct unit *unit = get_unit(reader, header);

	read_foreign(reader, unit, header);
	struct die found = find_around(reader, unit, address);

	if (die_is(&found))
		return found;
	read_inner(reader, unit, header);
	return find_around(reader, unit, address);
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
