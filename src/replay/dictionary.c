/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries of the dictionary become what a live trace has. The file may hold anything: numbers must
 * be known, and texts may hold any bytes but NUL, behind which they end. Kinds of entries that are
 * not known are skipped: a later version may have written them.
 *
 * A probe that cannot be found (number 0) is shown as one without a name.
 */
#include "replay/dictionary.h"

#include "base/map.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "object/demangle.h"
#include "proto/prototype_decode.h"
#include "stream/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 16, FRAMES_MAX = 4096, ENTRY_COST = 48 };

/* An address in a process, and the text for it. */
struct known_address {
	int32_t pid;
	uint64_t address;
	const char *text; /* NULL: there is none */
	bool is_current;  /* it is the one that holds for the address */
};

struct thread_name {
	char text[NAME_SIZE];
};

struct fact {
	const char *name, *value;
};

/* Texts of a module; each may be NULL but the name. */
struct known_module {
	const char *name, *path, *soname, *build_id;
	bool is_main;
};

struct dictionary {
	bool demangles;
	uint64_t taken;	       /* bytes of entries so far */
	struct vec texts;      /* char *, owned */
	struct vec prototypes; /* const struct prototype * */
	struct prototype_memory memory;
	struct vec modules; /* struct known_module */
	struct vec probes;  /* uint32_t: ids in `table` */
	struct probe_table *table;
	struct vec places;   /* struct known_address * */
	struct vec codes;    /* struct known_address * */
	struct map by_place; /* key of process and address → the struct known_address that holds */
	struct map by_code;  /* the same of pointers */
	struct vec stacks;   /* uint32_t: numbers in `stack_table` */
	struct stack_table *stack_table;
	struct vec facts;   /* struct fact */
	struct map threads; /* tid → struct thread_name */
	struct code_names code;
	struct decoder_dictionary decoder;
};

/* ------------------------------------------------------------------ numbers */

/* Reads the number of a text. Stores it, or NULL for number 0. */
static void take_text(const struct dictionary *dictionary, struct byte_reader *reader,
		      const char **text)
{
	const uint64_t number = reader_number_to(reader, dictionary->texts.count);

	*text = number ? *(const char **)vec_at(&dictionary->texts, (size_t)number - 1) : NULL;
}

static uint64_t key_of(int32_t pid, uint64_t address)
{
	return address ^ (uint64_t)(uint32_t)pid * UINT64_C(0x9e3779b97f4a7c15);
}

/* ------------------------------------------------------------------ entries */

static void read_text(struct dictionary *dictionary, const struct byte_reader *reader)
{
	char *text = xstrndup((const char *)reader->at, reader_left(reader));

	vec_push(&dictionary->texts, &text);
}

static void read_prototype(struct dictionary *dictionary, struct byte_reader *reader)
{
	const struct prototype *prototype = prototype_decode(reader, &dictionary->memory);

	vec_push(&dictionary->prototypes, &prototype);
}

/* Returns `text` with `name` in it, if it is there, replaced. */
static char *replaced(const char *text, const char *name, const char *shown)
{
	const char *at = strstr(text, name);

	return at ? xasprintf("%.*s%s%s", (int)(at - text), text, shown, at + strlen(name))
		  : xstrdup(text);
}

/* Returns the name of a function as -C, or its absence, has it: the symbol, or that demangled. */
static char *shown_name(const struct dictionary *dictionary, const struct probe_info *probe)
{
	const char *symbol = probe->origin.symbol;
	const bool was_demangled = symbol && !strstr(probe->name, symbol);

	if (was_demangled && !dictionary->demangles)
		return xstrdup(symbol);
	char *name = dictionary->demangles && !was_demangled ? demangle(probe->name) : NULL;

	return name ? name : xstrdup(probe->name);
}

static uint32_t add_probe(struct dictionary *dictionary, const struct probe_info *probe)
{
	char *name = shown_name(dictionary, probe);
	char *display = replaced(probe->display, probe->name, name);
	const struct probe_info *added =
		probe_table_add_from(dictionary->table, (enum probe_kind)probe->kind, name,
				     probe->module, display, probe->prototype, &probe->origin);

	free(name);
	free(display);
	return added->id;
}

