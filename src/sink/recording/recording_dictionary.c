/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of each probe, stack, place and text: the number that it has in the file.
 *
 * This is asked for each record, so the way of a record that brings nothing new is short: a look at
 * its probe, which also has the place of its last call.
 *
 * A name that belongs to an address is found again when modules have changed, and written again if
 * it is another one.
 */
#include "sink/recording/recording_dictionary.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "proto/prototype_code.h"
#include "sink/recording/function_pointers.h"
#include "sink/render/render.h"
#include "sink/stacks/stack_table.h"
#include "stream/format.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 64 << 10, PROTOTYPE_MAX = 1 << 20 };

/* A text that is in the file, in a list of those with the same hash. */
struct known_text {
	struct known_text *next;
	uint32_t number;
	size_t length;
	char bytes[];
};

/* An address in a process, and the text for it. */
struct known_address {
	int32_t pid;
	uint64_t address;
	uint32_t number; /* of the place */
	uint32_t text;
	uint64_t changes; /* code_names.changes() when the text was found */
};

/* A probe, by its id. */
struct known_probe {
	uint32_t number; /* 0: it is not in the file */
	/* What its prototype had when that was written: that of a span may learn it later. */
	const struct type *result;
	const char *fails;
	bool has_functions;		   /* values may be pointers to functions */
	const struct known_address *place; /* of its last record; NULL: none */
};

/* A module, by the numbers of its texts. */
struct known_module {
	uint32_t texts[4]; /* name, path, SONAME, build ID */
	bool is_main;
};

struct recording_dictionary {
	const struct sink_target *target;
	struct bytes out;
	uint32_t count;	    /* entries in `out` */
	uint64_t written;   /* bytes of entries in this file */
	struct bytes entry; /* the one that is being made */
	uint32_t texts, prototypes, probes, places, codes, stacks; /* how many there are */
	struct map by_text;					   /* hash → struct known_text */
	struct map by_prototype; /* struct prototype * → number */
	struct map by_place;	 /* hash of process and address → struct known_address */
	struct map by_code;	 /* the same */
	struct vec by_probe;	 /* struct known_probe */
	struct vec modules;	 /* struct known_module, by number - 1 */
	struct vec by_stack;	 /* uint32_t, by the number in the stack table */
	struct vec fresh;	 /* uint32_t: names of code that hold from the next record on */
	struct outbuf scratch;
};

/* ------------------------------------------------------------------ entries */

static void begin_entry(struct recording_dictionary *dictionary)
{
	dictionary->entry.length = 0;
}

static void end_entry(struct recording_dictionary *dictionary, enum trace_entry kind)
{
	bytes_put_byte(&dictionary->out, kind);
	bytes_put_block(&dictionary->out, dictionary->entry.data, dictionary->entry.length);
	dictionary->count++;
	dictionary->written += dictionary->entry.length;
}

/* Returns true if there is no room for more than functions: TRACE_DICTIONARY_MAX. */
static bool is_full(const struct recording_dictionary *dictionary)
{
	return dictionary->written > TRACE_DICTIONARY_MAX / 4 * 3;
}

/* Returns the number of a text, which is written if it is new; 0 for NULL. */
static uint32_t find_text(struct recording_dictionary *dictionary, const char *text)
{
	if (!text)
		return 0;
	const size_t length = strnlen(text, TEXT_MAX);
	const uint64_t hash = hash_bytes(HASH_START, text, length);
	struct known_text *first = map_get(&dictionary->by_text, hash);

	for (struct known_text *known = first; known; known = known->next)
		if (known->length == length && !memcmp(known->bytes, text, length))
			return known->number;
	struct known_text *made = xmalloc(sizeof *made + length);

	*made = (struct known_text){first, ++dictionary->texts, length};
	memcpy(made->bytes, text, length);
	map_put(&dictionary->by_text, hash, made);
	begin_entry(dictionary);
	bytes_put(&dictionary->entry, text, length);
	end_entry(dictionary, ENTRY_TEXT);
	return made->number;
}

/* ------------------------------------------------------------------ probes */

