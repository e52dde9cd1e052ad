/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One module: its file, its load address, and what is known of its functions; and the list of the
 * modules of a space: see module.c.
 */
#ifndef TRACER_TARGET_MODULE_H
#define TRACER_TARGET_MODULE_H

#include "target/target_state.h"

/* Makes a module of a file, with one reference. Takes over the caller's reference to `file`. */
struct module *module_create(struct target *target, struct elf_file *file, uint64_t bias,
			     const char *path, bool is_main);
void module_unref(struct module *module);
struct module *modules_find(const struct modules *modules, uint64_t address);
/* Returns the main program, or the dynamic linker that was executed to load it. */
const struct module *modules_program(const struct modules *modules);
/*
 * Returns the module that calls of `name` most likely reach: the first one that defines it; NULL if
 * none does. Stores the symbol in *symbol, unless `symbol` is NULL.
 */
const struct module *modules_find_definer(const struct modules *modules, const char *name,
					  const struct elf_symbol **symbol);
/* Returns the module's SONAME, or the base name of its path. */
const char *module_library(const struct module *module);
/* code_names.find; `context` is the target. */
char *module_code_name(void *context, int32_t pid, uint64_t address);
/* code_names.changes; `context` is the target. */
uint64_t module_code_changes(void *context);
/* code_names.place; `context` is the target. */
char *module_code_place(void *context, int32_t pid, uint64_t address);

#endif
