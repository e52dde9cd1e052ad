/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of one stack, from the walk to the stack table.
 *
 * A walk names the frames while the thread stands. Source lines are known by another process, which
 * reads debug information (debuginfo.c), and the first question about a large library takes tens of
 * milliseconds. So they are looked up behind the walk, for all frames together, and a thread that
 * must not stand so long may run meanwhile: an address keeps its line as long as its module is
 * loaded.
 */
#include "target/walked_stack.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "target/module.h"
#include "target/target_state.h"

#include <stdlib.h>

void walked_stack_init(struct walked_stack *stack)
{
	vec_init(&stack->frames, sizeof(struct stack_frame));
	vec_init(&stack->codes, sizeof(uint64_t));
}

static void forget_frames(struct walked_stack *stack)
{
	for (size_t i = 0; i < stack->frames.count; i++) {
		struct stack_frame *frame = vec_at(&stack->frames, i);

		free((char *)(uintptr_t)frame->file);
		free((char *)(uintptr_t)frame->function);
		free((char *)(uintptr_t)frame->module);
	}
	vec_clear(&stack->frames);
	vec_clear(&stack->codes);
}

void walked_stack_deinit(struct walked_stack *stack)
{
	forget_frames(stack);
	vec_deinit(&stack->frames);
	vec_deinit(&stack->codes);
}

static char *copy_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

void walked_stack_add(struct walked_stack *stack, const struct stack_frame *named,
		      const struct unwind_frame *native)
{
	struct stack_frame *frame = vec_push(&stack->frames, named);
	/* The address behind a call may belong to another line. */
	const uint64_t code = native && native->module.file ? native->pc - native->is_call : 0;

	frame->file = copy_text(named->file);
	frame->function = copy_text(named->function);
	frame->module = copy_text(named->module);
	vec_push(&stack->codes, &code);
}

/* ------------------------------------------------------------------ source lines */

/* A frame whose source line may be known. */
struct unlined {
	struct debug_source *debug; /* NULL: it was asked about */
	uint64_t address;	    /* in the address space of the module */
	struct stack_frame *frame;
};

/* Asks about all items that have the debug information of the item at `index`. */
static void ask_lines(struct vec *unlined, size_t index, pid_t pid)
{
	struct unlined *items = unlined->items;
	struct debug_source *debug = items[index].debug;
	const size_t room = unlined->count - index;
	_cleanup_free_ uint64_t *addresses = xcalloc(room, sizeof *addresses);
	_cleanup_free_ const struct source_code **codes = xcalloc(room, sizeof *codes);
	_cleanup_free_ struct stack_frame **frames = xcalloc(room, sizeof(struct stack_frame *));
	size_t count = 0;

	for (size_t i = index; i < unlined->count; i++) {
		if (items[i].debug != debug)
			continue;
		items[i].debug = NULL;
		addresses[count] = items[i].address;
		frames[count++] = items[i].frame;
	}
	debug_source_lines(debug, pid, addresses, count, codes);
	for (size_t i = 0; i < count; i++) {
		if (!codes[i] || !codes[i]->count)
			continue;
		frames[i]->file = xstrdup(codes[i]->place.file);
		frames[i]->line = codes[i]->place.line;
	}
}

static void add_lines(struct walked_stack *stack, const struct modules *modules, pid_t pid)
{
	struct vec unlined = VEC_OF(struct unlined);

	for (size_t i = 0; i < stack->codes.count; i++) {
		const uint64_t code = *(uint64_t *)vec_at(&stack->codes, i);
		const struct module *module = code ? modules_find(modules, code) : NULL;

		if (!module || !module->debug)
			continue;
		const struct unlined item = {module->debug, code - module->bias,
					     vec_at(&stack->frames, i)};

		vec_push(&unlined, &item);
	}
	for (size_t i = 0; i < unlined.count; i++)
		if (((struct unlined *)vec_at(&unlined, i))->debug)
			ask_lines(&unlined, i, pid);
	vec_deinit(&unlined);
}

uint32_t walked_stack_keep(struct walked_stack *stack, const struct modules *modules, pid_t pid,
			   struct stack_table *table)
{
	add_lines(stack, modules, pid);
	const uint32_t number = stack_table_add(table, stack->frames.items, stack->frames.count);

	forget_frames(stack);
	return number;
}