static uint32_t find_prototype(struct recording_dictionary *dictionary,
			       const struct prototype *prototype, bool is_changed)
{
	const uint64_t key = (uintptr_t)prototype;
	const uintptr_t known = (uintptr_t)map_get(&dictionary->by_prototype, key);

	if (known && !is_changed)
		return (uint32_t)known;
	begin_entry(dictionary);
	prototype_encode(&dictionary->entry, prototype);
	if (dictionary->entry.length > PROTOTYPE_MAX) {
		begin_entry(dictionary);
		prototype_encode(&dictionary->entry, prototype_unknown());
	}
	end_entry(dictionary, ENTRY_PROTOTYPE);
	map_put(&dictionary->by_prototype, key, (void *)(uintptr_t)++dictionary->prototypes);
	return dictionary->prototypes;
}

static uint32_t find_module(struct recording_dictionary *dictionary, const struct probe_info *info)
{
	const struct known_module wanted = {{find_text(dictionary, info->module),
					     find_text(dictionary, info->origin.path),
					     find_text(dictionary, info->origin.soname),
					     find_text(dictionary, info->origin.build_id)},
					    info->origin.is_main};

	for (size_t i = 0; i < dictionary->modules.count; i++) {
		const struct known_module *known = vec_at(&dictionary->modules, i);

		if (!memcmp(known->texts, wanted.texts, sizeof wanted.texts) &&
		    known->is_main == wanted.is_main)
			return (uint32_t)i + 1;
	}
	vec_push(&dictionary->modules, &wanted);
	begin_entry(dictionary);
	for (unsigned i = 0; i < 4; i++)
		bytes_put_number(&dictionary->entry, wanted.texts[i]);
	bytes_put_byte(&dictionary->entry, wanted.is_main);
	end_entry(dictionary, ENTRY_MODULE);
	return (uint32_t)dictionary->modules.count;
}

static void write_probe(struct recording_dictionary *dictionary, struct known_probe *known,
			const struct probe_info *info)
{
	const struct prototype *prototype = info->prototype;
	const uint32_t numbers[] = {
		find_text(dictionary, info->name), find_text(dictionary, info->origin.symbol),
		find_text(dictionary, info->display), find_module(dictionary, info),
		find_prototype(dictionary, prototype, known->number != 0)};

	begin_entry(dictionary);
	bytes_put_byte(&dictionary->entry, info->kind);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		bytes_put_number(&dictionary->entry, numbers[i]);
	end_entry(dictionary, ENTRY_PROBE);
	*known = (struct known_probe){.number = ++dictionary->probes,
				      .result = prototype->result,
				      .fails = prototype->fails,
				      .has_functions = function_pointers_are_in(prototype)};
}

/* Returns what is known of the record's probe, or NULL if there is no such probe. */
static struct known_probe *find_probe(struct recording_dictionary *dictionary, uint32_t id)
{
	const struct probe_info *info = probe_table_get(dictionary->target->probes, id);

	if (!info)
		return NULL;
	while (dictionary->by_probe.count <= id)
		vec_push(&dictionary->by_probe, NULL);
	struct known_probe *known = vec_at(&dictionary->by_probe, id);

	if (!known->number || known->result != info->prototype->result ||
	    known->fails != info->prototype->fails)
		write_probe(dictionary, known, info);
	return known;
}

/* ------------------------------------------------------------------ addresses */

