/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function's prototype is looked for in this order: the -F files; the .conf file of the module
 * that calls it; that of the module that defines it; the debug information of the definer; the
 * declaration in the debug information of the caller; the .conf files of all other modules. The
 * last have to come that late because names are not unique: a program's own remove(), with its
 * debug information, is not the C library's. They serve interposers, for example.
 *
 * A static program contains the C library, and perhaps other libraries that have .conf files. Which
 * ones is not known, so these files come after the program's debug information: its own compress()
 * is not zlib's. Where the program only declares the function (libraries are mostly built without
 * debug information), a file's prototype is taken if it agrees with the declaration.
 *
 * A PLT stub does not tell which library will answer; the first module that defines the name is
 * assumed. As long as there is none, the question is kept (unresolved_calls.c).
 */
#include "target/site_prototypes.h"

#include "base/cleanup.h"
#include "code/go_module.h"
#include "object/elf_symbols.h"
#include "object/elf_versions.h"
#include "target/module.h"
#include "target/target_state.h"

#include <elf.h>
#include <string.h>

static struct module *module_at(const struct modules *modules, size_t index)
{
	return *(struct module **)vec_at(&modules->list, index);
}

/* The definition of a function. Addresses are in the module's own address space, or 0. */
struct definition {
	const struct module *module; /* NULL: not known */
	uint64_t address;	     /* 0: an IFUNC without a chosen implementation */
	uint64_t resolver;	     /* an IFUNC's resolver, which its symbol stands for */
	bool is_local;		     /* other modules cannot call it by its name */
	/* the default symbol of a call, which may be of another version */
	const struct elf_symbol *called;
};

/* Returns true if all symbols of a function are local: it is static, or hidden by the link. */
static bool is_local(struct elf_file *file, const struct elf_symbol *symbol, uint64_t address)
{
	bool is = false;

	for (; symbol; symbol = elf_find_next(file, symbol)) {
		if (symbol->value != address)
			continue;
		if (symbol->bind != STB_LOCAL)
			return false;
		is = true;
	}
	return is;
}

/* Returns the symbol that an entry was found by; *file: the module's file, or its debug file. */
static const struct elf_symbol *find_entry(const struct space *space, const struct module *module,
					   const char *name, struct elf_file **file)
{
	const struct elf_symbol *symbol = elf_find_symbol(module->file, name);

	*file = module->file;
	if (symbol)
		return symbol;
	*file = debug_source_file(module->debug, space->reader);
	return *file ? elf_find_symbol(*file, name) : NULL;
}

static struct definition find_definition(const struct space *space,
					 const struct function_query *question)
{
	const struct elf_symbol *symbol = NULL;
	struct definition definition = {.module = question->module};
	struct elf_file *file = NULL;

	if (question->kind == PROBE_CALL)
		definition.module = modules_find_definer(space->modules, question->name, &symbol);
	else if (question->module)
		symbol = find_entry(space, question->module, question->name, &file);
	/* A static program exports nothing, and contains what it calls. */
	if (!definition.module && question->module && question->module->is_static) {
		definition.module = question->module;
		symbol = elf_find_symbol(question->module->file, question->name);
	}
	if (definition.module && !file)
		file = definition.module->file;
	if (question->kind != PROBE_CALL && question->module)
		definition.address = question->address - question->module->bias;
	else if (symbol && symbol->type == STT_FUNC)
		definition.address = symbol->value;
	if (definition.address && symbol)
		definition.is_local = is_local(file, symbol, definition.address);
	if (definition.module && symbol && symbol->type == STT_GNU_IFUNC)
		definition.resolver = symbol->value;
	if (question->kind == PROBE_CALL)
		definition.called = symbol;
	return definition;
}

static const struct prototype *find_in_file(const struct target *target, const struct space *space,
					    const struct module *module, const char *name)
{
	const char *architecture = space->arch->name;
	const struct protolib *lib = module ? module->prototypes : NULL;
	const struct prototype *found = lib ? protolib_find_on(lib, name, architecture) : NULL;

	if (found || !module || !module->is_static)
		return found;
	lib = proto_search_library(target->prototypes, "libc.so.6");
	return lib ? protolib_find_on(lib, name, architecture) : NULL;
}

static const struct prototype *find_in_files(const struct target *target, const struct space *space,
					     const char *name)
{
	const struct modules *modules = space->modules;
	const struct prototype *found = NULL;

	for (size_t i = 0; !found && i < modules->list.count; i++)
		found = find_in_file(target, space, module_at(modules, i), name);
	return found;
}

