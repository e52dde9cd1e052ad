/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes symbols when they are first needed.
 *
 * Kept are functions, IFUNCs, objects, and symbols without a type that are in code (assembler
 * without .type). A defined function must be in an executable segment, since a breakpoint may be
 * written at its address. Absolute symbols are not addresses (the names of versions are absolute
 * symbols). A name's version is cut off, since one function often has several.
 *
 * A lookup of one name must not decode a table without that name. For .dynsym, the hash table of
 * the file answers (elf_may_define); .symtab has none, so a filter is made of its names
 * (elf_may_mention). Only if these say that the name may be there, the table is decoded and indexed
 * by name. .dynsym and .symtab stay two arrays, so that pointers to symbols stay valid;
 * elf_symbols() joins copies of them.
 */
#include "object/elf_symbols.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "object/elf_hash.h"
#include "object/elf_mentions.h"
#include "object/elf_private.h"
#include "object/elf_records.h"
#include "object/elf_sections.h"
#include "object/elf_symtab.h"
#include "object/elf_text.h"

#include <string.h>

/* Read-only data may share a segment with code; the symbol's section tells them apart. */
static bool in_code_section(struct elf_file *file, const GElf_Sym *symbol)
{
	size_t count;
	const GElf_Shdr *sections = elf_sections(file, &count);

	return symbol->st_shndx >= count || sections[symbol->st_shndx].sh_flags & SHF_EXECINSTR;
}

static bool is_wanted(struct elf_file *file, const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	bool function = type == STT_FUNC || type == STT_GNU_IFUNC;

	if (!function && type != STT_OBJECT && type != STT_NOTYPE)
		return false;
	if (symbol->st_shndx == SHN_UNDEF || type == STT_OBJECT)
		return symbol->st_shndx != SHN_ABS;
	if (symbol->st_shndx == SHN_ABS)
		return false;
	/* The file has debug information only: its segments are those of another file. */
	if (!file->segment_count)
		return in_code_section(file, symbol);
	return elf_is_code(file, symbol->st_value) && (function || in_code_section(file, symbol));
}

/* Returns the versions of .dynsym as uint16_t, or NULL. Bit 15: another version is the default. */
static char *load_versions(const struct elf_file *file, size_t count)
{
	uint64_t offset, available;

	if (!file->versions || !elf_locate(file, file->versions, &offset, &available) ||
	    available / sizeof(uint16_t) < count)
		return NULL;
	return elf_file_load(file, offset, count * sizeof(uint16_t));
}

static uint16_t version_at(const char *versions, size_t index)
{
	uint16_t version = 0;

	if (versions)
		memcpy(&version, versions + index * sizeof version, sizeof version);
	return version;
}

static void decode(struct elf_file *file, struct symbol_table *table, const GElf_Sym *symbols,
		   size_t count, const struct string_table *names)
{
	const bool dynamic = table == &file->exported;
	_cleanup_free_ char *versions = dynamic ? load_versions(file, count) : NULL;

	table->items = xcalloc(count, sizeof *table->items);
	for (size_t i = 0; i < count; i++) {
		const GElf_Sym *symbol = &symbols[i];
		const char *name = elf_name_at(names, symbol->st_name);

		if (!name || !is_wanted(file, symbol))
			continue;
		table->items[table->count++] = (struct elf_symbol){
			.name = name,
			.value = symbol->st_shndx == SHN_UNDEF ? 0 : symbol->st_value,
			.size = symbol->st_size,
			.type = GELF_ST_TYPE(symbol->st_info),
			.bind = GELF_ST_BIND(symbol->st_info),
			.dynamic = dynamic,
			.old = version_at(versions, i) & VERSION_HIDDEN,
			.version = version_at(versions, i) & VERSION_NUMBER,
		};
	}
}

static void read_exported(struct elf_file *file)
{
	size_t count;

	if (file->exported.read)
		return;
	file->exported.read = true;
	_cleanup_free_ GElf_Sym *symbols = elf_load_dynamic_symbols(file, &count);

	if (symbols)
		decode(file, &file->exported, symbols, count, elf_dynamic_names(file));
	if (count > 1 && (!symbols || !elf_dynamic_names(file)->text))
		file->damage = "its table of exported symbols is damaged";
}

/* The order in which symbols are added to a chain: the last ones added are found first. */
enum preference { LOCAL, OLD, OTHERS };

static enum preference preference_of(const struct elf_symbol *symbol)
{
	if (symbol->bind == STB_LOCAL)
		return LOCAL;
	return symbol->old ? OLD : OTHERS;
}

/*
 * Adds the defined symbols of this kind. It begins with the last one, so that chains are in table
 * order.
 */
static void add_to_index(struct symbol_table *table, enum preference preference)
{
	struct name_index *index = &table->index;

	for (size_t i = table->count; i-- > 0;) {
		const struct elf_symbol *symbol = &table->items[i];

		if (!symbol->value || preference_of(symbol) != preference)
			continue;
		uint32_t *bucket = &index->buckets[elf_hash_name(symbol->name) & index->mask];

		index->next[i] = *bucket;
		*bucket = (uint32_t)i + 1;
	}
}

