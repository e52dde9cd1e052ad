/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps each distinct stack once. A traced function is called from few stacks, again and again, so
 * a stack that is known costs a hash and one comparison. The table never forgets; beyond STACKS_MAX
 * a trace has calls from so many places that a place says nothing, and new stacks are left out.
 */
#include "sink/stacks/stack_table.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum { STACKS_MAX = 1 << 18 };

struct stack {
	struct stack_frame *frames;
	size_t count;
	uint32_t next; /* number of another stack with the same hash, 0: none */
};

struct stack_table {
	struct vec stacks;	/* struct stack; the first has number 1 */
	struct map numbers;	/* hash → number of the latest stack with it */
	struct map texts_first; /* hash → struct text: each text is kept once */
};

/* A text that frames refer to, in a list of those with the same hash. */
struct text {
	struct text *next;
	char bytes[];
};

/* A text and its end, or a byte of its own for NULL. */
static uint64_t hash_on(uint64_t hash, const char *text)
{
	return text ? hash_bytes(hash, text, strlen(text) + 1) : hash_bytes(hash, "\xff", 1);
}

static uint64_t hash_frames(const struct stack_frame *frames, size_t count)
{
	uint64_t hash = HASH_START;

	for (size_t i = 0; i < count; i++) {
		hash = hash_on(hash ^ frames[i].line, frames[i].file);
		hash = hash_on(hash ^ frames[i].address, frames[i].function);
		hash = hash_on(hash, frames[i].module);
		hash = hash_on(hash, frames[i].calls);
	}
	return hash ? hash : 1;
}

static bool is_same_text(const char *one, const char *other)
{
	return one == other || (one && other && !strcmp(one, other));
}

static bool is_same_frame(const struct stack_frame *one, const struct stack_frame *other)
{
	return one->kind == other->kind && one->line == other->line &&
	       one->address == other->address && one->offset == other->offset &&
	       one->is_guessed == other->is_guessed && one->is_place == other->is_place &&
	       one->is_inlined == other->is_inlined && is_same_text(one->file, other->file) &&
	       is_same_text(one->function, other->function) &&
	       is_same_text(one->module, other->module) && is_same_text(one->calls, other->calls) &&
	       is_same_text(one->language, other->language);
}

static bool is_same(const struct stack *stack, const struct stack_frame *frames, size_t count)
{
	if (stack->count != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!is_same_frame(&stack->frames[i], &frames[i]))
			return false;
	return true;
}

static const char *keep_text(struct stack_table *table, const char *wanted)
{
	if (!wanted)
		return NULL;
	const uint64_t hash = hash_on(HASH_START, wanted);
	struct text *first = map_get(&table->texts_first, hash);

	for (struct text *text = first; text; text = text->next)
		if (!strcmp(text->bytes, wanted))
			return text->bytes;
	const size_t size = strlen(wanted) + 1;
	struct text *made = xmalloc(sizeof *made + size);

	made->next = first;
	memcpy(made->bytes, wanted, size);
	map_put(&table->texts_first, hash, made);
	return made->bytes;
}

struct stack_table *stack_table_create(void)
{
	struct stack_table *table = xcalloc(1, sizeof *table);

	vec_init(&table->stacks, sizeof(struct stack));
	return table;
}

void stack_table_destroy(struct stack_table *table)
{
	size_t cursor = 0;
	void *value;

	if (!table)
		return;
	for (size_t i = 0; i < table->stacks.count; i++)
		free(((struct stack *)vec_at(&table->stacks, i))->frames);
	while (map_next(&table->texts_first, &cursor, NULL, &value))
		for (struct text *text = value, *next; text; text = next) {
			next = text->next;
			free(text);
		}
	vec_deinit(&table->stacks);
	map_deinit(&table->numbers);
	map_deinit(&table->texts_first);
	free(table);
}

static struct stack *stack_at(const struct stack_table *table, uint32_t number)
{
	return number && number <= table->stacks.count ? vec_at(&table->stacks, number - 1) : NULL;
}

uint32_t stack_table_add(struct stack_table *table, const struct stack_frame *frames, size_t count)
{
	const uint64_t hash = hash_frames(frames, count);
	const uint32_t latest = (uint32_t)(uintptr_t)map_get(&table->numbers, hash);

	if (!count)
		return 0;
	for (uint32_t number = latest; number; number = stack_at(table, number)->next)
		if (is_same(stack_at(table, number), frames, count))
			return number;
	if (table->stacks.count >= STACKS_MAX)
		return 0;
	struct stack made = {xcalloc(count, sizeof *frames), count, latest};

	for (size_t i = 0; i < count; i++) {
		made.frames[i] = frames[i];
		made.frames[i].language = keep_text(table, frames[i].language);
		made.frames[i].file = keep_text(table, frames[i].file);
		made.frames[i].function = keep_text(table, frames[i].function);
		made.frames[i].module = keep_text(table, frames[i].module);
		made.frames[i].calls = keep_text(table, frames[i].calls);
	}
	vec_push(&table->stacks, &made);
	map_put(&table->numbers, hash, (void *)(uintptr_t)table->stacks.count);
	return (uint32_t)table->stacks.count;
}

const struct stack_frame *stack_table_get(const struct stack_table *table, uint32_t number,
					  size_t *count)
{
	const struct stack *stack = table ? stack_at(table, number) : NULL;

	*count = stack ? stack->count : 0;
	return stack ? stack->frames : NULL;
}