/*
 * Finds the version of `name` that a module calls (elf_symbol_version()). Returns false if it calls
 * several versions, so that the one of this call is not known.
 */
static bool find_version(const struct module *caller, const char *name, uint32_t *version)
{
	size_t count;
	const struct elf_symbol *symbols = elf_symbols(caller->file, &count);
	bool found = false;

	*version = 0;
	for (size_t i = 0; i < count && symbols[i].dynamic; i++) {
		if (symbols[i].value || strcmp(symbols[i].name, name) != 0)
			continue;
		const uint32_t one = elf_symbol_version(caller->file, &symbols[i]);

		if (found && one != *version)
			return false;
		found = true;
		*version = one;
	}
	return true;
}

/* Returns the next symbol of that name whose version is not the default one, or NULL. */
static const struct elf_symbol *next_version(const struct definition *definition,
					     const struct elf_symbol *symbol)
{
	do
		symbol = elf_find_next(definition->module->file, symbol);
	while (symbol && (!symbol->dynamic || symbol->type != STT_FUNC ||
			  symbol->value == definition->address));
	return symbol;
}

/* The call may be of an older version. `found`: the prototype of the default version. */
static const struct prototype *of_version(const struct space *space,
					  const struct definition *definition,
					  const struct module *caller, const char *name,
					  const struct prototype *found)
{
	const struct module *module = definition->module;
	const struct elf_symbol *symbol = next_version(definition, definition->called);
	uint32_t version;
	const bool sure = !symbol || !caller || find_version(caller, name, &version);

	for (; symbol && caller; symbol = next_version(definition, symbol)) {
		if (sure && (!version || version != elf_symbol_version(module->file, symbol)))
			continue;
		const struct prototype *other = debug_source_function(
			module->debug, space->reader, symbol->value, name, DEBUG_FUNCTION);

		if (sure)
			return other;
		if (other != found)
			return prototype_guess();
	}
	return found;
}

static const struct prototype *find_debugged(const struct space *space,
					     const struct definition *definition,
					     const struct module *caller, const char *name)
{
	const struct module *module = definition->module;
	const struct prototype *found = NULL;

	if (!module)
		return NULL;
	if (definition->address)
		found = debug_source_function(module->debug, space->reader, definition->address,
					      name,
					      definition->is_local ? DEBUG_LOCAL : DEBUG_FUNCTION);
	if (found && definition->called)
		found = of_version(space, definition, caller, name, found);
	if (!found && definition->resolver)
		found = debug_source_function(module->debug, space->reader, definition->resolver,
					      name, DEBUG_RESOLVER);
	return found;
}

/* Returns the caller's declaration; the program's, if the caller is not known. */
static const struct prototype *find_declared(const struct space *space,
					     const struct function_query *question)
{
	const struct module *caller = question->kind == PROBE_CALL ? question->module
								   : module_at(space->modules, 0);

	return caller ? debug_source_declaration(caller->debug, space->reader, question->name)
		      : NULL;
}

/* Finds a prototype for what a static program may contain. `declared`: its declaration, or NULL. */
static const struct prototype *find_in_program(const struct target *target,
					       const struct definition *definition,
					       const struct prototype *declared, const char *name)
{
	if (!definition->module || !definition->module->is_static || !target_shows_values(target))
		return declared;
	const struct prototype *found = proto_search_any(target->prototypes, name);

	return found && (!declared || prototype_may_be(found, declared)) ? found : declared;
}

enum { OTHERS = 3 };

/*
 * Returns true if a library seems to be linked into a module that has one of its functions. A name
 * that many could use, such as `compress`, counts only with OTHERS more of the library's functions.
 */
