/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which line of a script has called a traced function.
 *
 * The virtual machines of a space are found among its modules, once for each module, when the first
 * call is made: at launch their modules are loaded late, and an attach has to be quick. For a
 * machine of a version without a description this is said once, and no line is shown. At each call
 * the frames are walked while the thread stands at its breakpoint; the stack is kept once in
 * target->stacks, and the record of the call has its number.
 *
 * A module that was unloaded leaves its machine behind until the space goes: its frames cannot be
 * read any more, so it has none.
 */
#include "target/script_stacks.h"

#include "base/diag.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "sink/stack_table.h"
#include "unwind/script/application.h"
#include "unwind/script/library.h"
#include "unwind/script/vm.h"

#include <errno.h>
#include <stdlib.h>

/* The frame of the application may be outside of many frames of packages. */
enum { FRAMES_MOST = 256 };

static void complain(void *context, const char *file, unsigned line, const char *message)
{
	(void)context;
	if (line)
		diag("%s:%u: %s", file, line, message);
	else
		diag("%s: %s", file, message);
}

void script_stacks_init(struct target *target)
{
	if (!target->options->output->script_line)
		return;
	target->frame_descriptions = script_library_create(target->options->data_dir, complain,
							   NULL);
	target->stacks = stack_table_create();
	target->events.stack = script_stacks_of;
}

void script_stacks_deinit(struct target *target)
{
	script_library_destroy(target->frame_descriptions);
	stack_table_destroy(target->stacks);
}

void script_stacks_forget(struct modules *modules)
{
	for (size_t i = 0; i < modules->machines.count; i++)
		script_vm_destroy(*(struct script_vm **)vec_at(&modules->machines, i));
	vec_deinit(&modules->machines);
}

/* ------------------------------------------------------------------ virtual machines */

static void look_at_module(struct target *target, struct thread *thread,
			   const struct module *module)
{
	struct space *space = thread->process->space;
	struct script_module described = {module->file, module->bias, &space->readable};
	const struct script_symbols symbols = {script_module_find, &described};
	struct strbuf version = {0};
	struct script_vm *machine;
	const int error = script_vm_bind(target->frame_descriptions, &symbols, &space->readable,
					 &machine, &version);
	char safe[128];

	if (!error)
		vec_push(&space->modules->machines, &machine);
	else if (error == -ENOTSUP && !target->options->quiet)
		diag("process %d: no frame description for %s: its script lines are not shown",
		     (int)thread->process->pid, diag_safe(safe, sizeof safe, version.text));
	strbuf_deinit(&version);
}

/* Looks at the modules that were loaded since the last call. */
static void find_machines(struct target *target, struct thread *thread)
{
	struct modules *modules = thread->process->space->modules;

	if (modules->list.count < modules->looked_at)
		modules->looked_at = modules->list.count; /* some were unloaded */
	for (; modules->looked_at < modules->list.count; modules->looked_at++)
		look_at_module(target, thread,
			       *(struct module **)vec_at(&modules->list, modules->looked_at));
}

/* ------------------------------------------------------------------ stacks */

static void add_frame(struct vec *frames, const struct script_frame *named, bool is_application)
{
	/* The texts are valid until the next frame is named. */
	const struct stack_frame frame = {.language = named->language,
					  .file = xstrdup(named->file),
					  .function = named->function ? xstrdup(named->function)
								      : NULL,
					  .line = named->line,
					  .is_application = is_application};

	vec_push(frames, &frame);
}

/*
 * Adds the innermost frame whose line is known, and the innermost one of the application: more is
 * not shown. The frames outside of these are not even named.
 */
static void add_frames(struct script_vm *machine, const struct script_thread *asked,
		       struct vec *frames)
{
	struct raw_frame raw[FRAMES_MOST];
	const size_t before = frames->count;
	bool is_application = false;
	size_t count;

	script_vm_walk(machine, asked, raw, FRAMES_MOST, &count);
	for (size_t i = 0; i < count && !is_application; i++) {
		const struct script_frame named = script_vm_name(machine, &raw[i]);

		if (!named.file || !named.line)
			continue;
		is_application = script_is_application(named.language, named.file);
		if (is_application || frames->count == before)
			add_frame(frames, &named, is_application);
	}
}

uint32_t script_stacks_of(void *context, struct thread *thread)
{
	struct target *target = context;
	struct space *space = thread->process->space;
	struct vec frames = VEC_OF(struct stack_frame);
	struct regs regs;

	/* Descriptions are for 64 bits: their numbers would lead astray elsewhere. */
	if (!space || !space->modules || space->arch->abi->word != sizeof(uint64_t) ||
	    regs_load(thread->tid, &regs) != 0)
		return 0;
	find_machines(target, thread);
	const struct script_thread asked = {regs.fs_base, (uint64_t)thread->tid};

	for (size_t i = 0; i < space->modules->machines.count; i++)
		add_frames(*(struct script_vm **)vec_at(&space->modules->machines, i), &asked,
			   &frames);
	const uint32_t number = stack_table_add(target->stacks, frames.items, frames.count);

	for (size_t i = 0; i < frames.count; i++) {
		struct stack_frame *frame = vec_at(&frames, i);

		free((char *)frame->file);
		free((char *)frame->function);
	}
	vec_deinit(&frames);
	return number;
}