static void read_module(struct dictionary *dictionary, struct byte_reader *reader)
{
	struct known_module module = {.name = NULL};

	take_text(dictionary, reader, &module.name);
	take_text(dictionary, reader, &module.path);
	take_text(dictionary, reader, &module.soname);
	take_text(dictionary, reader, &module.build_id);
	module.is_main = reader_byte(reader) != 0;
	reader->failed |= !module.name;
	vec_push(&dictionary->modules, &module);
}

/* Reads the number of a module, and stores what is known of it. */
static void take_module(const struct dictionary *dictionary, struct byte_reader *reader,
			struct probe_info *probe)
{
	const uint64_t number = reader_number_to(reader, dictionary->modules.count);

	if (!number) {
		reader->failed = true;
		return;
	}
	const struct known_module *module = vec_at(&dictionary->modules, (size_t)number - 1);

	probe->module = module->name;
	probe->origin.path = module->path;
	probe->origin.soname = module->soname;
	probe->origin.build_id = module->build_id;
	probe->origin.is_main = module->is_main;
}

static void read_probe(struct dictionary *dictionary, struct byte_reader *reader)
{
	struct probe_info probe = {.kind = (uint8_t)reader_byte(reader)};

	take_text(dictionary, reader, &probe.name);
	take_text(dictionary, reader, &probe.origin.symbol);
	take_text(dictionary, reader, &probe.display);
	take_module(dictionary, reader, &probe);
	const uint64_t number = reader_number_to(reader, dictionary->prototypes.count);

	if (reader->failed || !number || !probe.name || !probe.display ||
	    probe.kind > PROBE_SYSTEM) {
		reader->failed = true;
		return;
	}
	probe.prototype = *(const struct prototype **)vec_at(&dictionary->prototypes,
							     (size_t)number - 1);
	vec_push(&dictionary->probes, &(uint32_t){add_probe(dictionary, &probe)});
}

static struct known_address *read_address(const struct dictionary *dictionary,
					  struct byte_reader *reader)
{
	struct known_address *known = xcalloc(1, sizeof *known);

	known->pid = (int32_t)number_unfold(reader_number(reader));
	known->address = reader_number(reader);
	take_text(dictionary, reader, &known->text);
	return known;
}

static void read_place(struct dictionary *dictionary, struct byte_reader *reader)
{
	struct known_address *known = read_address(dictionary, reader);

	vec_push(&dictionary->places, &known);
}

static void read_code(struct dictionary *dictionary, struct byte_reader *reader)
{
	struct known_address *known = read_address(dictionary, reader);

	vec_push(&dictionary->codes, &known);
}

/* From now on, this is what its address is called. */
static void make_current(struct map *map, struct known_address *known)
{
	const uint64_t key = key_of(known->pid, known->address);
	struct known_address *before = map_get(map, key);

	if (before)
		before->is_current = false;
	known->is_current = true;
	map_put(map, key, known);
}

void dictionary_name_code(struct dictionary *dictionary, uint32_t number)
{
	if (number && number <= dictionary->codes.count)
		make_current(&dictionary->by_code,
			     *(struct known_address **)vec_at(&dictionary->codes, number - 1));
}

static void take_frame(const struct dictionary *dictionary, struct byte_reader *reader,
		       struct stack_frame *frame)
{
	frame->kind = (enum stack_frame_kind)reader_byte(reader);
	const unsigned flags = reader_byte(reader);

	frame->is_application = flags & 1;
	frame->is_place = flags & 2;
	frame->is_guessed = flags & 4;
	frame->is_inlined = flags & 8;
	take_text(dictionary, reader, &frame->language);
	take_text(dictionary, reader, &frame->module);
	take_text(dictionary, reader, &frame->function);
	take_text(dictionary, reader, &frame->file);
	frame->line = (unsigned)reader_number_to(reader, UINT32_MAX);
	frame->address = reader_number(reader);
	frame->offset = reader_number(reader);
	reader->failed |= frame->kind > STACK_NOTE ||
			  (frame->kind == STACK_SCRIPT && !frame->language) ||
			  (frame->kind == STACK_NOTE && !frame->function) ||
			  (frame->line && !frame->file);
}

