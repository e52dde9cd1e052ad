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
#include "target/stacks/walked_stack.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "target/module.h"
#include "target/shown_names.h"
#include "target/target_state.h"

#include <stdlib.h>

enum { FRAMES_MOST = 1024 }; /* of a stack with inlined functions */

void walked_stack_init(struct walked_stack *stack)
{
	vec_init(&stack->frames, sizeof(struct stack_frame));
	vec_init(&stack->codes, sizeof(uint64_t));
}

static void free_texts(const struct vec *frames)
{
	for (size_t i = 0; i < frames->count; i++) {
		const struct stack_frame *frame = vec_at(frames, i);

		free((char *)(uintptr_t)frame->file);
		free((char *)(uintptr_t)frame->function);
		free((char *)(uintptr_t)frame->module);
		free((char *)(uintptr_t)frame->calls);
	}
}

static void forget_frames(struct walked_stack *stack)
{
	free_texts(&stack->frames);
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
	frame->calls = copy_text(named->calls);
	vec_push(&stack->codes, &code);
}

/* ------------------------------------------------------------------ source lines */

/* What is known of the code of a frame. */
struct frame_code {
	const struct module *module; /* NULL: it has no debug information that could be asked */
	uint64_t address;	     /* in the address space of the module */
	bool is_asked;
	const struct source_code *found; /* NULL: nothing; valid until its source is asked again */
};

/* --profile shows functions without lines: debug information need not be read for it. */
static bool wants_lines(const struct target *target)
{
	return !target->options->profile_hz || target->options->output->inlines;
}

static struct frame_code *find_modules(const struct walked_stack *stack,
				       const struct modules *modules, bool has_lines)
{
	struct frame_code *codes = xcalloc(stack->codes.count + 1, sizeof *codes);

	for (size_t i = 0; i < stack->codes.count && has_lines; i++) {
		const uint64_t code = *(uint64_t *)vec_at(&stack->codes, i);
		const struct module *module = code ? modules_find(modules, code) : NULL;

		if (module && module->debug)
			codes[i] = (struct frame_code){module, code - module->bias, false, NULL};
	}
	return codes;
}

/* Stores the addresses of all frames that have the first one's debug information. */
static size_t addresses_of(const struct frame_code *first, size_t count, uint64_t *addresses)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		if (first[i].module && first[i].module->debug == first->module->debug)
			addresses[found++] = first[i].address;
	return found;
}

/*
 * Asks about the code of all frames from `first` on that have its debug information: two modules of
 * one file share it, and an answer is valid until the next question.
 */
static void ask_lines(struct frame_code *first, size_t count, pid_t pid)
{
	struct debug_source *source = first->module->debug;
	_cleanup_free_ uint64_t *addresses = xcalloc(count, sizeof *addresses);
	_cleanup_free_ const struct source_code **found = xcalloc(count, sizeof *found);
	size_t next = 0;

	debug_source_lines(source, pid, addresses, addresses_of(first, count, addresses), found);
	for (size_t i = 0; i < count; i++) {
		if (!first[i].module || first[i].module->debug != source)
			continue;
		first[i].is_asked = true;
		first[i].found = found[next++];
	}
}

void walked_stack_ask_ahead(const struct walked_stack *stack, const struct target *target,
			    const struct modules *modules, pid_t pid)
{
	const size_t count = stack->codes.count;
	_cleanup_free_ struct frame_code *codes = find_modules(stack, modules, wants_lines(target));
	_cleanup_free_ uint64_t *addresses = xcalloc(count + 1, sizeof *addresses);

	/* A source that was asked already takes no second question. */
	for (size_t i = 0; i < count; i++)
		if (codes[i].module)
			debug_source_lines_ahead(codes[i].module->debug, pid, addresses,
						 addresses_of(&codes[i], count - i, addresses));
}

/* Adds frames for the functions that were inlined at the code of a frame. */
static void add_inlined(const struct target *target, const struct stack_frame *frame,
			const struct frame_code *code, struct vec *frames)
{
	for (size_t i = 0; i + 1 < code->found->count && frames->count < FRAMES_MOST; i++) {
		const struct source_place *place = &code->found->places[i];
		struct stack_frame *inlined = vec_push(frames, frame);

		inlined->is_inlined = true;
		inlined->offset = 0;
		inlined->calls = NULL;
		inlined->module = copy_text(frame->module);
		inlined->function = place->function ? shown_names_function(target, code->module,
									   place->function)
						    : NULL;
		inlined->file = copy_text(place->file);
		inlined->line = place->line;
	}
}

/* Moves the frames to `lined`, with their source lines. */
static void add_lines(struct walked_stack *stack, const struct target *target,
		      const struct modules *modules, pid_t pid, struct vec *lined)
{
	const size_t count = stack->frames.count;
	_cleanup_free_ struct frame_code *codes = find_modules(stack, modules, wants_lines(target));

	for (size_t i = 0; i < count; i++)
		if (codes[i].module && !codes[i].is_asked)
			ask_lines(&codes[i], count - i, pid);
	for (size_t i = 0; i < count; i++) {
		struct stack_frame *frame = vec_at(&stack->frames, i);
		const struct source_code *found = codes[i].found;

		if (found && found->count) {
			add_inlined(target, frame, &codes[i], lined);
			frame->file = copy_text(found->places[found->count - 1].file);
			frame->line = found->places[found->count - 1].line;
		}
		vec_push(lined, frame);
	}
	vec_clear(&stack->frames);
	vec_clear(&stack->codes);
}

uint32_t walked_stack_keep(struct walked_stack *stack, const struct target *target,
			   const struct modules *modules, pid_t pid, struct stack_table *table)
{
	struct vec lined = VEC_OF(struct stack_frame);

	add_lines(stack, target, modules, pid, &lined);
	const uint32_t number = stack_table_add(table, lined.items, lined.count);

	free_texts(&lined);
	vec_deinit(&lined);
	return number;
}
