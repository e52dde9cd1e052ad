/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes pointers to structs of the debug information as types of .conf files.
 *
 * Structs refer to one another in circles, so the target of a pointer cannot be written in place.
 * While a type is written, a mark with the place of the target's entry stands for the pointer
 * (link_add()). When the whole prototype is written, the marks are resolved: a struct that pointers
 * in other structs lead to gets a name and a typedef in front of the prototype, and the name
 * replaces the marks:
 *
 *   typedef node = struct;
 *   typedef node = struct(int value, node* next);
 *   int walk(node* root);
 *
 * A struct that only a parameter points to is written in place, as that is easier to read.
 *
 * Structs are collected level by level, those near to the parameters first, and no further than the
 * trace shows (-A). There are at most LINKED_MAX structs and LINKED_BYTES of text: a pointer may
 * lead to most of a program's types (a widget, an interpreter's object), and each of its functions
 * would have all of them. Pointers to structs further away become addresses.
 *
 * The text of a struct does not depend on the pointers to it, so it is cached: each entry is read
 * once.
 */
#include "dwarf/dwarf_link.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "dwarf/dwarf_die.h"
#include "dwarf/dwarf_private.h"
#include "dwarf/dwarf_struct.h"
#include "dwarf/dwarf_type.h"
#include "proto/conf_compound.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINKED_MAX = 16, LINKED_BYTES = 6 << 10 };

/*
 * A mark is MARK, the place in hexadecimal, MARK. ROOT_SIGN behind the first MARK: a parameter or
 * the result is the pointer, not a member of a struct.
 */
#define MARK '@'
#define ROOT_SIGN '+'

/* The text of a struct, with marks. */
struct definition {
	char *name; /* NULL: it has none */
	struct strbuf text;
	bool is_known;
};

/* A struct of the prototype. */
struct entry {
	uint64_t place;
	const struct definition *definition;
	unsigned level; /* pointers on the way from a parameter to the struct */
	bool is_linked; /* a pointer in a struct leads to it */
	char *name;	/* NULL until give_names() */
};

struct resolving {
	struct dwarf_reader *reader;
	struct vec entries; /* struct entry */
	unsigned linked;    /* linked entries */
	size_t bytes;	    /* of the text of the linked entries */
};

/* ------------------------------------------------------------------ definitions */

static void fill_definition(struct dwarf_reader *reader, uint64_t place,
			    struct definition *definition)
{
	_cleanup_die_ struct die die = die_of_place(reader, place);
	struct type_writer writer = {.text = &definition->text, .word = reader->word, .depth = 1};
	struct type_layout layout;

	if (!die_is(&die))
		return;
	const char *name = die_text(&die, DW_AT_name);

	if (type_is_name(name))
		definition->name = xstrdup(name);
	definition->is_known = type_is_shown(&die) && !type_add_object(&writer, &die, &layout) &&
			       !type_is_full(&writer);
}

/* Returns the definition of the entry at a place; NULL: it cannot be written. */
static const struct definition *find_definition(struct dwarf_reader *reader, uint64_t place)
{
	struct definition *definition = map_get(&reader->definitions, place);

	if (!definition) {
		definition = xcalloc(1, sizeof *definition);
		fill_definition(reader, place, definition);
		map_put(&reader->definitions, place, definition);
	}
	return definition->is_known ? definition : NULL;
}

void links_deinit(struct dwarf_reader *reader)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&reader->definitions, &cursor, NULL, &value)) {
		struct definition *definition = value;

		strbuf_deinit(&definition->text);
		free(definition->name);
		free(definition);
	}
	map_deinit(&reader->definitions);
}

/* ------------------------------------------------------------------ marks */

static struct dwarf_reader *reader_of(const struct die *die)
{
	return die->object->file->reader;
}

bool link_add_root(struct type_writer *writer, const struct die *target)
{
	const uint64_t place = die_place(target);

	if (!place || !find_definition(reader_of(target), place))
		return false;
	strbuf_printf(writer->text, "%c%c%" PRIx64 "%c", MARK, ROOT_SIGN, place, MARK);
	return true;
}

bool link_add(struct type_writer *writer, const struct die *target)
{
	const uint64_t place = die_place(target);

	/* Whether the target is shown is decided when the mark is resolved. */
	if (!place || writer->is_closed || !type_is_record(die_tag(target)))
		return false;
	strbuf_printf(writer->text, "%c%" PRIx64 "%c", MARK, place, MARK);
	return true;
}

struct mark {
	const char *before; /* the text in front of the mark */
	size_t length;	    /* of the text in front */
	bool is_root;
	uint64_t place;
};

/* Finds the next mark and moves *at behind it. False: there is none, and `before` is the rest. */
static bool next_mark(const char **at, struct mark *mark)
{
	const char *found = strchr(*at, MARK);
	char *end = NULL;

	mark->before = *at;
	if (!found)
		return false;
	mark->length = (size_t)(found - *at);
	mark->is_root = found[1] == ROOT_SIGN;
	mark->place = strtoull(found + 1 + mark->is_root, &end, 16);
	*at = end + (*end == MARK);
	return true;
}

/* ------------------------------------------------------------------ the structs of a prototype */

