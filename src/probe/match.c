/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evaluates the filters of -e, -l and -x for one module: calls through GOT slots and their stubs,
 * function entries by symbol, and functions that only a data word or the debug file knows.
 */
#include "probe/match.h"

#include "code/slot_calls.h"
#include "object/elf_got_slots.h"
#include "object/elf_ifuncs.h"
#include "object/elf_memory.h"
#include "object/elf_symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static bool enter(const struct match_module *module, struct filter *filter)
{
	struct filter_module what = {.soname = elf_soname(module->file),
				     .path = module->path,
				     .is_main = module->is_main,
				     .mapped = module->mapped,
				     .listed = module->listed,
				     .program = module->program};

	return filter_enter(filter, &what);
}

static void add(struct vec *found, enum match_kind kind, uint64_t address, const char *name,
		struct filter_rule *rule)
{
	const struct match match = {.kind = kind,
				    .address = address,
				    .name = name,
				    .rule = rule,
				    .by_name = rule->symbol.kind == PATTERN_PLAIN};

	vec_push(found, &match);
}

/* Functions that the compiler's start-up code calls in each program. */
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

/* Returns the first of the calls by this GOT slot. */
static const struct slot_call *first_call(const struct slot_call *calls, size_t count,
					  const struct got_slot *slot)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (calls[middle].slot < slot)
			low = middle + 1;
		else
			high = middle;
	}
	return calls + low;
}

/*
 * Adds the places where code calls through the GOT slot without a stub. A GOT slot with a stub in
 * .plt.got is searched for as well, because some of the code may not use that stub.
 */
static bool match_pointers(const struct match_module *module, struct filter_rule *rule,
			   const struct got_slot *slot, const char *name, struct vec *found)
{
	size_t count, before = found->count;

	if ((slot->stub && slot->kind == SLOT_JUMP) ||
	    (rule->symbol.kind != PATTERN_PLAIN && is_start_up(name)))
		return false;
	const struct slot_call *calls = slot_calls(module->file, module->decoder, &count);
	const struct slot_call *call = first_call(calls, count, slot);

	for (; call < calls + count && call->slot == slot; call++) {
		struct match match = {.kind = MATCH_POINTER,
				      .address = call->address,
				      .name = name,
				      .rule = rule,
				      .by_name = rule->symbol.kind == PATTERN_PLAIN,
				      .slot = slot->address,
				      .resolver = slot->kind == SLOT_IRELATIVE ? slot->addend : 0,
				      .in_code = slot->kind == SLOT_CODE};

		vec_push(found, &match);
	}
	return found->count > before;
}

/*
 * Returns the rule that selects the function of a GOT slot, and in *name the first of its names
 * that a rule selects. If a rule deselects the function's best name, its other names do not count.
 */
static struct filter_rule *asks_by_slot(const struct match_module *module,
					const struct filter *filter, const struct got_slot *slot,
					const char **name)
{
	const char *best = got_slot_name(module->file, slot);
	struct filter_rule *rule = NULL;

	for (size_t i = 0; !rule && (*name = got_slot_alias(module->file, slot, i)); i++) {
		if (i == 1 && filter_excludes(filter, best))
			return NULL;
		rule = filter_asks(filter, *name);
	}
	return rule;
}

/* Marks rules that match any name of the slot's function. */
static void slot_found(const struct match_module *module, struct filter *filter,
		       const struct got_slot *slot)
{
	const char *name;

	for (size_t i = 0; (name = got_slot_alias(module->file, slot, i)); i++)
		filter_found(filter, name);
}

static void match_call(const struct match_module *module, struct filter *filter,
		       const struct got_slot *slot, struct vec *found)
{
	const char *name;
	struct filter_rule *rule = asks_by_slot(module, filter, slot, &name);

	if (!rule)
		return;
	bool called = match_pointers(module, rule, slot, name, found);
	bool unseen = (!called && !slot->stub && slot->kind == SLOT_JUMP) ||
		      (slot->may_be_unseen && !is_start_up(name));

	if (slot->stub)
		add(found, MATCH_CALL, slot->stub, name, rule);
	if (unseen)
		add(found, MATCH_NO_STUB, slot->address, name, rule);
	if (called || slot->stub || unseen)
		slot_found(module, filter, slot);
	else
		filter_missed(filter, name, MISS_NO_STUB);
}

static void match_calls(const struct match_module *module, struct filter *filter, struct vec *found)
{
	size_t count;
	const struct got_slot *slots = elf_got_slots(module->file, &count);

	if (!enter(module, filter))
		return;
	filter_missed(filter, NULL, MISS_NAME);
	for (size_t i = 0; i < count; i++)
		match_call(module, filter, &slots[i], found);
}

/*
 * Matches the calls to libraries (-l). Each GOT slot may lead to another library; slots of one
 * library are often adjacent. A slot without a symbol belongs to the module itself.
 */
