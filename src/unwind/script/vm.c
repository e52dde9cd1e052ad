/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtual machine in a process: which description is the right one, and what it yields.
 *
 * A description applies if its module symbol is there, all other symbols are, and its condition
 * holds in the process. If several apply, the first in the order of files does. If the module
 * symbol is there and no description applies, the version is told instead, so that nothing is ever
 * read with the offsets of another version.
 */
#include "unwind/script/vm.h"

#include "base/map.h"
#include "base/xalloc.h"
#include "unwind/script/frame_hash.h"
#include "unwind/script/page_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 400000, NAMES_MAX = 8192 };

/* A frame that was named. */
struct named_frame {
	struct raw_frame raw;
	struct script_frame frame; /* owns file and function */
	struct named_frame *next;  /* with the same hash */
};

struct script_vm {
	const struct script_description *description;
	struct page_cache *pages;
	uint64_t values[SCRIPT_VALUES_MAX];
	struct map named; /* hash of a frame's words → struct named_frame */
	size_t named_count;
	bool frozen; /* pages stay in the cache from walk to walk */
};

static void forget_names(struct script_vm *vm)
{
	struct named_frame *named;
	size_t cursor = 0;
	uint64_t key;
	void *value;

	while (map_next(&vm->named, &cursor, &key, &value))
		for (named = value; named;) {
			struct named_frame *next = named->next;

			free((char *)(uintptr_t)named->frame.file);
			free((char *)(uintptr_t)named->frame.function);
			free(named);
			named = next;
		}
	map_deinit(&vm->named);
	vm->named_count = 0;
}

void script_vm_destroy(struct script_vm *vm)
{
	if (!vm)
		return;
	forget_names(vm);
	free(vm->pages);
	free(vm);
}

const struct script_description *script_vm_description(const struct script_vm *vm)
{
	return vm->description;
}

uint64_t script_vm_pages_read(const struct script_vm *vm)
{
	return vm->pages->misses;
}

/* Runs a program that has results, not frames. Returns false if it did not come to its end. */
static bool compute(const struct script_vm *vm, const struct script_program *program,
		    const struct raw_frame *decoded, uint64_t *results, unsigned count)
{
	struct script_run run = {.program = program,
				 .values = vm->values,
				 .value_count = (unsigned)vm->description->values.count,
				 .read = page_cache_number,
				 .context = vm->pages,
				 .decoded = decoded,
				 .results = results,
				 .result_count = count,
				 .steps_max = STEPS_MAX};

	return script_execute(&run) == SCRIPT_DONE;
}

/* Finds the symbol of a value. Returns false if it is missing. */
static bool find(const struct script_symbols *symbols, const struct script_value *value,
		 struct script_symbol *symbol)
{
	switch (value->kind) {
	case SCRIPT_VALUE_TLS_MODULE:
	case SCRIPT_VALUE_TLS_OFFSET:
		return symbols->find_tls(symbols->context, value->symbol, symbol);
	case SCRIPT_VALUE_TLS_OF_MODULE:
	case SCRIPT_VALUE_TLS_OF_OFFSET:
		return symbols->find_tls_of(symbols->context, value->symbol, symbol);
	default:
		return symbols->find(symbols->context, value->symbol, symbol);
	}
}

static bool is_tls_module(enum script_value_kind kind)
{
	return kind == SCRIPT_VALUE_TLS_MODULE || kind == SCRIPT_VALUE_TLS_OF_MODULE;
}

/* Sets the values that symbols have. Returns false if one is missing; its value is 0. */
static bool resolve(struct script_vm *vm, const struct script_symbols *symbols)
{
	const struct vec *values = &vm->description->values;
	bool are_there = true;

	for (size_t i = 0; i < values->count; i++) {
		const struct script_value *value = vec_at(values, i);
		struct script_symbol symbol = {0};

		vm->values[i] = 0;
		if (value->kind == SCRIPT_VALUE_COMPUTED)
			continue;
		const bool is_there = find(symbols, value, &symbol);

		if (value->kind == SCRIPT_VALUE_HAS)
			vm->values[i] = is_there;
		else if (value->kind == SCRIPT_VALUE_SIZE)
			vm->values[i] = symbol.size;
		else if (is_there)
			vm->values[i] = is_tls_module(value->kind) ? symbol.tls_module
								   : symbol.value;
		else
			are_there = false;
	}
	return are_there;
}