static bool is_linked_in(const struct target *target, struct elf_file *file, const char *name,
			 const char *library)
{
	const struct protolib *lib = proto_search_library(target->prototypes, library);
	const struct prototype *other;
	size_t cursor = 0;
	unsigned others = 0;

	if (strpbrk(name, "_ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
		return true;
	while (others < OTHERS && lib && (other = protolib_next(lib, &cursor))) {
		const struct elf_symbol *symbol = elf_find_symbol(file, other->name);

		others += strcmp(other->name, name) != 0 && symbol && symbol->value;
	}
	return others == OTHERS;
}

/*
 * Finds a prototype of a library that may be linked into a program (OpenSSL into node) or into a
 * plugin. What a library with a SONAME defines is its own. *library: the library found.
 */
static const struct prototype *find_linked(const struct target *target, const struct space *space,
					   const struct definition *definition,
					   const struct prototype *declared, const char *name,
					   const char **library)
{
	const struct module *module = definition->module;
	const char *only = NULL;

	if (!module || module->is_static || !target_shows_values(target) ||
	    (!module->is_main && elf_soname(module->file)))
		return declared;
	const struct prototype *found = proto_search_only(target->prototypes, name,
							  space->arch->name, &only);

	if (!found || (declared && !prototype_may_be(found, declared)) ||
	    !is_linked_in(target, module->file, name, only))
		return declared;
	*library = only;
	return found;
}

/*
 * Returns true if the function has a calling convention of Go's. Names of Go's functions have a dot
 * after the package, except those by which C calls Go; other names without a dot are assembler code
 * that C calls.
 */
bool site_prototype_is_go(const struct function_query *question)
{
	static const char from_c[] = "_cgoexp_";
	const struct module *module = question->module;

	return question->kind == PROBE_ENTRY && module &&
	       (strchr(question->name, '.') || !strncmp(question->name, from_c, strlen(from_c))) &&
	       go_module_has_code(module->file, question->address - module->bias);
}

/*
 * Finds the prototype of a function of Go's, from sources about that function only. Assembler
 * functions, which take their arguments on the stack, have names that end in .abi0; but nothing
 * tells which arguments they have.
 */
static const struct prototype *find_of_go(const struct target *target, const struct space *space,
					  const struct function_query *question)
{
	const struct module *module = question->module;
	const char *name = question->name;
	const size_t length = strlen(name);
	const bool is_compiled = length < strlen(".abi0") ||
				 strcmp(name + length - strlen(".abi0"), ".abi0") != 0;
	const struct prototype *found = NULL;

	if (!space->arch->go || !go_module_uses_registers(module->file))
		return prototype_unknown();
	if (target->options->prototypes != PROTOTYPES_NONE && is_compiled)
		found = protolib_find_on(proto_search_global(target->prototypes), name,
					 space->arch->name);
	if (!found && target->options->prototypes == PROTOTYPES_DWARF &&
	    target_shows_values(target) && is_compiled)
		found = debug_source_function(module->debug, space->reader,
					      question->address - module->bias, name, DEBUG_GO);
	return found && found != prototype_guess() ? found : prototype_unknown();
}

/* *library: the library that the function seems to be linked in from; else NULL. */
const struct prototype *site_prototype_find(const struct target *target, const struct space *space,
					    const struct function_query *question,
					    const char **library)
{
	const bool files = target->options->prototypes != PROTOTYPES_NONE;
	const bool debugged = target->options->prototypes == PROTOTYPES_DWARF &&
			      target_shows_values(target);
	const char *name = question->name;
	const struct prototype *found = NULL;

	*library = NULL;
	if (site_prototype_is_go(question))
		return find_of_go(target, space, question);
	const struct definition definition = find_definition(space, question);

	if (files)
		found = protolib_find_on(proto_search_global(target->prototypes), name,
					 space->arch->name);
	if (!found && files)
		found = find_in_file(target, space, question->module, name);
	if (!found && files)
		found = find_in_file(target, space, definition.module, name);
	if (!found && debugged)
		found = find_debugged(space, &definition, question->module, name);
	const bool is_known = found;

	const struct prototype *declared = !found && debugged ? find_declared(space, question)
							      : NULL;

	if (declared)
		found = declared;
	if (!is_known && files)
		found = find_in_program(target, &definition, found, name);
	/*
	 * In another library's file the name may mean another function, so those files come this
	 * late.
	 */
	if (!found && files)
		found = find_in_files(target, space, name);
	if (found == declared && files)
		found = find_linked(target, space, &definition, found, name, library);
	return found ? found : prototype_guess();
}

const struct prototype *site_prototype_in_files(const struct target *target,
						const struct space *space,
						const struct module *module, const char *name)
{
	const struct prototype *found = NULL;

	if (target->options->prototypes == PROTOTYPES_NONE)
		return NULL;
	found = protolib_find_on(proto_search_global(target->prototypes), name, space->arch->name);
	return found ? found : find_in_file(target, space, module, name);
}

/* Replaces accessors in a prototype by the paths that the library's code shows. */
const struct prototype *site_prototype_resolve(struct target *target, const struct space *space,
					       const struct function_query *question,
					       const struct prototype *prototype)
{
	if (!target_shows_values(target) || !accessors_are_named(prototype))
		return prototype;
	const struct module *module = find_definition(space, question).module;

	return accessors_resolve(&target->accessors, trap_decoder(target->trap),
				 module ? module->file : NULL, prototype);
}
