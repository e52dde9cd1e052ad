/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of what cannot be traced.
 *
 * An item is identified by subject and reason; the same item in a hundred processes is one line.
 * The trace gets a record of each item. On stderr, functions that only a pattern asked for ('*',
 * the default) are grouped by module and reason, so that a library that cannot be written to is one
 * line and not four thousand. What the user named is always listed by name.
 *
 * Items are collected while a stop is handled, as a module's functions come one by one, and shown
 * after it. The list is limited, since a tracee may make up names for as long as it runs. Items
 * above the limit are counted, and one line says that there are more.
 */
#include "target/untraced.h"

#include "base/diag.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "tracee/clock.h"
#include "tracee/tracee.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1024 };

/* An item that is not shown yet. */
struct item {
	char *name;   /* of a function; otherwise of the thing */
	char *module; /* NULL: not a function */
	char *reason;
	bool one_of_many;
	bool shown;
};

struct untraced {
	untraced_emit *emit;
	void *context;
	bool verbose;
	bool silent;	    /* nothing is printed on stderr */
	struct vec waiting; /* struct item, not shown yet */
	struct map known;   /* hashes of the items that were listed */
	size_t count;
	bool full; /* the line about more items was added */
};

struct untraced *untraced_create(untraced_emit *emit, void *context, bool verbose)
{
	struct untraced *untraced = xcalloc(1, sizeof *untraced);

	untraced->emit = emit;
	untraced->context = context;
	untraced->verbose = verbose;
	vec_init(&untraced->waiting, sizeof(struct item));
	return untraced;
}

void untraced_keep_silent(struct untraced *untraced)
{
	untraced->silent = true;
}

static void drop_waiting(struct untraced *untraced)
{
	for (size_t i = 0; i < untraced->waiting.count; i++) {
		struct item *item = vec_at(&untraced->waiting, i);

		free(item->name);
		free(item->module);
		free(item->reason);
	}
	untraced->waiting.count = 0;
}

void untraced_destroy(struct untraced *untraced)
{
	if (!untraced)
		return;
	drop_waiting(untraced);
	vec_deinit(&untraced->waiting);
	map_deinit(&untraced->known);
	free(untraced);
}

size_t untraced_count(const struct untraced *untraced)
{
	return untraced->count;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text, strlen(text) + 1);
}

static bool is_new(struct untraced *untraced, const struct item *item)
{
	uint64_t hash = hash_text(HASH_START, item->name);

	hash = hash_text(hash, item->module ? item->module : "");
	hash = hash_text(hash, item->reason);
	if (map_get(&untraced->known, hash))
		return false;
	map_put(&untraced->known, hash, untraced);
	return true;
}

static void say_full(struct untraced *untraced)
{
	struct item item = {0};

	if (untraced->full)
		return;
	untraced->full = true;
	item.name = xstrdup("more");
	item.reason = xstrdup("too many things to be listed, from here on they are only counted");
	vec_push(&untraced->waiting, &item);
}

static void add(struct untraced *untraced, const char *module, const char *name, bool one_of_many,
		const char *reason)
{
	struct item item = {.one_of_many = one_of_many};

	if (untraced->known.count >= UNTRACED_LISTED_MAX) {
		untraced->count++;
		say_full(untraced);
		return;
	}
	item.name = xstrndup(name, TEXT_MAX);
	item.module = module && *module ? xstrndup(module, TEXT_MAX) : NULL;
	item.reason = xstrndup(reason, TEXT_MAX);
	if (is_new(untraced, &item)) {
		untraced->count++;
		vec_push(&untraced->waiting, &item);
		return;
	}
	free(item.name);
	free(item.module);
	free(item.reason);
}

void untraced_function(struct untraced *untraced, const char *module, const char *name,
		       bool one_of_many, const char *reason)
{
	add(untraced, module, name, one_of_many, reason);
}

void untraced_thing(struct untraced *untraced, const char *thing, const char *reason)
{
	add(untraced, NULL, thing, false, reason);
}