static struct entry *find_entry(const struct resolving *resolving, uint64_t place)
{
	for (size_t i = 0; i < resolving->entries.count; i++) {
		struct entry *entry = vec_at(&resolving->entries, i);

		if (entry->place == place)
			return entry;
	}
	return NULL;
}

static void link_entry(struct resolving *resolving, struct entry *entry)
{
	if (entry->is_linked)
		return;
	entry->is_linked = true;
	resolving->linked++;
	resolving->bytes += entry->definition->text.length;
}

/* The target of a parameter is written whatever the limits on linked structs are. */
static void note_root(struct resolving *resolving, uint64_t place)
{
	struct entry entry = {.place = place, .level = 1};

	if (find_entry(resolving, place))
		return;
	entry.definition = find_definition(resolving->reader, place);
	if (entry.definition)
		vec_push(&resolving->entries, &entry);
}

static void note_link(struct resolving *resolving, uint64_t place, unsigned level)
{
	struct entry *known = find_entry(resolving, place);
	struct entry entry = {.place = place, .level = level};

	if (known) {
		link_entry(resolving, known);
		return;
	}
	if (level > resolving->reader->levels || resolving->linked >= LINKED_MAX)
		return;
	entry.definition = find_definition(resolving->reader, place);
	if (!entry.definition || resolving->bytes + entry.definition->text.length > LINKED_BYTES)
		return;
	vec_push(&resolving->entries, &entry);
	link_entry(resolving, vec_at(&resolving->entries, resolving->entries.count - 1));
}

/* Breadth-first: new entries are appended, and visited after all earlier ones. */
static void find_entries(struct resolving *resolving, const char *text)
{
	struct mark mark;

	for (const char *at = text; next_mark(&at, &mark);)
		if (mark.is_root)
			note_root(resolving, mark.place);
	for (const char *at = text; next_mark(&at, &mark);)
		if (!mark.is_root)
			note_link(resolving, mark.place, 2);
	for (size_t i = 0; i < resolving->entries.count; i++) {
		const struct entry entry = *(struct entry *)vec_at(&resolving->entries, i);

		for (const char *at = entry.definition->text.text; next_mark(&at, &mark);)
			note_link(resolving, mark.place, entry.level + 1);
	}
}

/* ------------------------------------------------------------------ names */

/*
 * Returns true if a typedef cannot have that name: another one has it, or the .conf language does.
 */
static bool is_taken(const struct resolving *resolving, const char *name)
{
	const struct conf_token token = {.kind = TOKEN_NAME, .text = name, .length = strlen(name)};

	if (conf_is_word(&token) || protolib_has_own_type(name))
		return true;
	for (size_t i = 0; i < resolving->entries.count; i++) {
		const struct entry *entry = vec_at(&resolving->entries, i);

		if (entry->name && !strcmp(entry->name, name))
			return true;
	}
	return false;
}

static char *new_name(const struct resolving *resolving, const char *wanted)
{
	char *name = xstrdup(wanted ? wanted : "unnamed");

	for (unsigned number = 2; is_taken(resolving, name); number++) {
		free(name);
		name = xasprintf("%s_%u", wanted ? wanted : "unnamed", number);
	}
	return name;
}

static void give_names(struct resolving *resolving)
{
	for (size_t i = 0; i < resolving->entries.count; i++) {
		struct entry *entry = vec_at(&resolving->entries, i);

		if (entry->is_linked)
			entry->name = new_name(resolving, entry->definition->name);
	}
}

/* ------------------------------------------------------------------ text */

static void add_resolved(const struct resolving *resolving, const char *text, struct strbuf *out)
{
	struct mark mark;
	const char *at = text;

	while (next_mark(&at, &mark)) {
		const struct entry *entry = find_entry(resolving, mark.place);

		strbuf_add_bytes(out, mark.before, mark.length);
		if (entry && entry->name) {
			strbuf_printf(out, "%s*", entry->name);
		} else if (entry && mark.is_root &&
			   out->length + entry->definition->text.length <= DWARF_TEXT_MAX) {
			add_resolved(resolving, entry->definition->text.text, out);
			strbuf_add_char(out, '*');
		} else {
			strbuf_add(out, "addr");
		}
	}
	strbuf_add(out, mark.before);
}

static void add_typedefs(const struct resolving *resolving, struct strbuf *out)
{
	for (unsigned whole = 0; whole < 2; whole++)
		for (size_t i = 0; i < resolving->entries.count; i++) {
			const struct entry *entry = vec_at(&resolving->entries, i);

			if (!entry->name)
				continue;
			strbuf_printf(out, "typedef %s = ", entry->name);
			if (whole)
				add_resolved(resolving, entry->definition->text.text, out);
			else
				strbuf_add(out, "struct");
			strbuf_add(out, ";\n");
		}
}

void links_resolve(struct dwarf_reader *reader, struct strbuf *text, size_t start)
{
	struct resolving resolving = {.reader = reader, .entries = VEC_OF(struct entry)};

	if (!strchr(text->text + start, MARK))
		return;
	_cleanup_free_ char *marked = xstrdup(text->text + start);

	text->length = start;
	find_entries(&resolving, marked);
	give_names(&resolving);
	add_typedefs(&resolving, text);
	add_resolved(&resolving, marked, text);
	for (size_t i = 0; i < resolving.entries.count; i++)
		free(((struct entry *)vec_at(&resolving.entries, i))->name);
	vec_deinit(&resolving.entries);
}
