/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What frame descriptions may ask of a loaded module: its symbols (unwind/script/symbols.c), and
 * which thread-local variable a function reads, since that of thread-safe builds of PHP has no
 * symbol. The function is decoded, never run (code/thread_variable.h).
 *
 * Its code is read from the file, since the process may have breakpoints in it, and as if it were
 * at its place in the process, so that addresses in it are those of the process.
 */
#include "target/stacks/script_symbols.h"

#include "code/thread_variable.h"
#include "object/elf_symbols.h"

#include <elf.h>

/* Reads the file as memory of the process. */
static void read_file(void *context, struct memory_range *ranges, size_t count)
{
	const struct script_module *module = context;

	for (size_t i = 0; i < count; i++) {
		const uint64_t address = ranges[i].address - module->bias;
		size_t length = ranges[i].length;

		/* A function may end where the file ends. */
		while (length && !elf_read(module->file, address, ranges[i].buffer, length))
			length--;
		ranges[i].done = length;
	}
}

static bool is_word(void *context, uint64_t address)
{
	struct script_symbol symbol;

	return script_module_tls_at(context, address, &symbol);
}

static bool find_tls_of(void *context, const char *name, struct script_symbol *symbol)
{
	struct script_module *module = context;
	const struct arch *arch = elf_arch(module->file);
	const struct elf_symbol *function = elf_find_symbol(module->file, name);
	const struct memory_source code = {.readv = read_file, .context = module};
	struct thread_variable variable;

	/* Descriptions know the layout of thread-local storage in 64-bit programs. */
	if (!function || !function->value || function->type != STT_FUNC || arch->abi->word != 8)
		return false;
	struct decoder *decoder = decoder_create();

	if (!decoder)
		return false;
	const int error = thread_variable_find(decoder, arch, &code, module->bias + function->value,
					       is_word, module, &variable);

	decoder_destroy(decoder);
	if (error)
		return false;
	*symbol = (struct script_symbol){0};
	if (variable.word && !script_module_tls_at(module, variable.word, symbol))
		return false;
	symbol->value += (uint64_t)variable.offset;
	return !symbol->tls_module == !variable.of_module;
}

struct script_symbols script_symbols_of(struct script_module *module)
{
	return (struct script_symbols){script_module_find, script_module_find_tls, find_tls_of,
				       module};
}
