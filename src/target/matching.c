/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions and calls of a module the filters ask for: passes what is known of the module,
 * and of the others in its space, to probe/match.h.
 */
#include "target/matching.h"

#include "object/elf_symbols.h"
#include "target/module.h"
#include "target/target_state.h"

#include <elf.h>

/* Returns the path of the main program of a space. NULL: that is not known yet. */
static const char *program_of(const struct space *space)
{
	const struct modules *modules = space->modules;

	return modules && modules->list.count ? modules_program(modules)->path : NULL;
}

struct filter_module matching_filtered(const struct space *space, const struct module *module)
{
	return (struct filter_module){.soname = elf_soname(module->file),
				      .path = module->path,
				      .is_main = module->is_main,
				      .mapped = module->mapped,
				      .listed = module->listed,
				      .program = program_of(space)};
}

/* A module whose calls are matched, and its space. */
struct caller {
	const struct space *space;
	const struct module *module;
};

/*
 * Finds the module that the GOT slot points into, or will when it is bound: the first one that
 * exports the name, in the dynamic linker's order. Which modules a module loaded with RTLD_LOCAL
 * can see is not known; its slots show it once they are bound.
 */
static bool find_library(void *context, const struct got_slot *slot, struct filter_module *out)
{
	const struct caller *caller = context;
	const struct modules *modules = caller->space->modules;
	const struct module *found = NULL;
	uint64_t value;

	if (memory_read_word(&caller->space->memory, slot->address + caller->module->bias,
			     caller->space->arch->abi->word, &value))
		found = modules_find(modules, value);
	if (found == caller->module)
		found = NULL; /* it points to the module's own PLT: not bound yet */
	for (size_t i = 0; !found && i < modules->list.count; i++) {
		const struct module *other = *(struct module **)vec_at(&modules->list, i);
		const struct elf_symbol *symbol = elf_find_symbol(other->file, slot->name);

		if (symbol && symbol->dynamic && symbol->value && symbol->bind != STB_LOCAL)
			found = other;
	}
	if (found)
		*out = matching_filtered(caller->space, found);
	return found != NULL;
}

static struct elf_file *find_debug_file(void *context)
{
	const struct caller *caller = context;

	return debug_source_file(caller->module->debug, caller->space->reader);
}

static struct match_module as_matched(const struct target *target, const struct module *module,
				      struct caller *caller)
{
	return (struct match_module){
		.file = module->file,
		.decoder = trap_decoder(target->trap),
		.path = module->path,
		.is_main = module->is_main,
		.mapped = module->mapped,
		.listed = module->listed,
		.program = program_of(caller->space),
		.prototypes = {module->prototypes, proto_search_global(target->prototypes)},
		.debug_file = find_debug_file,
		.find_library = find_library,
		.context = caller};
}

void matching_module(const struct target *target, const struct space *space,
		     const struct module *module, const struct match_filters *filters,
		     struct vec *found)
{
	struct caller caller = {space, module};
	struct match_module what = as_matched(target, module, &caller);

	match_module(&what, filters, found);
}

void matching_libraries(const struct target *target, const struct space *space,
			const struct module *module, struct vec *found)
{
	struct caller caller = {space, module};
	struct match_module what = as_matched(target, module, &caller);

	match_libraries(&what, &target->filters, found);
}
