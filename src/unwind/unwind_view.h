/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a walk sees of a process: its memory, its modules, and which words are return addresses. See
 * unwind_view.c.
 */
#ifndef TRACER_UNWIND_UNWIND_VIEW_H
#define TRACER_UNWIND_UNWIND_VIEW_H

#include "unwind/unwind_memory.h"

#include "object/elf.h"

/* Executable memory: a module's, or other code (a JIT's). */
struct unwind_module {
	uint64_t start, end;   /* range of addresses in the process */
	struct elf_file *file; /* NULL: the code is of no file. The process's owner has it. */
	uint64_t bias;	       /* address in the process = address of the file + bias */
};

/* What the owner of a process tells about it. All of it must stay valid while walks are made. */
struct unwind_process {
	const struct arch *arch;
	const struct memory_source *memory;
	/*
	 * Finds the module at `pc`. Returns false if there is no executable memory. A module may
	 * have several ranges; the one around `pc` is enough.
	 */
	bool (*find_module)(void *context, uint64_t pc, struct unwind_module *module);
	/*
	 * If `pc` is in code of the tracer's (a return trampoline, a displaced instruction), stores
	 * the program's address that it stands for and returns true. `place`: where on the stack
	 * the address was; 0: it was in the pc register, or in no memory. NULL: there is no such
	 * code.
	 */
	bool (*find_program_pc)(void *context, uint64_t pc, uint64_t place, uint64_t *program_pc);
	void *context;
};

enum { UNWIND_MODULES = 8 };

struct unwind_view {
	const struct unwind_process *process;
	const struct arch *arch; /* the process's */
	struct unwind_memory memory;
	struct unwind_module modules[UNWIND_MODULES]; /* those that were found last */
	unsigned module_count, next_module;
};

void unwind_view_init(struct unwind_view *view, const struct unwind_process *process);
void unwind_view_deinit(struct unwind_view *view);
/* Forgets memory and modules: the process has run since. */
void unwind_view_forget(struct unwind_view *view);

/*
 * Returns the module at `pc`, or NULL if no executable memory is there. It is valid until the next
 * call.
 */
const struct unwind_module *unwind_view_module(struct unwind_view *view, uint64_t pc);
/* Reads a word of the process. Returns false if it is unreadable. */
bool unwind_view_word(struct unwind_view *view, uint64_t address, uint64_t *word);
/* Reads code, as the program has it, without breakpoints if it is a file's. */
bool unwind_view_code(struct unwind_view *view, uint64_t address, void *bytes, size_t length);
/* Returns the program's address that `pc` stands for: `pc` itself if it is the program's. */
uint64_t unwind_view_program_pc(const struct unwind_view *view, uint64_t pc, uint64_t place);
/*
 * Reads the word at `place` and returns true if it may be a return address: it is in executable
 * memory behind a call. *address: the program's address.
 */
bool unwind_view_return(struct unwind_view *view, uint64_t place, uint64_t *address);

#endif