static void build_index(struct symbol_table *table)
{
	size_t buckets = 16;

	while (buckets < table->count)
		buckets *= 2;
	table->index.mask = (uint32_t)(buckets - 1);
	table->index.buckets = xcalloc(buckets, sizeof *table->index.buckets);
	table->index.next = xcalloc(table->count, sizeof *table->index.next);
	add_to_index(table, LOCAL);
	add_to_index(table, OLD);
	add_to_index(table, OTHERS);
}

/* Returns the first symbol of this name from `at` (an index plus 1) on in a chain, or NULL. */
static const struct elf_symbol *search_chain(const struct symbol_table *table, uint32_t at,
					     const char *name)
{
	for (; at; at = table->index.next[at - 1])
		if (!strcmp(table->items[at - 1].name, name))
			return &table->items[at - 1];
	return NULL;
}

static const struct elf_symbol *search_table(struct symbol_table *table, const char *name)
{
	if (!table->count)
		return NULL;
	if (!table->index.buckets)
		build_index(table);
	return search_chain(table, table->index.buckets[elf_hash_name(name) & table->index.mask],
			    name);
}

/*
 * Returns true if .symtab has global functions of this name, but no symbol of it at this function's
 * address.
 */
static bool is_contradicted(struct elf_file *file, const struct elf_symbol *function)
{
	const struct elf_symbol *known = search_table(&file->internal, function->name);
	const struct symbol_table *table = &file->internal;
	bool is_elsewhere = false;

	for (; known;
	     known = search_chain(table, table->index.next[known - table->items], function->name)) {
		if (known->value == function->value)
			return false;
		is_elsewhere |= known->type == STT_FUNC && known->bind != STB_LOCAL;
	}
	return is_elsewhere;
}

/*
 * Returns true if .symtab matches .dynsym. The program itself runs by .dynsym; only debuggers read
 * .symtab, so a .symtab of another build, or a damaged one, goes unnoticed. Its symbols would lead
 * into the middle of instructions.
 */
static bool is_of_this_file(struct elf_file *file)
{
	read_exported(file);
	for (size_t i = 0; i < file->exported.count; i++) {
		const struct elf_symbol *symbol = &file->exported.items[i];

		if (symbol->type == STT_FUNC && symbol->value && is_contradicted(file, symbol))
			return false;
	}
	return true;
}

static void read_internal(struct elf_file *file)
{
	const GElf_Shdr *section, *names;

	if (file->internal.read)
		return;
	file->internal.read = true;
	if (!elf_find_symtab(file, &section, &names))
		return;
	size_t count = section->sh_size / elf_record_size(file, ELF_T_SYM);
	_cleanup_free_ GElf_Sym *symbols = elf_load_records(file, ELF_T_SYM, section->sh_offset,
							    count);

	file->internal_names = elf_load_names(file, names->sh_offset, names->sh_size);
	if (!symbols || !file->internal_names.text)
		file->damage = "its symbol table is damaged";
	if (!symbols)
		return;
	decode(file, &file->internal, symbols, count, &file->internal_names);
	if (is_of_this_file(file))
		return;
	file->internal.count = 0;
	file->damage = "its .symtab is not that of its .dynsym";
}

const struct elf_symbol *elf_symbols(struct elf_file *file, size_t *count)
{
	const struct symbol_table *exported = &file->exported, *internal = &file->internal;

	read_exported(file);
	read_internal(file);
	*count = exported->count + internal->count;
	if (!internal->count)
		return exported->items;
	if (!exported->count)
		return internal->items;
	if (!file->symbols) {
		file->symbols = xcalloc(*count, sizeof *file->symbols);
		memcpy(file->symbols, exported->items, exported->count * sizeof *file->symbols);
		memcpy(file->symbols + exported->count, internal->items,
		       internal->count * sizeof *file->symbols);
	}
	return file->symbols;
}

bool elf_has_functions(struct elf_file *file)
{
	size_t count;
	const struct elf_symbol *symbols = elf_symbols(file, &count);

	for (size_t i = 0; i < count; i++)
		if (symbols[i].value && symbols[i].type != STT_OBJECT)
			return true;
	return false;
}

static const struct elf_symbol *find_internal(struct elf_file *file, const char *name)
{
	if (!file->internal.read && !elf_may_mention(file, name))
		return NULL;
	read_internal(file);
	return search_table(&file->internal, name);
}

const struct elf_symbol *elf_find_exported(struct elf_file *file, const char *name)
{
	if (!file->exported.read && !elf_may_define(file, name))
		return NULL;
	read_exported(file);
	return search_table(&file->exported, name);
}

const struct elf_symbol *elf_find_symbol(struct elf_file *file, const char *name)
{
	const struct elf_symbol *found = elf_find_exported(file, name);

	return found ? found : find_internal(file, name);
}

const struct elf_symbol *elf_find_next(struct elf_file *file, const struct elf_symbol *symbol)
{
	const struct symbol_table *table = symbol->dynamic ? &file->exported : &file->internal;
	size_t place = (size_t)(symbol - table->items);
	const struct elf_symbol *next = search_chain(table, table->index.next[place], symbol->name);

	return next || !symbol->dynamic ? next : find_internal(file, symbol->name);
}

bool elf_is_part_of_function(const char *name)
{
	const char *end = strstr(name, ".cold");

	return end && (!end[5] || end[5] == '.');
}
