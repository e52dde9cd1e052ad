/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dynamic linker's own words: the function that it calls at each change of its list, and where
 * that list begins. They are exported by its file from the first instruction on, long before
 * DT_DEBUG of a program leads there.
 *
 * It can also be the program that was executed itself (/lib64/ld-linux-x86-64.so.2 PROGRAM), as in
 * scripts that bring their own libraries along. Then the kernel names no linker (AT_BASE), and what
 * is in /proc/PID/exe has no DT_DEBUG: the program proper is the first that comes onto the list.
 */
#include "session/private.h"

#include "engine/trap/trap.h"
#include "image/elf.h"

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

	/* musl's, which leads there as soon as the linker has relocated itself. */
	if (!r_debug && pointer && pointer->value &&
	    !memory_read_word(&space->memory, pointer->value + linker->bias, word, &r_debug))
		return 0;
	/* r_map is behind r_version, aligned (link.h). */
	return r_debug && memory_read_word(&space->memory, r_debug + word, word, &first) && first
		       ? r_debug
		       : 0;
}

int linker_hook(struct session *session, struct thread *thread, const struct module *linker)
{
	const struct elf_symbol *state = elf_find_symbol(linker->file, "_dl_debug_state");

	if (!state || !state->value)
		return -ENOENT;
	return trap_plant(session->trap, thread, state->value + linker->bias, NULL,
			  &session->linker);
}