static void read_stack(struct dictionary *dictionary, struct byte_reader *reader)
{
	const size_t count = (size_t)reader_number_to(reader, FRAMES_MAX);
	struct stack_frame *frames = xcalloc(count ? count : 1, sizeof *frames);

	for (size_t i = 0; i < count && !reader->failed; i++)
		take_frame(dictionary, reader, &frames[i]);
	if (!reader->failed) {
		const uint32_t number = stack_table_add(dictionary->stack_table, frames, count);

		vec_push(&dictionary->stacks, &number);
	}
	free(frames);
}

static void read_fact(struct dictionary *dictionary, struct byte_reader *reader)
{
	struct fact fact = {0};

	take_text(dictionary, reader, &fact.name);
	take_text(dictionary, reader, &fact.value);
	if (!fact.name || !fact.value)
		reader->failed = true;
	else
		vec_push(&dictionary->facts, &fact);
}

static void read_entry(struct dictionary *dictionary, unsigned kind, struct byte_reader *reader)
{
	switch (kind) {
	case ENTRY_TEXT:
		read_text(dictionary, reader);
		break;
	case ENTRY_PROTOTYPE:
		read_prototype(dictionary, reader);
		break;
	case ENTRY_PROBE:
		read_probe(dictionary, reader);
		break;
	case ENTRY_MODULE:
		read_module(dictionary, reader);
		break;
	case ENTRY_PLACE:
		read_place(dictionary, reader);
		break;
	case ENTRY_CODE:
		read_code(dictionary, reader);
		break;
	case ENTRY_STACK:
		read_stack(dictionary, reader);
		break;
	case ENTRY_FACT:
		read_fact(dictionary, reader);
		break;
	default:
		break;
	}
}

int dictionary_read(struct dictionary *dictionary, struct byte_reader *reader)
{
	dictionary->taken += reader_left(reader);
	if (dictionary->taken > TRACE_DICTIONARY_MAX)
		return -EBADMSG;
	while (!reader->failed && reader_left(reader)) {
		const unsigned kind = reader_byte(reader);
		struct byte_reader entry = reader_block(reader);

		/* An entry of a few bytes takes more in memory. */
		dictionary->taken += ENTRY_COST;
		if (!reader->failed)
			read_entry(dictionary, kind, &entry);
		reader->failed |= entry.failed;
	}
	return reader->failed ? -EBADMSG : 0;
}

void dictionary_name_thread(struct dictionary *dictionary, int32_t tid, const char *name,
			    size_t length)
{
	const uint64_t key = (uint32_t)tid;
	struct thread_name *known = map_get(&dictionary->threads, key);

	if (!known) {
		known = xcalloc(1, sizeof *known);
		map_put(&dictionary->threads, key, known);
	}
	memset(known, 0, sizeof *known);
	memcpy(known->text, name, length < NAME_SIZE ? length : NAME_SIZE - 1);
}

/* ------------------------------------------------------------------ for the decoder */

static uint32_t count_probes(void *context)
{
	return (uint32_t)((const struct dictionary *)context)->probes.count;
}

static bool find_place(void *context, uint32_t place, uint64_t *address)
{
	struct dictionary *dictionary = context;

	if (!place || place > dictionary->places.count)
		return false;
	struct known_address *known = *(struct known_address **)vec_at(&dictionary->places,
								       place - 1);

	if (!known->is_current)
		make_current(&dictionary->by_place, known);
	*address = known->address;
	return true;
}

const struct decoder_dictionary *dictionary_for_decoder(const struct dictionary *dictionary)
{
	return &dictionary->decoder;
}

void dictionary_resolve(const struct dictionary *dictionary, struct record *record)
{
	if (record_has_probe(record))
		record->probe = record->probe ? *(uint32_t *)vec_at(&dictionary->probes,
								    record->probe - 1)
					      : UINT32_MAX;
	if (record->stack)
		record->stack = record->stack <= dictionary->stacks.count
					? *(uint32_t *)vec_at(&dictionary->stacks,
							      record->stack - 1)
					: 0;
}

