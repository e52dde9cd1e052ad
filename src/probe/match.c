/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/match.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static bool module_fits(const struct match_module *module, const struct filter *filter)
{
	return filter_matches_module(filter, elf_soname(module->file), module->path,
				     module->is_main);
}

static void add(struct vec *found, enum match_kind kind, uint64_t address, const char *name,
		struct filter *filter)
{
	filter->matched = true;
	vec_push(found, &(struct match){kind, address, name, filter});
}

static void missed(struct filter *filter, enum filter_miss miss)
{
	if (miss > filter->miss)
		filter->miss = miss;
}

/* Called by the start-up code of each program, which the compiler brings along. */
static bool is_start_up(const char *name)
{
	static const char *const names[] = {"__libc_start_main", "__gmon_start__", "__cxa_finalize",
					    "_ITM_deregisterTMCloneTable",
					    "_ITM_registerTMCloneTable"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static bool is_called(const struct match_module *module, const struct filter *filter,
		      const struct elf_slot *slot)
{
	if (slot->kind == SLOT_JUMP)
		return true; /* that is what it is for: its stub was not found */
	if (slot->kind != SLOT_DATA || (filter->name_is_glob && is_start_up(slot->name)))
		return false;
	elf_find_calls(module->file);
	return slot->called;
}

static void match_calls(const struct match_module *module, struct filter *filter, struct vec *found)
{
	size_t count;
	const struct elf_slot *slots = elf_slots(module->file, &count);

	for (size_t i = 0; i < count; i++) {
		if (!slots[i].name || !filter_matches_name(filter, slots[i].name))
			continue;
		if (slots[i].stub)
			add(found, MATCH_CALL, slots[i].stub, slots[i].name, filter);
		else if (is_called(module, filter, &slots[i]))
			add(found, MATCH_NO_STUB, slots[i].address, slots[i].name, filter);
		else
			missed(filter, MISS_NO_STUB);
	}
}

static bool in_text(const struct elf_file *file, uint64_t address)
{
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);

	for (size_t i = 0; i < count; i++)
		if ((segments[i].flags & PF_X) && address >= segments[i].address &&
		    address - segments[i].address < segments[i].file_size)
			return true;
	return false;
}

static void match_symbol(const struct match_module *module, struct filter *filter,
			 const struct elf_symbol *symbol, struct vec *found)
{
	bool function = symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC ||
			(symbol->type == STT_NOTYPE && !filter->name_is_glob);

	if (!symbol->value)
		return;
	if (!function || !in_text(module->file, symbol->value))
		missed(filter, MISS_NO_FUNCTION);
	else
		add(found, symbol->type == STT_GNU_IFUNC ? MATCH_IFUNC : MATCH_ENTRY, symbol->value,
		    symbol->name, filter);
}

static void match_entries(const struct match_module *module, struct filter *filter,
			  struct vec *found)
{
	if (!filter->name_is_glob) {
		const struct elf_symbol *symbol = elf_find_symbol(module->file, filter->name);

		for (; symbol; symbol = elf_find_next(module->file, symbol))
			match_symbol(module, filter, symbol, found);
		return;
	}
	size_t count;
	const struct elf_symbol *symbols = elf_symbols(module->file, &count);

	for (size_t i = 0; i < count; i++)
		if (filter_matches_name(filter, symbols[i].name))
			match_symbol(module, filter, &symbols[i], found);
}

/* Whether any function has a symbol; asked of modules that a filter names only, as it reads them all. */
static bool is_stripped(const struct match_module *module, const struct filter *filter)
{
	size_t count;

	if (!filter->module)
		return false;
	const struct elf_symbol *symbols = elf_symbols(module->file, &count);

	for (size_t i = 0; i < count; i++)
		if (symbols[i].value && symbols[i].type != STT_OBJECT)
			return false;
	return true;
}

static void match_slot(const struct match_module *module, struct filter *filter,
		       const char *symbol_name, uint64_t offset, const char *name,
		       struct vec *found)
{
	const struct elf_symbol *symbol = elf_find_symbol(module->file, symbol_name);

	if (!symbol || !symbol->value)
		return;
	missed(filter, MISS_EMPTY);
	vec_push(found, &(struct match){MATCH_SLOT, symbol->value + offset, name, filter});
}

/* Functions without a symbol that the module's .conf file knows the place of. */
static void match_prototypes(const struct match_module *module, const struct protolib *prototypes,
			     struct filter *filter, struct vec *found)
{
	const struct prototype *prototype;
	size_t cursor = 0;

	while (prototypes && (prototype = protolib_next(prototypes, &cursor)))
		if (prototype->slot_symbol && filter_matches_name(filter, prototype->name))
			match_slot(module, filter, prototype->slot_symbol, prototype->slot_offset,
				   prototype->name, found);
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* By address, then kind, then the plainest name first. */
static int compare(const void *a, const void *b)
{
	const struct match *x = a;
	const struct match *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	size_t x_plain = underscores(x->name);
	size_t y_plain = underscores(y->name);

	if (x_plain != y_plain)
		return x_plain < y_plain ? -1 : 1;
	x_plain = strlen(x->name);
	y_plain = strlen(y->name);
	if (x_plain != y_plain)
		return x_plain < y_plain ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Keeps one match per address and kind. */
static void unite(struct vec *found, size_t first)
{
	struct match *matches = found->items;
	size_t kept = first;

	if (found->count - first < 2)
		return;
	qsort(&matches[first], found->count - first, sizeof *matches, compare);
	for (size_t i = first + 1; i < found->count; i++) {
		if (matches[i].address != matches[kept].address ||
		    matches[i].kind != matches[kept].kind)
			matches[++kept] = matches[i];
	}
	found->count = kept + 1;
}

void match_module(const struct match_module *module, const struct match_filters *filters,
		  struct vec *found)
{
	size_t first = found->count;

	for (size_t i = 0; i < filters->calls.count; i++) {
		struct filter *filter = vec_at(&filters->calls, i);

		if (!module_fits(module, filter))
			continue;
		missed(filter, MISS_NAME);
		match_calls(module, filter, found);
	}
	for (size_t i = 0; i < filters->entries.count; i++) {
		struct filter *filter = vec_at(&filters->entries, i);

		if (!module_fits(module, filter))
			continue;
		missed(filter, MISS_NAME);
		if (filter->slot_symbol) {
			match_slot(module, filter, filter->slot_symbol, filter->slot_offset,
				   filter->name, found);
			continue;
		}
		match_entries(module, filter, found);
		match_prototypes(module, module->prototypes[0], filter, found);
		match_prototypes(module, module->prototypes[1], filter, found);
		if (elf_is_from_memory(module->file))
			missed(filter, MISS_UNKNOWN);
		else if (!filter->matched && is_stripped(module, filter))
			missed(filter, MISS_SYMBOLS);
	}
	unite(found, first);
}