static uint64_t key_of(int32_t pid, uint64_t address)
{
	return address ^ (uint64_t)(uint32_t)pid * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t changes_now(const struct recording_dictionary *dictionary)
{
	const struct code_names *code = dictionary->target->code;

	return code && code->changes ? code->changes(code->context) : 0;
}

static struct known_address *find_address(struct map *map, int32_t pid, uint64_t address)
{
	struct known_address *known = map_get(map, key_of(pid, address));

	if (known && (known->pid != pid || known->address != address))
		known->changes = UINT64_MAX; /* another one, whose place in the table it takes */
	if (!known) {
		known = xcalloc(1, sizeof *known);
		known->changes = UINT64_MAX;
		map_put(map, key_of(pid, address), known);
	}
	if (known->changes == UINT64_MAX) {
		known->pid = pid;
		known->address = address;
		known->number = known->text = 0;
	}
	return known;
}

static void write_address(struct recording_dictionary *dictionary,
			  const struct known_address *known, enum trace_entry kind)
{
	begin_entry(dictionary);
	bytes_put_number(&dictionary->entry, number_fold(known->pid));
	bytes_put_number(&dictionary->entry, known->address);
	bytes_put_number(&dictionary->entry, known->text);
	end_entry(dictionary, kind);
}

static struct known_address *find_place(struct recording_dictionary *dictionary, int32_t pid,
					uint64_t address)
{
	const struct code_names *code = dictionary->target->code;
	struct known_address *known = find_address(&dictionary->by_place, pid, address);
	const uint64_t changes = changes_now(dictionary);

	/* A place without a name may get one: a library is loaded, or is known only now. */
	if ((known->number && known->text && known->changes == changes) || is_full(dictionary))
		return known;
	_cleanup_free_ char *place = code ? code->place(code->context, pid, address) : NULL;
	const uint32_t text = find_text(dictionary, place);

	known->changes = changes;
	if (known->number && known->text == text)
		return known;
	known->text = text;
	known->number = ++dictionary->places;
	write_address(dictionary, known, ENTRY_PLACE);
	return known;
}

/* The same for a record. `probe`: its probe, or NULL. */
static uint32_t find_place_of(struct recording_dictionary *dictionary, struct known_probe *probe,
			      const struct record *record)
{
	const struct known_address *last = probe ? probe->place : NULL;

	if (!last || last->address != record->pc || last->pid != record->pid || !last->text ||
	    last->changes != changes_now(dictionary))
		last = find_place(dictionary, record->pid, record->pc);
	if (probe)
		probe->place = last;
	return last->number;
}

/* A pointer to a function is shown in a record of the process. */
static void note_function(void *context, int32_t pid, uint64_t address, const char *name)
{
	struct recording_dictionary *dictionary = context;
	struct known_address *known = find_address(&dictionary->by_code, pid, address);
	const bool is_new = known->changes == UINT64_MAX;

	if (is_full(dictionary))
		return;
	const uint32_t text = find_text(dictionary, name);

	if (!is_new && known->text == text)
		return;
	known->changes = 0;
	known->text = text;
	known->number = ++dictionary->codes;
	write_address(dictionary, known, ENTRY_CODE);
	vec_push(&dictionary->fresh, &known->number);
}

void recording_dictionary_put_items(struct recording_dictionary *dictionary, struct bytes *items)
{
	for (size_t i = 0; i < dictionary->fresh.count; i++) {
		bytes_put_byte(items, CODE_POINTER);
		bytes_put_number(items, *(uint32_t *)vec_at(&dictionary->fresh, i));
	}
	vec_clear(&dictionary->fresh);
}

/* ------------------------------------------------------------------ stacks */

static void write_frame(struct bytes *out, const struct stack_frame *frame, const uint32_t *texts)
{
	bytes_put_byte(out, frame->kind);
	bytes_put_byte(out, (frame->is_application ? 1U : 0) | (frame->is_place ? 2U : 0) |
				    (frame->is_guessed ? 4U : 0) | (frame->is_inlined ? 8U : 0));
	for (unsigned i = 0; i < 4; i++)
		bytes_put_number(out, texts[i]);
	bytes_put_number(out, frame->file ? frame->line : 0); /* else readers take it for damage */
	bytes_put_number(out, frame->address);
	bytes_put_number(out, frame->offset);
}

static uint32_t write_stack(struct recording_dictionary *dictionary,
			    const struct stack_frame *frames, size_t count)
{
	struct bytes stack = {0};

	bytes_put_number(&stack, count);
	for (size_t i = 0; i < count; i++) {
		const uint32_t texts[] = {find_text(dictionary, frames[i].language),
					  find_text(dictionary, frames[i].module),
					  find_text(dictionary, frames[i].function),
					  find_text(dictionary, frames[i].file)};

		write_frame(&stack, &frames[i], texts);
	}
	begin_entry(dictionary);
	bytes_put(&dictionary->entry, stack.data, stack.length);
	end_entry(dictionary, ENTRY_STACK);
	bytes_deinit(&stack);
	return ++dictionary->stacks;
}

static uint32_t find_stack(struct recording_dictionary *dictionary, uint32_t number)
{
	size_t count;
	const struct stack_frame *frames =
		number ? stack_table_get(dictionary->target->stacks, number, &count) : NULL;

	if (!frames)
		return 0;
	while (dictionary->by_stack.count <= number)
		vec_push(&dictionary->by_stack, NULL);
	uint32_t *known = vec_at(&dictionary->by_stack, number);

	if (!*known && !is_full(dictionary))
		*known = write_stack(dictionary, frames, count);
	return *known;
}

/* ------------------------------------------------------------------ for the recording */

struct recording_dictionary *recording_dictionary_create(const struct sink_target *target)
{
	struct recording_dictionary *dictionary = xcalloc(1, sizeof *dictionary);

	dictionary->target = target;
	vec_init(&dictionary->by_probe, sizeof(struct known_probe));
	vec_init(&dictionary->by_stack, sizeof(uint32_t));
	vec_init(&dictionary->fresh, sizeof(uint32_t));
	vec_init(&dictionary->modules, sizeof(struct known_module));
	outbuf_init(&dictionary->scratch, -1);
	return dictionary;
}

static void free_texts(struct map *map)
{
	size_t cursor = 0;
	void *value;

	while (map_next(map, &cursor, NULL, &value))
		for (struct known_text *known = value, *next; known; known = next) {
			next = known->next;
			free(known);
		}
	map_deinit(map);
}

void recording_dictionary_restart(struct recording_dictionary *dictionary)
{
	free_texts(&dictionary->by_text);
	map_deinit_values(&dictionary->by_place);
	map_deinit_values(&dictionary->by_code);
	map_deinit(&dictionary->by_prototype);
	vec_clear(&dictionary->by_probe);
	vec_clear(&dictionary->by_stack);
	vec_clear(&dictionary->modules);
	dictionary->texts = dictionary->prototypes = dictionary->probes = 0;
	dictionary->places = dictionary->codes = dictionary->stacks = 0;
	vec_clear(&dictionary->fresh);
	dictionary->written = 0;
}

void recording_dictionary_destroy(struct recording_dictionary *dictionary)
{
	if (!dictionary)
		return;
	recording_dictionary_restart(dictionary);
	vec_deinit(&dictionary->by_probe);
	vec_deinit(&dictionary->by_stack);
	vec_deinit(&dictionary->fresh);
	vec_deinit(&dictionary->modules);
	bytes_deinit(&dictionary->out);
	bytes_deinit(&dictionary->entry);
	outbuf_deinit(&dictionary->scratch);
	free(dictionary);
}

void recording_dictionary_find(struct recording_dictionary *dictionary, const struct record *record,
			       struct record_references *references)
{
	struct known_probe *probe = record_has_probe(record) ? find_probe(dictionary, record->probe)
							     : NULL;

	*references = (struct record_references){.probe = probe ? probe->number : 0,
						 .stack = find_stack(dictionary, record->stack)};
	if (record->pc)
		references->place = find_place_of(dictionary, probe, record);
	if (probe && probe->has_functions && record_is_of_call(record))
		function_pointers_find(dictionary->target, record, &dictionary->scratch,
				       note_function, dictionary);
}

void recording_dictionary_fact(struct recording_dictionary *dictionary, const char *name,
			       const char *value)
{
	const uint32_t texts[] = {find_text(dictionary, name), find_text(dictionary, value)};

	begin_entry(dictionary);
	bytes_put_number(&dictionary->entry, texts[0]);
	bytes_put_number(&dictionary->entry, texts[1]);
	end_entry(dictionary, ENTRY_FACT);
}

void recording_dictionary_forget(struct recording_dictionary *dictionary,
				 const struct probe_info *probe)
{
	/* Its prototype may be freed, and its address used by another one. */
	map_remove(&dictionary->by_prototype, (uintptr_t)probe->prototype);
	if (probe->id < dictionary->by_probe.count)
		*(struct known_probe *)vec_at(&dictionary->by_probe,
					      probe->id) = (struct known_probe){0};
}

struct bytes *recording_dictionary_bytes(struct recording_dictionary *dictionary, uint32_t **count)
{
	*count = &dictionary->count;
	return &dictionary->out;
}
