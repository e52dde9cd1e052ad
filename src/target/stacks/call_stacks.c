/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of calls: native and script frames in one order.
 *
 * They are walked while the thread stands at its breakpoint. The stack is kept once in the stack
 * table, and the records of the call have its number. -w N wants the N innermost frames, -W the
 * innermost script frame and the innermost one of the application, which may lie farther out: it
 * then comes behind the others, and sinks show only the first N.
 *
 * The two kinds of frames are found in two ways that know nothing of each other, and have to be
 * merged. A native frame of a function that runs script frames stands for those up to and including
 * the first that was entered from C (struct raw_frame). If there are not as many such native frames
 * as script frames entered from C, no order is certain: the script frames then come first, and a
 * note in front of the native ones. That is judged only if the native walk came to the outermost
 * frame.
 */
#include "target/stacks/call_stacks.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "engine/agent/script_lines.h"
#include "engine/agent/stack_rules.h"
#include "sink/stacks/stack_lines.h"
#include "target/stacks/agent_lines.h"
#include "target/stacks/frame_arguments.h"
#include "target/stacks/known_stacks.h"
#include "target/stacks/native_stacks.h"
#include "target/stacks/raw_stack.h"
#include "target/stacks/script_stacks.h"
#include "target/stacks/walked_stack.h"
#include "unwind/script/library.h"
#include "unwind/stack_hash.h"

#include <stdlib.h>
#include <string.h>

/* PLACE_FRAMES: among so many innermost script frames is mostly one of the application. */
enum { PLACE_FRAMES = 8 };

/* The call whose stack was walked last. */
struct walked_call {
	pid_t tid;
	uint64_t event; /* of the tracees: the stop */
	uint64_t sp;	/* at the entry of the function */
	uint32_t number;
};

struct call_stacks {
	struct script_library *library;
	struct stack_table *table;
	struct raw_stack raw;	     /* the stack that is walked */
	struct walked_stack *walked; /* gets the frames that are chosen */
	struct walked_stack own;
	/*
	 * A script frame of the stack has no file or no line. That may be so for a moment only, as
	 * while Ruby moves what they are read from: so it is not kept for the next such stack.
	 */
	bool lacks_lines;
	struct walked_call last;
};

static void complain(void *context, const char *file, unsigned line, const char *message)
{
	(void)context;
	if (line)
		diag("%s:%u: %s", file, line, message);
	else
		diag("%s: %s", file, message);
}

void call_stacks_init(struct target *target)
{
	const struct output_options *output = target->options->output;

	if (!target_takes_place(output) && !target_stack_depth(output))
		return;
	struct call_stacks *stacks = target->call_stacks = xcalloc(1, sizeof *stacks);

	stacks->table = stack_table_create();
	walked_stack_init(&stacks->own);
	raw_stack_init(&stacks->raw);
	if (target_takes_place(output) || output->where_script || output->takes_stack)
		stacks->library = script_library_create(target->options->data_dir, complain, NULL);
	target->events.stack = call_stacks_of;
	target->events.teach_stack = call_stacks_teach;
}

void call_stacks_deinit(struct target *target)
{
	struct call_stacks *stacks = target->call_stacks;

	if (!stacks)
		return;
	target->call_stacks = NULL;
	raw_stack_deinit(&stacks->raw);
	script_library_destroy(stacks->library);
	stack_table_destroy(stacks->table);
	walked_stack_deinit(&stacks->own);
	free(stacks);
}

const struct stack_table *call_stacks_table(const struct target *target)
{
	return target->call_stacks ? target->call_stacks->table : NULL;
}

/* ------------------------------------------------------------------ frames of the stack */

static bool is_full(const struct call_stacks *stacks, size_t wanted)
{
	return stacks->walked->frames.count >= wanted;
}

/* ------------------------------------------------------------------ the two kinds merged */

