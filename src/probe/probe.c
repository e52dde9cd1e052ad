/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of descriptions by id, with a hash that finds an equal description when one is added. Ids
 * of removed descriptions are given out again.
 */
#include "probe/probe.h"

#include "base/map.h"
#include "base/vec.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Each description is a block of its own, so that pointers stay valid when the table grows. */
struct probe_entry {
	struct probe_info info;
	uint64_t hash;
	struct probe_entry *next; /* with the same hash */
	char text[];		  /* name, module, display, and those of the origin */
};

struct probe_table {
	struct vec entries;  /* of struct probe_entry *, by id; NULL: removed */
	struct vec free_ids; /* of uint32_t */
	struct map by_hash;  /* hash of the description → chain of entries */
	/* names come from untrusted files, which must not be able to choose the chains */
	uint64_t seed;
};

struct probe_table *probe_table_create(void)
{
	struct probe_table *table = xcalloc(1, sizeof *table);

	vec_init(&table->entries, sizeof(struct probe_entry *));
	vec_init(&table->free_ids, sizeof(uint32_t));
	/* Without entropy the table still works; it is only easier to slow down. */
	if (getrandom(&table->seed, sizeof table->seed, GRND_NONBLOCK) < 0)
		table->seed = 0;
	return table;
}

static struct probe_entry **place_of(const struct probe_table *table, size_t id)
{
	return vec_at(&table->entries, id);
}

void probe_table_destroy(struct probe_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->entries.count; i++)
		free(*place_of(table, i));
	vec_deinit(&table->entries);
	vec_deinit(&table->free_ids);
	map_deinit(&table->by_hash);
	free(table);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ (hash >> 29);
}

/* The terminating NUL is hashed, too, so that adjacent texts stay distinct. */
static uint64_t mix_text(uint64_t hash, const char *text)
{
	size_t i = 0;

	do
		hash = mix(hash, (unsigned char)text[i]);
	while (text[i++]);
	return hash;
}

static uint64_t hash_of(const struct probe_table *table, const struct probe_info *info)
{
	uint64_t hash = mix(table->seed, info->kind);

	hash = mix(hash, (uintptr_t)info->prototype);
	hash = mix_text(hash, info->name);
	hash = mix_text(hash, info->module);
	return mix_text(hash, info->display);
}

static bool is_same(const struct probe_info *a, const struct probe_info *b)
{
	return a->kind == b->kind && a->prototype == b->prototype &&
	       strcmp(a->name, b->name) == 0 && strcmp(a->module, b->module) == 0 &&
	       strcmp(a->display, b->display) == 0;
}

enum { TEXTS = 7 };

/* The places of all texts of a description, each of which may hold NULL. */
static void list_texts(struct probe_info *info, const char **texts[TEXTS])
{
	const char **const list[TEXTS] = {&info->name,		 &info->module,
					  &info->display,	 &info->origin.symbol,
					  &info->origin.path,	 &info->origin.soname,
					  &info->origin.build_id};

	memcpy(texts, list, sizeof list);
}

/* Copies `text` to *end, and moves *end behind the copy. */
static const char *store_text(char **end, const char *text)
{
	if (!text)
		return NULL;
	size_t size = strlen(text) + 1;
	char *copy = memcpy(*end, text, size);

	*end += size;
	return copy;
}

static struct probe_entry *make_entry(const struct probe_info *info, uint32_t id)
{
	struct probe_info copy = *info;
	const char **texts[TEXTS];
	size_t size = 0;

	list_texts(&copy, texts);
	for (unsigned i = 0; i < TEXTS; i++)
		size += *texts[i] ? strlen(*texts[i]) + 1 : 0;
	struct probe_entry *entry = xmalloc(sizeof *entry + size);
	char *end = entry->text;

	for (unsigned i = 0; i < TEXTS; i++)
		*texts[i] = store_text(&end, *texts[i]);
	entry->info = copy;
	entry->info.id = id;
	entry->next = NULL;
	return entry;
}

static uint32_t take_id(struct probe_table *table)
{
	size_t last = table->free_ids.count;
	uint32_t id = (uint32_t)table->entries.count;

	if (last) {
		id = *(uint32_t *)vec_at(&table->free_ids, last - 1);
		vec_remove_fast(&table->free_ids, last - 1);
	} else {
		vec_push(&table->entries, NULL);
	}
	return id;
}

const struct probe_info *probe_table_add(struct probe_table *table, enum probe_kind kind,
					 const char *name, const char *module, const char *display,
					 const struct prototype *prototype)
{
	return probe_table_add_from(table, kind, name, module, display, prototype, NULL);
}

const struct probe_info *probe_table_add_from(struct probe_table *table, enum probe_kind kind,
					      const char *name, const char *module,
					      const char *display,
					      const struct prototype *prototype,
					      const struct probe_origin *origin)
{
	struct probe_info wanted = {
		.kind = kind,
		.name = name ? name : "",
		.module = module ? module : "",
		.display = display ? display : "",
		.prototype = prototype,
		.origin = origin ? *origin : (struct probe_origin){.symbol = NULL},
	};
	uint64_t hash = hash_of(table, &wanted);
	struct probe_entry *chain = map_get(&table->by_hash, hash);

	for (struct probe_entry *entry = chain; entry; entry = entry->next)
		if (is_same(&entry->info, &wanted))
			return &entry->info;

	struct probe_entry *added = make_entry(&wanted, take_id(table));

	added->hash = hash;
	added->next = chain;
	map_put(&table->by_hash, hash, added);
	*place_of(table, added->info.id) = added;
	return &added->info;
}

const struct probe_info *probe_table_get(const struct probe_table *table, uint32_t id)
{
	const struct probe_entry *entry = id < table->entries.count ? *place_of(table, id) : NULL;

	return entry ? &entry->info : NULL;
}

const struct probe_info *probe_table_next(const struct probe_table *table, uint32_t *cursor)
{
	const struct probe_info *info = NULL;

	while (!info && *cursor < table->entries.count)
		info = probe_table_get(table, (*cursor)++);
	return info;
}

void probe_table_remove(struct probe_table *table, uint32_t id)
{
	struct probe_entry *entry = id < table->entries.count ? *place_of(table, id) : NULL;

	if (!entry)
		return;
	struct probe_entry *first = map_remove(&table->by_hash, entry->hash);
	struct probe_entry **link = &first;

	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	if (first)
		map_put(&table->by_hash, entry->hash, first);
	*place_of(table, id) = NULL;
	vec_push(&table->free_ids, &id);
	free(entry);
}