void untraced_process(struct untraced *untraced, pid_t pid, const char *format, ...)
{
	char thing[32];
	char reason[TEXT_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof reason, format, arguments);
	va_end(arguments);
	snprintf(thing, sizeof thing, "process %d", (int)pid);
	untraced_thing(untraced, thing, reason);
}

/* ------------------------------------------------------------------ showing */

/* Appends a string value to the record in `bytes`, which has room for it. */
static void put_string(unsigned char *bytes, unsigned argument, const char *text)
{
	struct record *record = (struct record *)(void *)bytes;
	uint32_t length = (uint32_t)strlen(text);
	struct record_value value = {
		.kind = VALUE_STRING, .argument = (uint8_t)argument, .size = 1, .length = length};

	memcpy(bytes + record->size, &value, sizeof value);
	memcpy(bytes + record->size + sizeof value, text, length);
	record->size += (uint32_t)sizeof value + ((length + 7U) & ~7U);
	record->value_count++;
}

static void emit(struct untraced *untraced, const struct item *item)
{
	/* At most three strings of TEXT_MAX, two values, and padding. */
	_Alignas(8) unsigned char bytes[sizeof(struct record) + 4 * TEXT_MAX] = {0};
	struct record *record = (struct record *)(void *)bytes;
	char subject[2 * TEXT_MAX + 2];

	*record = (struct record){.size = sizeof *record,
				  .version = RECORD_VERSION,
				  .kind = RECORD_UNTRACED,
				  .time = clock_wall()};
	snprintf(subject, sizeof subject, item->module ? "%s@%s" : "%s", item->name, item->module);
	put_string(bytes, 0, subject);
	put_string(bytes, 1, item->reason);
	untraced->emit(untraced->context, record);
}

static void say_one(const struct item *item)
{
	char name[TEXT_MAX];
	char module[256];
	char reason[TEXT_MAX];

	diag_safe(name, sizeof name, item->name);
	diag_safe(reason, sizeof reason, item->reason);
	if (item->module)
		diag("not traced: %s@%s: %s", name, diag_safe(module, sizeof module, item->module),
		     reason);
	else
		diag("not traced: %s: %s", name, reason);
}

static bool same_group(const struct item *a, const struct item *b)
{
	return b->one_of_many && !b->shown && a->module && b->module &&
	       !strcmp(a->module, b->module) && !strcmp(a->reason, b->reason);
}

/* Prints all items of the group that `first` is in: as one line, if there are many. */
static void say_group(struct untraced *untraced, size_t first)
{
	const struct item *item = vec_at(&untraced->waiting, first);
	struct strbuf names = {0};
	size_t members = 0;
	char safe[256];

	for (size_t i = first; i < untraced->waiting.count; i++) {
		struct item *other = vec_at(&untraced->waiting, i);

		if (!same_group(item, other))
			continue;
		if (members++ < UNTRACED_GROUP)
			strbuf_printf(&names, "%s%s", names.length ? ", " : "",
				      diag_safe(safe, sizeof safe, other->name));
	}
	for (size_t i = first; i < untraced->waiting.count; i++) {
		struct item *other = vec_at(&untraced->waiting, i);

		if (!same_group(item, other))
			continue;
		other->shown = true;
		if (members <= UNTRACED_GROUP)
			say_one(other);
	}
	if (members > UNTRACED_GROUP)
		diag("not traced: %zu functions of %s (%s, ...): %s", members,
		     diag_safe(safe, sizeof safe, item->module), names.text, item->reason);
	strbuf_deinit(&names);
}

void untraced_show(struct untraced *untraced)
{
	/* The trace comes first: if both go to the same terminal, its last line has to be ended. */
	for (size_t i = 0; i < untraced->waiting.count; i++)
		emit(untraced, vec_at(&untraced->waiting, i));
	for (size_t i = 0; !untraced->silent && i < untraced->waiting.count; i++) {
		struct item *item = vec_at(&untraced->waiting, i);

		if (item->shown)
			continue;
		if (item->one_of_many && item->module && !untraced->verbose)
			say_group(untraced, i);
		else
			say_one(item);
		item->shown = true;
	}
	drop_waiting(untraced);
}
