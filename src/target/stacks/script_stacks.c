/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The script frames of threads: what unwind/script does, for the modules of a space.
 *
 * The virtual machines of a space are found among its modules, once for each module, when the first
 * stack is asked for: at launch their modules are loaded late, and an attach has to be quick.
 *
 * Script frames belong between native frames: where a C function is that runs them. Descriptions
 * name such functions, or tell by an address in them where they are; then the function is the one
 * that call-frame information describes there.
 *
 * A module that was unloaded leaves its machine behind until the space goes: its frames cannot be
 * read any more, so it has none.
 */
#include "target/stacks/script_stacks.h"

#include "base/diag.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "target/stacks/native_stacks.h"
#include "target/stacks/script_symbols.h"
#include "unwind/script/application.h"
#include "unwind/script/library.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct code_range {
	uint64_t start, end;
};

enum { RANGES_MAX = 16, WALKS = 3, LOOKS = 100000 };

void script_stacks_forget(struct modules *modules)
{
	for (size_t i = 0; i < modules->machines.count; i++) {
		struct script_machine *machine = *(void **)vec_at(&modules->machines, i);

		script_vm_destroy(machine->vm);
		vec_deinit(&machine->code);
		free(machine);
	}
	vec_deinit(&modules->machines);
	vec_deinit(&modules->unready);
}

/* ------------------------------------------------------------------ virtual machines */

static void find_code(struct script_machine *machine, const struct script_symbols *symbols)
{
	const struct vec *names = &script_vm_description(machine->vm)->natives;

	for (size_t i = 0; i < names->count; i++) {
		struct script_symbol symbol;

		if (!symbols->find(symbols->context, *(char **)vec_at(names, i), &symbol))
			continue;
		const struct code_range range = {symbol.value, symbol.value + symbol.size};

		vec_push(&machine->code, &range);
	}
}

static bool is_listed(const struct modules *modules, const struct module *module)
{
	for (size_t i = 0; i < modules->list.count; i++)
		if (*(struct module **)vec_at(&modules->list, i) == module)
			return true;
	return false;
}

/* Returns false if the module is a machine that is not set up so far. */
static bool look_at_module(const struct target *target, const struct script_library *library,
			   struct thread *thread, const struct module *module)
{
	struct space *space = thread->process->space;
	struct script_module described = {module->file, module->bias, &space->readable};
	const struct script_symbols symbols = script_symbols_of(&described);
	struct strbuf version = {0};
	struct script_vm *vm;
	const int error = script_vm_bind(library, &symbols, &space->readable, &vm, &version);
	char safe[128];
	/* PHP has no version before it is set up. */
	const bool is_ready = error != -ENOTSUP || version.length;

	if (!error) {
		struct script_machine *machine = xcalloc(1, sizeof *machine);

		machine->vm = vm;
		vec_init(&machine->code, sizeof(struct code_range));
		find_code(machine, &symbols);
		vec_push(&space->modules->machines, &machine);
	} else if (error == -ENOTSUP && is_ready && !target->options->quiet) {
		diag("process %d: no frame description for %s: its script lines are not shown",
		     (int)thread->process->pid, diag_safe(safe, sizeof safe, version.text));
	}
	strbuf_deinit(&version);
	return is_ready;
}

/* Looks again at machines that were not set up, at most LOOKS times. */
static void look_again(const struct target *target, const struct script_library *library,
		       struct thread *thread)
{
	struct modules *modules = thread->process->space->modules;

	if (modules->unready.count && ++modules->unready_looks > LOOKS)
		vec_clear(&modules->unready);
	for (size_t i = 0; i < modules->unready.count; i++) {
		const struct module *module = *(struct module **)vec_at(&modules->unready, i);

		if (!is_listed(modules, module) || look_at_module(target, library, thread, module))
			vec_remove(&modules->unready, i--);
	}
}

bool script_stacks_are_ready(const struct space *space)
{
	return !space->modules->unready.count;
}

const struct vec *script_stacks_machines(const struct target *target,
					 const struct script_library *library,
					 struct thread *thread)
{
	struct modules *modules = thread->process->space->modules;

	if (modules->list.count < modules->looked_at)
		modules->looked_at = modules->list.count; /* some were unloaded */
	look_again(target, library, thread);
	for (; modules->looked_at < modules->list.count; modules->looked_at++) {
		struct module *module = *(void **)vec_at(&modules->list, modules->looked_at);

		if (!look_at_module(target, library, thread, module))
			vec_push(&modules->unready, &module);
	}
	return &modules->machines;
}

/* ------------------------------------------------------------------ frames */

size_t script_stacks_walk(struct script_machine *machine, const struct thread *thread,
			  const struct regs *regs, struct raw_frame *frames, size_t room)
{
	const struct script_thread asked = {regs->fs_base, (uint64_t)thread->tid};
	enum script_end end = SCRIPT_UNREADABLE;
	size_t count = 0;

	/*
	 * The thread is found in a list that other threads change as they begin and end: a walk
	 * that has met such a moment finds nothing, or something that cannot be read.
	 */
	for (unsigned i = 0; i < WALKS && (end == SCRIPT_UNREADABLE || !count); i++)
		end = script_vm_walk(machine->vm, &asked, frames, room, &count);
	return count;
}

bool script_stacks_runs(const struct script_machine *machine, uint64_t pc)
{
	for (size_t i = 0; i < machine->code.count; i++) {
		const struct code_range *range = vec_at(&machine->code, i);

		if (pc >= range->start && pc < range->end)
			return true;
	}
	return false;
}

void script_stacks_learn_code(struct script_machine *machine, struct thread *thread,
			      const struct raw_frame *frame)
{
	struct code_range range;
	uint64_t address;

	if (machine->code.count < RANGES_MAX && script_vm_code(machine->vm, frame, &address) &&
	    !script_stacks_runs(machine, address) &&
	    native_stacks_function(thread, address, &range.start, &range.end))
		vec_push(&machine->code, &range);
}

struct stack_frame script_stacks_name(struct script_machine *machine, const struct raw_frame *raw)
{
	const struct script_frame named = script_vm_name(machine->vm, raw);

	return (struct stack_frame){
		.kind = STACK_SCRIPT,
		.is_application = named.file && script_is_application(named.language, named.file),
		.language = named.language,
		.file = named.file,
		.function = named.function,
		.line = named.line};
}
