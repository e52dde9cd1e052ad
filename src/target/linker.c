/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols of the dynamic linker: the function that it calls at each change of its list, and
 * r_debug, where that list begins. The linker's file exports them from the first instruction on,
 * long before DT_DEBUG of a program is set.
 *
 * The linker can also be the executed program (/lib64/ld-linux-x86-64.so.2 PROGRAM), as in scripts
 * that bring their own libraries. Then AT_BASE is 0, and the file of /proc/PID/exe has no DT_DEBUG:
 * the program proper is the first entry of the list.
 */
#include "target/linker.h"

#include "engine/trap/trap.h"
#include "object/elf.h"
#include "object/elf_symbols.h"
#include "target/target_state.h"

#include <errno.h>

bool linker_is_program(const struct module *program)
{
	return !elf_interpreter(program->file) &&
	       elf_find_exported(program->file, "_dl_debug_state");
}

uint64_t linker_symbol_r_debug(const struct module *linker)
{
	const struct elf_symbol *r_debug = elf_find_symbol(linker->file, "_r_debug");

	return r_debug && r_debug->value ? r_debug->value + linker->bias : 0;
}

uint64_t linker_r_debug(const struct space *space, const struct module *linker)
{
	const unsigned word = space->arch->abi->word;
	const struct elf_symbol *pointer = elf_find_symbol(linker->file, "_dl_debug_addr");
	uint64_t r_debug = linker_symbol_r_debug(linker);
	uint64_t first;

	/* musl's pointer, which leads to r_debug once the linker has relocated itself. */
	if (!r_debug && pointer && pointer->value &&
	    !memory_read_word(&space->memory, pointer->value + linker->bias, word, &r_debug))
		return 0;
	/* r_map follows r_version, aligned to a word (link.h). */
	return r_debug && memory_read_word(&space->memory, r_debug + word, word, &first) && first
		       ? r_debug
		       : 0;
}

int linker_hook(struct target *target, struct thread *thread, const struct module *linker)
{
	const struct elf_symbol *state = elf_find_symbol(linker->file, "_dl_debug_state");

	if (!state || !state->value)
		return -ENOENT;
	return trap_plant(target->trap, thread, state->value + linker->bias, NULL, &target->linker);
}
