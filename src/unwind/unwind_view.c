/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a walk sees of a process.
 *
 * Code is read from the module's file where there is one: in the process, a breakpoint may stand
 * where the call was. Modules are remembered during a walk, since the frames of a stack lie in few
 * of them.
 */
#include "unwind/unwind_view.h"

enum { TRANSLATIONS_MAX = 8 };

void unwind_view_init(struct unwind_view *view, const struct unwind_process *process)
{
	*view = (struct unwind_view){.process = process, .arch = process->arch};
	unwind_memory_init(&view->memory, process->memory);
}

void unwind_view_deinit(struct unwind_view *view)
{
	unwind_memory_deinit(&view->memory);
}

void unwind_view_forget(struct unwind_view *view)
{
	unwind_memory_forget(&view->memory);
	view->module_count = view->next_module = 0;
}

const struct unwind_module *unwind_view_module(struct unwind_view *view, uint64_t pc)
{
	const struct unwind_process *process = view->process;
	struct unwind_module found = {0};

	for (unsigned i = 0; i < view->module_count; i++)
		if (pc >= view->modules[i].start && pc < view->modules[i].end)
			return &view->modules[i];
	if (!process->find_module(process->context, pc, &found))
		return NULL;
	struct unwind_module *kept = &view->modules[view->next_module];

	view->next_module = (view->next_module + 1) % UNWIND_MODULES;
	if (view->module_count < UNWIND_MODULES)
		view->module_count++;
	*kept = found;
	return kept;
}

bool unwind_view_word(struct unwind_view *view, uint64_t address, uint64_t *word)
{
	return unwind_memory_read(&view->memory, address, view->arch->abi->word, word);
}

bool unwind_view_code(struct unwind_view *view, uint64_t address, void *bytes, size_t length)
{
	const struct unwind_module *module = unwind_view_module(view, address);

	if (!module)
		return false;
	if (module->file && elf_read(module->file, address - module->bias, bytes, length))
		return true;
	return memory_read_exact(view->process->memory, address, bytes, length);
}

/* The answer may be code of the tracer's again: a tail call, or the code of an earlier tracer. */
uint64_t unwind_view_program_pc(const struct unwind_view *view, uint64_t pc, uint64_t place)
{
	const struct unwind_process *process = view->process;
	uint64_t found = pc;

	if (!process->find_program_pc)
		return pc;
	for (unsigned i = 0; i < TRANSLATIONS_MAX; i++) {
		if (!process->find_program_pc(process->context, pc, place, &found) || found == pc)
			break;
		pc = found;
	}
	return pc;
}

bool unwind_view_return(struct unwind_view *view, uint64_t place, uint64_t *address)
{
	uint8_t code[ARCH_CALL_MAX];
	uint64_t word;

	if (!unwind_view_word(view, place, &word))
		return false;
	*address = unwind_view_program_pc(view, word, place);
	return *address > sizeof code && unwind_view_module(view, *address - 1) &&
	       unwind_view_code(view, *address - sizeof code, code, sizeof code) &&
	       view->arch->ends_with_call(code);
}