/* ------------------------------------------------------------------ for sinks */

static char *text_at(const struct map *map, int32_t pid, uint64_t address)
{
	const struct known_address *known = map_get(map, key_of(pid, address));

	if (!known || known->pid != pid || known->address != address || !known->text)
		return NULL;
	return xstrdup(known->text);
}

static char *name_of_code(void *context, int32_t pid, uint64_t address)
{
	return text_at(&((const struct dictionary *)context)->by_code, pid, address);
}

static char *name_of_place(void *context, int32_t pid, uint64_t address)
{
	return text_at(&((const struct dictionary *)context)->by_place, pid, address);
}

static void name_of_thread(void *context, int32_t tid, char name[16])
{
	const struct dictionary *dictionary = context;
	const struct thread_name *known = map_get(&dictionary->threads, (uint32_t)tid);

	name[0] = '\0';
	if (known)
		memcpy(name, known->text, NAME_SIZE);
}

const struct probe_table *dictionary_probes(const struct dictionary *dictionary)
{
	return dictionary->table;
}

const struct stack_table *dictionary_stacks(const struct dictionary *dictionary)
{
	return dictionary->stack_table;
}

const struct code_names *dictionary_code(const struct dictionary *dictionary)
{
	return &dictionary->code;
}

const char *dictionary_fact(const struct dictionary *dictionary, const char *name)
{
	for (size_t i = 0; i < dictionary->facts.count; i++) {
		const struct fact *fact = vec_at(&dictionary->facts, i);

		if (!strcmp(fact->name, name))
			return fact->value;
	}
	return NULL;
}

/* ------------------------------------------------------------------ life */

struct dictionary *dictionary_create(bool demangle)
{
	struct dictionary *dictionary = xcalloc(1, sizeof *dictionary);

	dictionary->demangles = demangle;
	vec_init(&dictionary->texts, sizeof(char *));
	vec_init(&dictionary->prototypes, sizeof(const struct prototype *));
	vec_init(&dictionary->modules, sizeof(struct known_module));
	vec_init(&dictionary->probes, sizeof(uint32_t));
	vec_init(&dictionary->places, sizeof(struct known_address *));
	vec_init(&dictionary->codes, sizeof(struct known_address *));
	vec_init(&dictionary->stacks, sizeof(uint32_t));
	vec_init(&dictionary->facts, sizeof(struct fact));
	prototype_memory_init(&dictionary->memory);
	dictionary->table = probe_table_create();
	dictionary->stack_table = stack_table_create();
	dictionary->code = (struct code_names){.find = name_of_code,
					       .place = name_of_place,
					       .thread = name_of_thread,
					       .context = dictionary};
	dictionary->decoder = (struct decoder_dictionary){count_probes, find_place, dictionary};
	return dictionary;
}

void dictionary_destroy(struct dictionary *dictionary)
{
	if (!dictionary)
		return;
	for (size_t i = 0; i < dictionary->texts.count; i++)
		free(*(char **)vec_at(&dictionary->texts, i));
	for (size_t i = 0; i < dictionary->places.count; i++)
		free(*(void **)vec_at(&dictionary->places, i));
	for (size_t i = 0; i < dictionary->codes.count; i++)
		free(*(void **)vec_at(&dictionary->codes, i));
	map_deinit_values(&dictionary->threads);
	map_deinit(&dictionary->by_place);
	map_deinit(&dictionary->by_code);
	probe_table_destroy(dictionary->table);
	stack_table_destroy(dictionary->stack_table);
	prototype_memory_deinit(&dictionary->memory);
	vec_deinit(&dictionary->texts);
	vec_deinit(&dictionary->prototypes);
	vec_deinit(&dictionary->modules);
	vec_deinit(&dictionary->probes);
	vec_deinit(&dictionary->places);
	vec_deinit(&dictionary->codes);
	vec_deinit(&dictionary->stacks);
	vec_deinit(&dictionary->facts);
	free(dictionary);
}