static void match_calls_to(const struct match_module *module, struct filter *filter,
			   struct vec *found)
{
	size_t count;
	const struct got_slot *slots = elf_got_slots(module->file, &count);
	const char *entered = NULL;
	bool asked = false;

	if (enter(module, filter))
		filter_missed(filter, NULL, MISS_UNCALLED);

	for (size_t i = 0; i < count; i++) {
		struct filter_module library;

		if (!slots[i].name || !module->find_library(module->context, &slots[i], &library))
			continue;
		if (library.path != entered) {
			entered = library.path;
			asked = filter_enter(filter, &library);
			filter_missed(filter, NULL, MISS_NAME);
		}
		if (asked)
			match_call(module, filter, &slots[i], found);
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
	struct filter_rule *rule = symbol->value ? filter_asks(filter, symbol->name) : NULL;

	if (!rule)
		return;
	bool function = symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC ||
			(symbol->type == STT_NOTYPE && rule->symbol.kind == PATTERN_PLAIN);

	if (!function || elf_is_part_of_function(symbol->name) ||
	    !in_text(module->file, symbol->value)) {
		filter_missed(filter, symbol->name, MISS_NO_FUNCTION);
		return;
	}
	filter_found(filter, symbol->name);
	add(found, symbol->type == STT_GNU_IFUNC ? MATCH_IFUNC : MATCH_ENTRY, symbol->value,
	    symbol->name, rule);
}

/* Returns true if the rule says which modules it applies to. */
static bool is_named(const struct filter_rule *rule)
{
	return rule->library == LIBRARY_MAIN || rule->module.kind != PATTERN_ANY;
}

/* Returns true if the rule names the module, or the module is the program. */
static bool is_meant(const struct match_module *module, const struct filter_rule *rule)
{
	return is_named(rule) || module->is_main;
}

static struct elf_file *debug_file(const struct match_module *module)
{
	return module->debug_file ? module->debug_file(module->context) : NULL;
}

static bool match_name(const struct match_module *module, struct elf_file *file,
		       struct filter *filter, const char *name, struct vec *found)
{
	const struct elf_symbol *symbol = elf_find_symbol(file, name);
	const struct elf_symbol *first = symbol;

	for (; symbol; symbol = elf_find_next(file, symbol))
		match_symbol(module, filter, symbol, found);
	return first != NULL;
}

static void match_named(const struct match_module *module, struct filter *filter, struct vec *found)
{
	for (size_t i = 0; i < filter->rules.count; i++) {
		const struct filter_rule *rule = vec_at(&filter->rules, i);
		const char *name = rule->symbol.text;

		if (!rule->applies || rule->subtracts ||
		    match_name(module, module->file, filter, name, found) ||
		    !is_meant(module, rule))
			continue;
		struct elf_file *other = debug_file(module);

		if (other)
			match_name(module, other, filter, name, found);
	}
}

static void match_all(const struct match_module *module, struct elf_file *file,
		      struct filter *filter, struct vec *found)
{
	size_t count;
	const struct elf_symbol *symbols = elf_symbols(file, &count);

	for (size_t i = 0; i < count; i++)
		match_symbol(module, filter, &symbols[i], found);
}

/*
 * Returns true if a rule has a source-level name that was not found; its symbol may have been
 * stripped.
 */
static bool is_missed_name(const struct match_module *module, const struct filter_rule *rule)
{
	return rule->applies && !rule->subtracts && !rule->matched && is_meant(module, rule) &&
	       rule->symbol.kind == PATTERN_PLAIN && rule->symbol.source;
}

/* A source-level name does not tell the symbol, so all symbols are compared with it. */
static void match_source_names(const struct match_module *module, struct filter *filter,
			       struct vec *found)
{
	size_t count;