/* Returns the part whose next frames are run by the code of a native frame, or NULL. */
static struct machine_frames *part_run_by(struct call_stacks *stacks, struct thread *thread,
					  const struct unwind_frame *frame)
{
	for (size_t i = 0; i < stacks->raw.part_count; i++) {
		struct machine_frames *part = &stacks->raw.parts[i];
		const size_t next = part->next < part->count ? part->next : part->count - 1;

		if (part->learned != next)
			script_stacks_learn_code(part->machine, thread, &part->frames[next]);
		part->learned = next;
		if (script_stacks_runs(part->machine, frame->pc - frame->is_call))
			return part;
	}
	return NULL;
}

static size_t count_entries(const struct machine_frames *part)
{
	size_t entries = 0;

	for (size_t i = 0; i < part->count; i++)
		entries += part->frames[i].entry || i + 1 == part->count;
	return entries;
}

/* Returns true if each native frame that runs script frames has some, and they have one. */
static bool match(struct call_stacks *stacks, struct thread *thread)
{
	bool do_match = true;

	for (size_t i = 0; i < stacks->raw.part_count; i++)
		stacks->raw.parts[i].runs = 0;
	for (size_t i = 0; i < stacks->raw.native_count; i++) {
		struct machine_frames *part = part_run_by(stacks, thread, &stacks->raw.native[i]);

		if (part)
			part->runs++;
	}
	for (size_t i = 0; i < stacks->raw.part_count; i++) {
		const size_t entries = count_entries(&stacks->raw.parts[i]);

		do_match &= stacks->raw.native_end == UNWIND_END_LIMIT
				    ? stacks->raw.parts[i].runs <= entries
				    : stacks->raw.parts[i].runs == entries;
	}
	return do_match;
}

/* Adds the next frames of a machine, up to the one that was entered from C. */
static void add_run(struct call_stacks *stacks, struct machine_frames *part, size_t wanted)
{
	bool is_entry = false;

	while (part->next < part->count && !is_entry && !is_full(stacks, wanted)) {
		const struct raw_frame *raw = &part->frames[part->next++];
		const struct stack_frame named = script_stacks_name(part->machine, raw);

		stacks->lacks_lines |= !named.file || !named.line;
		walked_stack_add(stacks->walked, &named, NULL);
		is_entry = raw->entry != 0;
	}
}

/* Leaves the next frames out that add_run() would add. */
static void skip_run(struct machine_frames *part)
{
	bool is_entry = false;

	while (part->next < part->count && !is_entry)
		is_entry = part->frames[part->next++].entry != 0;
}

static void add_native(struct target *target, struct thread *thread, size_t index)
{
	struct call_stacks *stacks = target->call_stacks;
	const struct unwind_frame *frame = &stacks->raw.native[index];
	struct stack_frame named = native_stacks_name(target, thread, frame);
	_cleanup_free_ char *calls = target->options->stacks
					     ? frame_arguments_text(target, thread,
								    stacks->raw.native,
								    stacks->raw.native_count, index)
					     : NULL;

	named.calls = calls;
	walked_stack_add(stacks->walked, &named, frame);
}

static void add_merged(struct target *target, struct thread *thread, size_t wanted)
{
	struct call_stacks *stacks = target->call_stacks;

	for (size_t i = 0; i < stacks->raw.native_count && !is_full(stacks, wanted); i++) {
		struct machine_frames *part = part_run_by(stacks, thread, &stacks->raw.native[i]);

		if (part && i < stacks->raw.native_first)
			skip_run(part);
		else if (part)
			add_run(stacks, part, wanted);
		else if (i >= stacks->raw.native_first)
			add_native(target, thread, i);
	}
}

static void add_scripts(struct call_stacks *stacks, size_t wanted)
{
	for (size_t i = 0; i < stacks->raw.part_count; i++)
		while (stacks->raw.parts[i].next < stacks->raw.parts[i].count &&
		       !is_full(stacks, wanted))
			add_run(stacks, &stacks->raw.parts[i], wanted);
}

