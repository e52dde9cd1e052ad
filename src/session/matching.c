/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions and calls of a module the filters ask for: what probe/match.h has to know of a
 * module that is loaded, and of the others that are with it.
 */
#include "session/private.h"

#include <elf.h>

struct filter_module matching_filtered(const struct module *module)
{
	return (struct filter_module){elf_soname(module->file), module->path, module->is_main,
				      module->mapped, module->listed};
}

/* A module whose calls are looked at, and the space that it is in. */
struct caller {
	const struct space *space;
	const struct module *module;
};

/*
 * Where the slot leads to, or will when it is bound: to the first that exports the name, as the
 * dynamic linker looks for it. Which of them a module that was loaded with RTLD_LOCAL can see is
 * not known; once its slots are bound they tell.
 */
static bool find_library(void *context, const struct elf_slot *slot, struct filter_module *out)
{
	const struct caller *caller = context;
	const struct modules *modules = caller->space->modules;
	const struct module *found = NULL;
	uint64_t value;

	if (memory_read_word(&caller->space->memory, slot->address + caller->module->bias,
			     caller->space->arch->abi->word, &value))
		found = modules_find(modules, value);
	if (found == caller->module)
		found = NULL; /* its own PLT: not bound yet */
	for (size_t i = 0; !found && i < modules->list.count; i++) {
		const struct module *other = *(struct module **)vec_at(&modules->list, i);
		const struct elf_symbol *symbol = elf_find_symbol(other->file, slot->name);

		if (symbol && symbol->dynamic && symbol->value && symbol->bind != STB_LOCAL)
			found = other;
	}
	if (found)
		*out = matching_filtered(found);
	return found != NULL;
}

static struct elf_file *find_debug_file(void *context)
{
	const struct caller *caller = context;

	return debug_source_file(caller->module->debug, caller->space->reader);
}

static struct match_module as_matched(const struct session *session, const struct module *module,
				      struct caller *caller)
{
	return (struct match_module){
		.file = module->file,
		.decoder = trap_decoder(session->trap),
		.path = module->path,
		.is_main = module->is_main,
		.mapped = module->mapped,
		.listed = module->listed,
		.prototypes = {module->prototypes, proto_search_global(session->prototypes)},
		.debug_file = find_debug_file,
		.find_library = find_library,
		.context = caller};
}

void matching_module(const struct session *session, const struct space *space,
		     const struct module *module, const struct match_filters *filters,
		     struct vec *found)
{
	struct caller caller = {space, module};
	struct match_module what = as_matched(session, module, &caller);

	match_module(&what, filters, found);
}

void matching_libraries(const struct session *session, const struct space *space,
			const struct module *module, struct vec *found)
{
	struct caller caller = {space, module};
	struct match_module what = as_matched(session, module, &caller);

	match_libraries(&what, &session->filters, found);
}