	for (size_t i = 0; i < filter->rules.count; i++) {
		const struct filter_rule *rule = vec_at(&filter->rules, i);
		struct elf_file *other = is_missed_name(module, rule) ? debug_file(module) : NULL;
		const struct elf_symbol *symbols = other ? elf_symbols(other, &count) : NULL;

		for (size_t k = 0; symbols && k < count; k++)
			if (pattern_matches(&rule->symbol, symbols[k].name))
				match_symbol(module, filter, &symbols[k], found);
	}
}

static void match_entries(const struct match_module *module, struct filter *filter,
			  struct vec *found)
{
	/* Decode all symbols of a file only if each of them has to be compared. */
	if (filter_is_plain(filter)) {
		match_named(module, filter, found);
		return;
	}
	match_all(module, module->file, filter, found);
	match_source_names(module, filter, found);
}

/*
 * Returns true if the module has no symbol of a function. That reads all symbols, so it is checked
 * only if an unmatched rule names the module, or is about the program and either is a pattern
 * (which has read all symbols already) or the program is linked statically.
 */
static bool is_stripped(const struct match_module *module, const struct filter *filter)
{
	/* the only module in which a name could be */
	const bool is_static = !elf_interpreter(module->file);
	bool named = false;

	for (size_t i = 0; i < filter->rules.count; i++) {
		const struct filter_rule *rule = vec_at(&filter->rules, i);

		named |= rule->applies && !rule->matched && is_meant(module, rule) &&
			 (!pattern_is_symbol(&rule->symbol) || is_named(rule) || is_static);
	}
	return named && !elf_has_functions(module->file);
}

static void match_slot(const struct match_module *module, struct filter *filter,
		       const struct prototype *slot, struct vec *found)
{
	struct filter_rule *rule = filter_asks(filter, slot->name);
	const struct elf_symbol *symbol = rule ? elf_find_symbol(module->file, slot->slot_symbol)
					       : NULL;

	if (!symbol || !symbol->value)
		return;
	const unsigned word = elf_arch(module->file)->abi->word;

	filter_missed(filter, slot->name, MISS_EMPTY);
	vec_push(found,
		 &(struct match){.kind = slot->slot_is_getter ? MATCH_GETTER : MATCH_SLOT,
				 .address = symbol->value + table_place_bytes(&slot->slot, word),
				 .table_offset = table_place_bytes(&slot->table, word),
				 .name = slot->name,
				 .rule = rule,
				 .by_name = true});
}

/* Matches functions without a symbol whose place the module's .conf file describes. */
static void match_prototypes(const struct match_module *module, const struct protolib *prototypes,
			     struct filter *filter, struct vec *found)
{
	const struct prototype *prototype;
	size_t cursor = 0;

	if (!prototypes || !protolib_has_places(prototypes))
		return;
	while ((prototype = protolib_next(prototypes, &cursor)))
		if (prototype->slot_symbol)
			match_slot(module, filter, prototype, found);
}

static void match_stripped(const struct match_module *module, struct filter *filter,
			   struct vec *found)
{
	struct elf_file *other = debug_file(module);

	if (other)
		match_all(module, other, filter, found);
	else
		filter_missed(filter, NULL, MISS_SYMBOLS);
}

static void match_functions(const struct match_module *module, struct filter *filter,
			    struct vec *found)
{
	if (!enter(module, filter))
		return;
	filter_missed(filter, NULL, MISS_NAME);
	if (filter->slot_symbol) {
		const struct filter_rule *rule = vec_at(&filter->rules, 0);
		struct prototype slot = {.name = rule->symbol.text,
					 .slot_symbol = filter->slot_symbol,
					 .slot = {filter->slot_offset, filter->slot_index}};

		match_slot(module, filter, &slot, found);
		return;
	}
	match_entries(module, filter, found);
	match_prototypes(module, module->prototypes[0], filter, found);
	match_prototypes(module, module->prototypes[1], filter, found);
	if (elf_is_from_memory(module->file))
		filter_missed(filter, NULL, MISS_UNKNOWN);
	else if (is_stripped(module, filter))
		match_stripped(module, filter, found);
}

static int compare_places(const struct match *x, const struct match *y)
{
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->table_offset != y->table_offset)
		return x->table_offset < y->table_offset ? -1 : 1;
	return (x->slot > y->slot) - (x->slot < y->slot);
}

/* Sorts by place, then by name, the plainest first. */
static int compare(const void *a, const void *b)
{
	const struct match *x = a;
	const struct match *y = b;
	int places = compare_places(x, y);

	if (places)
		return places;
	return elf_compare_names(x->name, y->name);
}

/* Keeps one match per place. */
static void unite(struct vec *found, size_t first)
{
	struct match *matches = found->items;
	size_t kept = first;

	if (found->count - first < 2)
		return;
	qsort(&matches[first], found->count - first, sizeof *matches, compare);
	for (size_t i = first + 1; i < found->count; i++) {
		if (compare_places(&matches[i], &matches[kept]) != 0)
			matches[++kept] = matches[i];
	}
	found->count = kept + 1;
}

void match_libraries(const struct match_module *module, const struct match_filters *filters,
		     struct vec *found)
{
	size_t first = found->count;

	for (size_t i = 0; i < filters->libraries.count; i++)
		match_calls_to(module, vec_at(&filters->libraries, i), found);
	unite(found, first);
}

void match_module(const struct match_module *module, const struct match_filters *filters,
		  struct vec *found)
{
	size_t first = found->count;

	for (size_t i = 0; i < filters->calls.count; i++)
		match_calls(module, vec_at(&filters->calls, i), found);
	for (size_t i = 0; i < filters->entries.count; i++)
		match_functions(module, vec_at(&filters->entries, i), found);
	match_libraries(module, filters, found);
	unite(found, first);
}