/* Adds the innermost `wanted` frames of the kinds that -w asks for. */
static void add_frames(struct target *target, struct thread *thread, size_t wanted)
{
	static const struct stack_frame note = {
		.kind = STACK_NOTE, .function = "native frames, which do not match those above"};
	struct call_stacks *stacks = target->call_stacks;
	const struct output_options *output = target->options->output;
	const bool have_scripts = output->where_script && stacks->raw.part_count;

	if (have_scripts && output->where_native && match(stacks, thread)) {
		add_merged(target, thread, wanted);
		return;
	}
	if (have_scripts)
		add_scripts(stacks, wanted);
	if (have_scripts && stacks->raw.native_count && !is_full(stacks, wanted))
		walked_stack_add(stacks->walked, &note, NULL);
	for (size_t i = stacks->raw.native_first;
	     i < stacks->raw.native_count && !is_full(stacks, wanted); i++)
		add_native(target, thread, i);
}

/*
 * Adds what -W shows, if it is not there: the innermost frame, and the innermost one of the
 * application, also if their lines are not known. Frames outside of these are not even named.
 */
static void add_places(struct call_stacks *stacks)
{
	for (size_t i = 0; i < stacks->raw.part_count; i++) {
		struct machine_frames *part = &stacks->raw.parts[i];
		bool is_first = true, is_found = false;

		for (size_t j = 0; j < part->count && !is_found; j++) {
			struct stack_frame named = script_stacks_name(part->machine,
								      &part->frames[j]);

			named.is_place = true;
			is_found = stack_lines_is_wanted(&named, false);
			stacks->lacks_lines |= !named.file || !named.line;
			if (is_first || is_found)
				walked_stack_add(stacks->walked, &named, NULL);
			is_first = false;
		}
	}
}

/* Walks the stack of a thread as far as -w needs it. */
static void walk_for_frames(struct target *target, struct thread *thread,
			    const struct stack_start *start)
{
	struct call_stacks *stacks = target->call_stacks;
	const struct output_options *output = target->options->output;

	raw_stack_walk_scripts(&stacks->raw, target, stacks->library, thread, start->regs,
			       RAW_FRAMES_MAX);
	/* The order of script and native frames is known only from the whole stack. */
	if (output->where_native)
		raw_stack_walk_native(&stacks->raw, thread, start,
				      stacks->raw.part_count || start->place
					      ? RAW_FRAMES_MAX
					      : target_stack_depth(output));
}

static bool has_application(const struct machine_frames *part)
{
	for (size_t i = 0; i < part->count; i++)
		if (script_stacks_name(part->machine, &part->frames[i]).is_application)
			return true;
	return false;
}

/* Walks the script frames of a thread, as far as -W needs them. */
static void walk_for_place(struct target *target, struct thread *thread, const struct regs *regs)
{
	struct call_stacks *stacks = target->call_stacks;
	bool is_enough = true;

	raw_stack_walk_scripts(&stacks->raw, target, stacks->library, thread, regs, PLACE_FRAMES);
	for (size_t i = 0; i < stacks->raw.part_count; i++)
		is_enough &= stacks->raw.parts[i].count < PLACE_FRAMES ||
			     has_application(&stacks->raw.parts[i]);
	if (!is_enough)
		raw_stack_walk_scripts(&stacks->raw, target, stacks->library, thread, regs,
				       RAW_FRAMES_MAX);
}

/* Walks the stack of a thread as far as it is wanted. */
static void walk(struct target *target, struct thread *thread, const struct stack_start *start)
{
	struct call_stacks *stacks = target->call_stacks;

	stacks->raw.native_count = stacks->raw.native_first = 0;
	if (target_stack_depth(target->options->output))
		walk_for_frames(target, thread, start);
	else
		walk_for_place(target, thread, start->regs);
}

