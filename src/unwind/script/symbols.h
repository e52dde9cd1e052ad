/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the symbols that frame descriptions name in a loaded module: see symbols.c. */
#ifndef TRACER_UNWIND_SCRIPT_SYMBOLS_H
#define TRACER_UNWIND_SCRIPT_SYMBOLS_H

#include "base/memory.h"
#include "object/elf.h"

/*
 * Where a symbol is. A thread-local one is `value` bytes above the thread pointer if tls_module is
 * 0, else `value` bytes into the block of that module, which the thread's dynamic thread vector
 * (DTV) points to.
 */
struct script_symbol {
	uint64_t value; /* an address, if it is not thread-local */
	uint64_t size;
	uint64_t tls_module;
};

/* The VM's module, as descriptions see it. */
struct script_symbols {
	/*
	 * Returns false if the module does not define that function or variable. If the program has
	 * a copy of a library's variable, which is used in its place, that is found; the program
	 * does not define it.
	 */
	bool (*find)(void *context, const char *name, struct script_symbol *symbol);
	/*
	 * Returns false if the module does not define that thread-local variable, or if the dynamic
	 * linker has not given it a place yet. The name "" stands for the beginning of the module's
	 * own thread-local block.
	 */
	bool (*find_tls)(void *context, const char *name, struct script_symbol *symbol);
	/*
	 * Finds the thread-local variable that a function of the module reads. Returns false if its
	 * code does not tell, or if the dynamic linker has not given the variable a place yet.
	 */
	bool (*find_tls_of)(void *context, const char *function, struct script_symbol *symbol);
	void *context;
};

/*
 * An ELF file that is loaded into a process. target/stacks/script_symbols.h makes the
 * script_symbols of it.
 */
struct script_module {
	struct elf_file *file;
	uint64_t bias;			    /* load bias */
	const struct memory_source *memory; /* of the process */
};

/* `module`: a struct script_module. */
bool script_module_find(void *module, const char *name, struct script_symbol *symbol);
bool script_module_find_tls(void *module, const char *name, struct script_symbol *symbol);
/*
 * Finds the thread-local variable whose place the dynamic linker writes to `address` in the
 * process. Returns false if it writes none there, or has not done so yet.
 */
bool script_module_tls_at(const struct script_module *module, uint64_t address,
			  struct script_symbol *symbol);

#endif