/* Tries a description. */
static bool applies(struct script_vm *vm, const struct script_description *description,
		    const struct script_symbols *symbols)
{
	uint64_t holds = 0;

	vm->description = description;
	return resolve(vm, symbols) && compute(vm, description->when, NULL, &holds, 1) && holds &&
	       compute(vm, description->setup, NULL, vm->values, SCRIPT_VALUES_MAX);
}

/* What the description of another version tells of this one. */
enum told {
	TOLD_NOTHING, /* it has no statement for that, or needs a symbol that this version lacks */
	TOLD_LATER,   /* the machine is not set up so far */
	TOLD_NUMBER
};

/* Writes "Python 3.15" for TOLD_NUMBER. */
static enum told tell_number(struct script_vm *vm, const struct script_description *description,
			     const struct script_symbols *symbols, struct strbuf *version)
{
	uint64_t numbers[SCRIPT_ARGUMENTS_MAX] = {0};

	vm->description = description;
	const bool are_there = resolve(vm, symbols);

	if (!description->tell)
		return TOLD_NOTHING;
	if (!compute(vm, description->tell, NULL, numbers, SCRIPT_ARGUMENTS_MAX))
		return are_there ? TOLD_LATER : TOLD_NOTHING;
	strbuf_add(version, description->language);
	for (unsigned i = 0; i < description->tell_count; i++)
		strbuf_printf(version, "%c%lu", i ? '.' : ' ', (unsigned long)numbers[i]);
	return TOLD_NUMBER;
}

/* Returns true if the module has the symbol by which the description finds its machine. */
static bool is_of(const struct script_description *description,
		  const struct script_symbols *symbols)
{
	struct script_symbol symbol;

	return symbols->find(symbols->context, description->module, &symbol);
}

/* Writes what is known of the version of a machine that no description is for. */
static void tell_version(struct script_vm *vm, const struct script_library *library,
			 const struct script_symbols *symbols, struct strbuf *version)
{
	const char *language = NULL;
	enum told best = TOLD_NOTHING;
	size_t count;
	struct script_description *const *all = script_library_all(library, &count);

	strbuf_clear(version);
	for (size_t i = 0; i < count && best != TOLD_NUMBER; i++) {
		if (!is_of(all[i], symbols))
			continue;
		const enum told told = tell_number(vm, all[i], symbols, version);

		best = told > best ? told : best;
		language = all[i]->language;
	}
	if (best == TOLD_NOTHING)
		strbuf_printf(version, "this version of %s", language);
}

/* Finds the description for the module. Returns 0 or -errno, as script_vm_bind(). */
static int choose(struct script_vm *vm, const struct script_library *library,
		  const struct script_symbols *symbols, struct strbuf *version)
{
	const char *module = "";
	bool is_there = false, is_known = false;
	size_t count;
	struct script_description *const *all = script_library_all(library, &count);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(module, all[i]->module) != 0)
			is_there = is_of(all[i], symbols);
		module = all[i]->module;
		if (is_there && applies(vm, all[i], symbols))
			return 0;
		is_known |= is_there;
	}
	if (is_known && version)
		tell_version(vm, library, symbols, version);
	return is_known ? -ENOTSUP : -ENOENT;
}

int script_vm_bind(const struct script_library *library, const struct script_symbols *symbols,
		   const struct memory_source *memory, struct script_vm **vm,
		   struct strbuf *version)
{
	struct script_vm *bound = xcalloc(1, sizeof *bound);

	bound->pages = xmalloc(sizeof *bound->pages);
	page_cache_init(bound->pages, memory);
	const int status = choose(bound, library, symbols, version);

	if (status) {
		script_vm_destroy(bound);
		bound = NULL;
	}
	*vm = bound;
	return status;
}

enum script_end script_vm_walk(struct script_vm *vm, const struct script_thread *thread,
			       struct raw_frame *frames, size_t capacity, size_t *count)
{
	struct script_run run = {.program = vm->description->walk,
				 .values = vm->values,
				 .value_count = (unsigned)vm->description->values.count,
				 .read = page_cache_number,
				 .context = vm->pages,
				 .thread_pointer = thread->thread_pointer,
				 .tid = thread->tid,
				 .frames = frames,
				 .capacity = capacity,
				 .steps_max = STEPS_MAX};