/* Names the frames that walk() has found, in `walked`, which is empty. */
static void name(struct target *target, struct thread *thread, struct walked_stack *walked)
{
	struct call_stacks *stacks = target->call_stacks;
	const struct output_options *output = target->options->output;

	stacks->walked = walked;
	if (target_stack_depth(output))
		add_frames(target, thread, target_stack_depth(output));
	if (target_takes_place(output))
		add_places(stacks);
}

/* Returns the number of the stack of a thread in the table, or 0. */
static uint32_t number_of(struct target *target, struct thread *thread,
			  const struct stack_start *start)
{
	struct call_stacks *stacks = target->call_stacks;
	struct modules *modules = thread->process->space->modules;

	walk(target, thread, start);
	stacks->lacks_lines = false;
	const uint64_t key = known_stacks_key(&stacks->raw);
	uint32_t number = known_stacks_find(modules, key);

	if (number)
		return number;
	name(target, thread, &stacks->own);
	number = walked_stack_keep(&stacks->own, target, modules, thread->tid, stacks->table);
	if (!stacks->lacks_lines)
		known_stacks_add(modules, key, number);
	return number;
}

/*
 * Teaches the agent the frames up to the one whose line is shown. Returns false if there was no
 * room, or if that line is not known: it may be another time (Ruby moves what it is read from).
 */
static bool teach_line(struct target *target, struct space *space)
{
	struct call_stacks *stacks = target->call_stacks;
	const bool any_line = target->options->output->any_line;
	bool is_shown = false, is_known = true;

	for (size_t i = 0; i < stacks->raw.part_count && !is_shown; i++) {
		struct machine_frames *part = &stacks->raw.parts[i];

		for (size_t j = 0; j < part->count && !is_shown; j++) {
			const struct stack_frame named = script_stacks_name(part->machine,
									    &part->frames[j]);

			is_shown = stack_lines_is_wanted(&named, any_line);
			is_known &= (!is_shown || (named.file && named.line)) &&
				    agent_lines_frame(space, &part->frames[j], &named, is_shown,
						      stacks->table);
		}
	}
	return is_known;
}

/* Teaches the agent the whole stack, which has this number, if the agent can walk it. */
static bool teach_stack(const struct target *target, struct space *space, uint32_t number)
{
	const struct call_stacks *stacks = target->call_stacks;
	uint64_t hash = stack_hash_begin(stack_rules_epoch(space));

	for (size_t i = 0; i < stacks->raw.part_count; i++)
		for (size_t j = 0; j < stacks->raw.parts[i].count; j++)
			hash = stack_hash_script(hash, &stacks->raw.parts[i].frames[j]);
	for (size_t i = 0; i < stacks->raw.native_count; i++)
		hash = stack_hash_native(hash, stacks->raw.native[i].pc);
	return !stacks->lacks_lines &&
	       (!target->options->output->where_native ||
		agent_lines_rules(space, stacks->raw.native, stacks->raw.native_count,
				  stacks->raw.native_end)) &&
	       script_lines_learn_stack(space, hash, number);
}

/*
 * The agent may tell lines and stacks from now on: it is told what was found at this stop. Returns
 * false if it cannot tell this one.
 */
static bool teach_agent(struct target *target, struct space *space, uint32_t number)
{
	const bool is_ready = script_stacks_are_ready(space);

	agent_lines_machines(space, &space->modules->machines);
	if (!is_ready)
		script_lines_ask(space);
	return (target_stack_depth(target->options->output) ? teach_stack(target, space, number)
							    : teach_line(target, space)) &&
	       is_ready;
}

/* Finds the stack of a call. Returns false if that cannot be done. */
static bool find_stack(struct target *target, struct thread *thread, const struct regs *entry,
		       uint32_t *number)
{
	const struct space *space = thread->process->space;
	struct regs regs;

	if (!space || !space->modules || regs_load(thread->tid, &regs) != 0)
		return false;
	*number = number_of(target, thread, &(struct stack_start){&regs, entry, 0});
	target->call_stacks->last = (struct walked_call){
		.tid = thread->tid,
		.event = target->tracees->event,
		.sp = entry ? entry->r[REG_SP] : 0,
		.number = *number,
	};
	return true;
}

