/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One module: its file, its load address, and what is known of its functions; and the list of the
 * modules of a space.
 */
#include "target/module.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "code/tail_reach.h"
#include "object/elf_address.h"
#include "object/elf_symbols.h"
#include "target/shown_names.h"
#include "target/target_state.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_reaches(struct module *module)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&module->reaches, &cursor, NULL, &value))
		tail_reach_destroy(value);
	map_deinit(&module->reaches);
}

void module_unref(struct module *module)
{
	if (--module->references)
		return;
	shown_names_deinit(module);
	free_reaches(module);
	debug_source_unref(module->debug);
	elf_unref(module->file);
	free(module->path);
	free(module->mapped);
	free(module->listed);
	free(module);
}

/* Returns the parsed .conf file for the library's SONAME or path, or NULL. */
static const struct protolib *find_prototypes(struct target *target, const struct elf_file *file,
					      const char *path)
{
	struct proto_search *search = target->prototypes;
	const char *soname = elf_soname(file);
	const struct protolib *found = proto_search_library(search, soname ? soname : path);

	if (!found && soname)
		found = proto_search_library(search, path);
	return found;
}

struct module *module_create(struct target *target, struct elf_file *file, uint64_t bias,
			     const char *path, bool is_main)
{
	struct module *module = xcalloc(1, sizeof *module);
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);
	uint64_t dynamic = elf_dynamic(file);

	module->references = 1;
	vec_init(&module->shared_names, sizeof(char *));
	module->file = file;
	module->bias = bias;
	module->path = xstrdup(path);
	const char *slash = strrchr(module->path, '/');

	module->base_name = slash ? slash + 1 : module->path;
	module->is_main = is_main;
	module->is_static = is_main && !elf_interpreter(file);
	module->dynamic = dynamic ? dynamic + bias : 0;
	module->low = UINT64_MAX;
	for (size_t i = 0; i < count; i++) {
		uint64_t low = segments[i].address + bias;

		if (low < module->low)
			module->low = low;
		if (low + segments[i].memory_size > module->high)
			module->high = low + segments[i].memory_size;
	}
	module->prototypes = find_prototypes(target, file, module->base_name);
	module->debug = debug_source_get(target->debuginfo, file, module->path);
	return module;
}

const struct module *modules_program(const struct modules *modules)
{
	for (size_t i = 0; i < modules->list.count; i++) {
		const struct module *module = *(struct module **)vec_at(&modules->list, i);

		if (module->is_main)
			return module;
	}
	return *(struct module **)vec_at(&modules->list, 0);
}

struct module *modules_find(const struct modules *modules, uint64_t address)
{
	for (size_t i = 0; modules && i < modules->list.count; i++) {
		struct module *module = *(struct module **)vec_at(&modules->list, i);

		if (address >= module->low && address < module->high)
			return module;
	}
	return NULL;
}

const char *module_library(const struct module *module)
{
	const char *soname = elf_soname(module->file);

	return soname ? soname : module->base_name;
}

static const struct module *module_at(const struct target *target, pid_t pid, uint64_t address)
{
	const struct process *process = tracees_process(target->tracees, pid);

	return process && process->space ? modules_find(process->space->modules, address) : NULL;
}

uint64_t module_code_changes(void *context)
{
	return ((const struct target *)context)->unloaded;
}

char *module_code_place(void *context, int32_t pid, uint64_t address)
{
	const struct target *target = context;
	/* The address behind a call may be the first of another function. */
	const struct module *module = module_at(target, pid, address - 1);
	uint64_t offset;

	if (!module)
		return NULL;
	const char *symbol = elf_name_of_code(module->file, address - 1 - module->bias, &offset);

	if (!symbol)
		return xasprintf("%s+0x%llx", module->base_name,
				 (unsigned long long)(address - module->bias));
	_cleanup_free_ char *name = shown_names_function(target, module, symbol);

	return xasprintf("%s(%s+0x%llx)", module->base_name, name,
			 (unsigned long long)(offset + 1));
}

char *module_code_name(void *context, int32_t pid, uint64_t address)
{
	const struct target *target = context;
	const struct module *module = module_at(target, pid, address);
	uint64_t offset = 0;
	const char *symbol =
		module ? elf_name_of_code(module->file, address - module->bias, &offset) : NULL;
	char place[32] = "";

	if (!symbol)
		return NULL;
	_cleanup_free_ char *name = shown_names_function(target, module, symbol);

	if (offset)
		snprintf(place, sizeof place, "+0x%llx", (unsigned long long)offset);
	return xasprintf("%s%s%s%s", name, place, module->is_main ? "" : "@",
			 module->is_main ? "" : module_library(module));
}

const struct module *modules_find_definer(const struct modules *modules, const char *name,
					  const struct elf_symbol **symbol)
{
	for (size_t i = 0; i < modules->list.count; i++) {
		const struct module *module = *(struct module **)vec_at(&modules->list, i);
		const struct elf_symbol *found = elf_find_symbol(module->file, name);

		if (!found || !found->dynamic || found->bind == STB_LOCAL)
			continue;
		if (symbol)
			*symbol = found;
		return module;
	}
	return NULL;
}
