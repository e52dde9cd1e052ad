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
	/* Returns false if the module does not define that function or variable. */
	bool (*find)(void *context, const char *name, struct script_symbol *symbol);
	/*
	 * Returns false if the module does not define that thread-local variable, or if the dynamic
	 * linker has not given it a place yet. The name "" stands for the beginning of the module's
	 * own thread-local block.
	 */
	bool (*find_tls)(void *context, const char *name, struct script_symbol *symbol);
	void *context;
};

/*
 * An ELF file that is loaded into a process. Its script_symbols:
 * {script_module_find, script_module_find_tls, &module}.
 */
struct script_module {
	struct elf_file *file;
	uint64_t bias;			    /* load bias */
	const struct memory_source *memory; /* of the process */
};

/* `module`: a struct script_module. */
bool script_module_find(void *module, const char *name, struct script_symbol *symbol);
bool script_module_find_tls(void *module, const char *name, struct script_symbol *symbol);

#endif