/* Whether the call is the one whose stack was walked last: call_stacks_teach(). */
static bool is_walked(const struct target *target, const struct thread *thread,
		      const struct regs *entry)
{
	const struct walked_call *last = &target->call_stacks->last;

	return entry && last->tid == thread->tid && last->event == target->tracees->event &&
	       last->sp == entry->r[REG_SP];
}

uint32_t call_stacks_of(void *context, struct thread *thread, const struct regs *entry)
{
	struct target *target = context;
	uint32_t number;

	/* The agent could not be taught this stack, so its call is made by a breakpoint. */
	if (is_walked(target, thread, entry))
		return target->call_stacks->last.number;
	if (!find_stack(target, thread, entry, &number))
		return 0;
	if (target->agent && entry)
		teach_agent(target, thread->process->space, number);
	return number;
}

bool call_stacks_teach(void *context, struct thread *thread, const struct regs *entry)
{
	struct target *target = context;
	uint32_t number;

	return find_stack(target, thread, entry, &number) &&
	       teach_agent(target, thread->process->space, number);
}

uint32_t call_stacks_of_thread(struct target *target, struct thread *thread,
			       const struct regs *regs, uint64_t place)
{
	return number_of(target, thread, &(struct stack_start){regs, NULL, place});
}

bool call_stacks_want_pointer(struct target *target, struct thread *thread)
{
	const struct script_library *library = target->call_stacks->library;

	return library && raw_stack_has_scripts(thread) &&
	       script_stacks_machines(target, library, thread)->count > 0;
}

/* A register that is not known makes the walk guess where the caller is, or end. */
static bool lacks_register(const struct call_stacks *stacks)
{
	bool lacks_one = stacks->raw.native_count && stacks->raw.native_end == UNWIND_END_LOST;

	for (size_t i = 0; i < stacks->raw.native_count; i++)
		lacks_one |= stacks->raw.native[i].is_guessed;
	return lacks_one;
}

bool call_stacks_walk(struct target *target, struct thread *thread, const struct regs *regs,
		      struct walked_stack *walked)
{
	walk(target, thread, &(struct stack_start){regs, NULL, 0});
	name(target, thread, walked);
	return !regs->is_partial || ((regs->fs_base || !call_stacks_want_pointer(target, thread)) &&
				     !lacks_register(target->call_stacks));
}

void call_stacks_ask_ahead(struct target *target, struct thread *thread, const struct regs *regs)
{
	static const struct stack_frame unnamed = {.kind = STACK_NATIVE};
	struct call_stacks *stacks = target->call_stacks;
	struct space *space = thread->process->space;
	struct walked_stack frames;

	if (!target->options->output->where_native)
		return;
	raw_stack_walk_native(&stacks->raw, thread, &(struct stack_start){regs, NULL, 0},
			      RAW_FRAMES_MAX);
	walked_stack_init(&frames);
	for (size_t i = 0; i < stacks->raw.native_count; i++)
		walked_stack_add(&frames, &unnamed, &stacks->raw.native[i]);
	walked_stack_ask_ahead(&frames, target, space->modules, space->reader);
	walked_stack_deinit(&frames);
}

uint32_t call_stacks_keep(struct target *target, const struct space *space,
			  struct walked_stack *walked)
{
	return walked_stack_keep(walked, target, space->modules, space->reader,
				 target->call_stacks->table);
}

void call_stacks_freeze(struct target *target, struct thread *thread, bool frozen)
{
	const struct script_library *library = target->call_stacks->library;

	if (!library)
		return;
	const struct vec *machines = script_stacks_machines(target, library, thread);

	for (size_t i = 0; i < machines->count; i++)
		script_vm_freeze((*(struct script_machine **)vec_at(machines, i))->vm, frozen);
}