	if (!vm->frozen)
		page_cache_clear(vm->pages);
	const enum script_end end = script_execute(&run);

	*count = run.frame_count;
	return end;
}

/* Returns what the first clause whose condition holds computes, in `results`; NULL: none. */
static const struct script_clause *find_clause(const struct script_vm *vm,
					       const struct vec *clauses,
					       const struct raw_frame *raw, uint64_t *results)
{
	for (size_t i = 0; i < clauses->count; i++) {
		const struct script_clause *clause = vec_at(clauses, i);

		memset(results, 0, SCRIPT_CLAUSE_RESULTS * sizeof *results);
		if (!compute(vm, clause->program, raw, results, SCRIPT_CLAUSE_RESULTS))
			return NULL;
		if (results[0])
			return clause;
	}
	return NULL;
}

/* Returns the text that the clauses make, or NULL. The caller frees it. */
static char *text_of(const struct script_vm *vm, const struct vec *clauses,
		     const struct raw_frame *raw)
{
	uint64_t results[SCRIPT_CLAUSE_RESULTS];
	const struct script_clause *clause = find_clause(vm, clauses, raw, results);
	struct strbuf text = {0};

	for (size_t i = 0; clause && i < clause->parts.count; i++) {
		const struct script_part *part = vec_at(&clause->parts, i);

		if (!part->decoder)
			strbuf_add(&text, part->literal);
		else if (!part->decoder->text(&vm->pages->source, results + part->first, &text))
			clause = NULL;
	}
	if (clause && text.length)
		return text.text;
	strbuf_deinit(&text);
	return NULL;
}

static unsigned line_of(const struct script_vm *vm, const struct raw_frame *raw)
{
	uint64_t results[SCRIPT_CLAUSE_RESULTS];
	const struct script_clause *clause = find_clause(vm, &vm->description->lines, raw, results);

	if (!clause || !clause->parts.count)
		return 0;
	const struct script_part *part = vec_at(&clause->parts, 0);

	return part->decoder->line(&vm->pages->source, results + part->first);
}

const struct script_program *script_vm_program(const struct script_vm *vm)
{
	return vm->description->walk;
}

const uint64_t *script_vm_values(const struct script_vm *vm, unsigned *count)
{
	*count = (unsigned)vm->description->values.count;
	return vm->values;
}

bool script_vm_code(const struct script_vm *vm, const struct raw_frame *raw, uint64_t *address)
{
	return vm->description->inside && compute(vm, vm->description->inside, raw, address, 1) &&
	       *address;
}

static bool is_same(const struct raw_frame *left, const struct raw_frame *right)
{
	return left->code == right->code && left->position == right->position &&
	       left->identity[0] == right->identity[0] && left->identity[1] == right->identity[1] &&
	       left->identity[2] == right->identity[2];
}

/* Finds what is not known of a frame. It may not be readable at one time and be so at another. */
static void complete(const struct script_vm *vm, struct script_frame *frame,
		     const struct raw_frame *raw)
{
	const struct script_description *description = vm->description;

	if (!frame->file)
		frame->file = text_of(vm, &description->files, raw);
	if (!frame->function)
		frame->function = text_of(vm, &description->functions, raw);
	if (!frame->line)
		frame->line = line_of(vm, raw);
}

static struct named_frame *add_name(struct script_vm *vm, const struct raw_frame *raw,
				    uint64_t hash)
{
	struct named_frame *named = xcalloc(1, sizeof *named);

	if (vm->named_count == NAMES_MAX)
		forget_names(vm);
	named->raw = *raw;
	named->frame.language = vm->description->language;
	named->next = map_get(&vm->named, hash);
	map_put(&vm->named, hash, named);
	vm->named_count++;
	return named;
}

void script_vm_freeze(struct script_vm *vm, bool frozen)
{
	vm->frozen = frozen;
	page_cache_clear(vm->pages);
}

struct script_frame script_vm_name(struct script_vm *vm, const struct raw_frame *raw)
{
	const uint64_t hash = script_frame_hash(raw);
	struct named_frame *named = map_get(&vm->named, hash);

	while (named && !is_same(&named->raw, raw))
		named = named->next;
	if (!named)
		named = add_name(vm, raw, hash);
	if (!named->frame.file || !named->frame.line)
		complete(vm, &named->frame, raw);
	struct script_frame frame = named->frame;

	frame.is_entry = raw->entry != 0;
	return frame;
}
