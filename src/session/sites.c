/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sites: what breakpoints refer to, one for each probe and word size.
 *
 * A name gets its prototype from the -F files, else from the .conf file of the module that calls
 * it, else from that of the one that defines it, else from the debug information of that. A module
 * that has neither may still have a function that another one's file knows (an interposer, say), or
 * that its caller has declared. The files of others come that late as names are not unique: a
 * program's own remove(), with its debug information, is not the C library's. A program that is
 * linked statically has the C library in it, and maybe any of the others that there are files for.
 * Of these nobody knows, so they come behind what the program's debug information says: its own
 * compress() is not zlib's. Where it only declares the function (libraries are mostly built without
 * debug information) the file is taken if it is about one that is called so. A PLT stub does not
 * say which library will answer; it is taken to be the first one that defines the name. As long as
 * none does the question is kept (undefined.c).
 *
 * A site may be met again at any time: the same library loaded once more, another process. So it
 * is kept when its last breakpoint goes. But a process that compiles as it runs (a template
 * engine, a database's query planner) loads libraries of ever new names, with ever new functions,
 * and in a day there would be millions of sites that nobody meets again. So when there are twice
 * as many as were in use last time, those that neither a breakpoint nor a pending call refers to
 * are dropped, with their probes and plans; and so are the hooks of IFUNCs. That is done between
 * two stops, when nobody holds a pointer to one on the stack.
 */
#include "session/private.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "image/go_module.h"
#include "session/naming.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEP_AT_LEAST = 256 };

/* A probe as it is planted in processes of either word size. */
struct planted {
	struct probe_site sites[2]; /* words of 4 and 8 bytes; plan NULL: not planted so far */
	struct capture_plan *plans[2];
	bool in_use;
};

/* What is to be found out of a function. */
struct question {
	enum probe_kind kind;
	uint64_t address;	     /* of the breakpoint */
	const char *name;	     /* of the symbol */
	const struct module *module; /* that calls or defines it, or NULL */
};

static struct module *module_at(const struct modules *modules, size_t index)
{
	return *(struct module **)vec_at(&modules->list, index);
}

/* What is known of a function where it is; addresses in the module's own address space, or 0. */
struct definition {
	const struct module *module;	 /* NULL: nobody knows */
	uint64_t address;		 /* 0: of an IFUNC, as nothing was chosen so far */
	uint64_t resolver;		 /* of an IFUNC: the function that its symbol stands for */
	bool is_local;			 /* nobody outside of the module can call it by its name */
	const struct elf_symbol *called; /* of a call: it may be of another version of the name */
};

/* Whether all symbols of a function are local: static, or made so by who linked the module. */
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

/* The symbol that an entry was found by, and whose it is: the module's file, or its debug file. */
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

static struct definition find_definition(const struct space *space, const struct question *question)
{
	const struct elf_symbol *symbol = NULL;
	struct definition definition = {.module = question->module};
	struct elf_file *file = NULL;

	if (question->kind == PROBE_CALL)
		definition.module = modules_find_definer(space->modules, question->name, &symbol);
	else if (question->module)
		symbol = find_entry(space, question->module, question->name, &file);
	/* A static program exports nothing, and what it calls is in it. */
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

static const struct prototype *find_in_file(const struct session *session,
					    const struct space *space, const struct module *module,
					    const char *name)
{
	const char *architecture = space->arch->name;
	const struct protolib *lib = module ? module->prototypes : NULL;
	const struct prototype *found = lib ? protolib_find_on(lib, name, architecture) : NULL;

	if (found || !module || !module->is_static)
		return found;
	lib = proto_search_library(session->prototypes, "libc.so.6");
	return lib ? protolib_find_on(lib, name, architecture) : NULL;
}

static const struct prototype *find_in_files(const struct session *session,
					     const struct space *space, const char *name)
{
	const struct modules *modules = space->modules;
	const struct prototype *found = NULL;

	for (size_t i = 0; !found && i < modules->list.count; i++)
		found = find_in_file(session, space, module_at(modules, i), name);
	return found;
}

/*
 * The version of the name that a module calls, as of elf_symbol_version(). False: it calls
 * several, and which of them it is here is not known.
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

/* The same function in another version than the one that is called by default, or NULL. */
static const struct elf_symbol *next_version(const struct definition *definition,
					     const struct elf_symbol *symbol)
{
	do
		symbol = elf_find_next(definition->module->file, symbol);
	while (symbol && (!symbol->dynamic || symbol->type != STT_FUNC ||
			  symbol->value == definition->address));
	return symbol;
}

/* A call may be of an older version; `found`: what is known of the one that is the default. */
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

/* What who calls it says of it; callers that are not known are taken for the program. */
static const struct prototype *find_declared(const struct space *space,
					     const struct question *question)
{
	const struct module *caller = question->kind == PROBE_CALL ? question->module
								   : module_at(space->modules, 0);

	return caller ? debug_source_declaration(caller->debug, space->reader, question->name)
		      : NULL;
}

/* Of what a static program may have in it. `declared`: what it says of the function, or NULL. */
static const struct prototype *find_in_program(const struct session *session,
					       const struct definition *definition,
					       const struct prototype *declared, const char *name)
{
	if (!definition->module || !definition->module->is_static || session->options->summary)
		return declared;
	const struct prototype *found = proto_search_any(session->prototypes, name);

	return found && (!declared || prototype_may_be(found, declared)) ? found : declared;
}

enum { OTHERS = 3 };

/*
 * Whether a library seems to be linked into a module that has one of its functions. A name that
 * could be anybody's, as `compress` could, takes some others of the library beside it.
 */
static bool is_linked_in(const struct session *session, struct elf_file *file, const char *name,
			 const char *library)
{
	const struct protolib *lib = proto_search_library(session->prototypes, library);
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
 * Of what may be linked into a program, as OpenSSL is into node, or into a plugin; what a library
 * exports is its own. *library: the one that it is then.
 */
static const struct prototype *find_linked(const struct session *session, const struct space *space,
					   const struct definition *definition,
					   const struct prototype *declared, const char *name,
					   const char **library)
{
	const struct module *module = definition->module;
	const char *only = NULL;

	if (!module || module->is_static || session->options->summary ||
	    (!module->is_main && elf_soname(module->file)))
		return declared;
	const struct prototype *found = proto_search_only(session->prototypes, name,
							  space->arch->name, &only);

	if (!found || (declared && !prototype_may_be(found, declared)) ||
	    !is_linked_in(session, module->file, name, only))
		return declared;
	*library = only;
	return found;
}

/*
 * Whether it is called by a convention of Go's. Names of Go's functions have a dot behind the
 * package, but for those by which C calls functions of Go's; others without are assembler that C
 * calls.
 */
static bool is_go(const struct question *question)
{
	static const char from_c[] = "_cgoexp_";
	const struct module *module = question->module;

	return question->kind == PROBE_ENTRY && module &&
	       (strchr(question->name, '.') || !strncmp(question->name, from_c, strlen(from_c))) &&
	       go_module_has_code(module->file, question->address - module->bias);
}

/*
 * Of a function of Go's: only what is about it counts. Those in assembler that take their arguments
 * on the stack have names that end in .abi0, and nobody tells which they are.
 */
static const struct prototype *find_of_go(const struct session *session, const struct space *space,
					  const struct question *question)
{
	const struct module *module = question->module;
	const char *name = question->name;
	const size_t length = strlen(name);
	const bool is_compiled = length < strlen(".abi0") ||
				 strcmp(name + length - strlen(".abi0"), ".abi0") != 0;
	const struct prototype *found = NULL;

	if (!space->arch->go || !go_module_uses_registers(module->file))
		return prototype_unknown();
	if (session->options->prototypes != PROTOTYPES_NONE && is_compiled)
		found = protolib_find_on(proto_search_global(session->prototypes), name,
					 space->arch->name);
	if (!found && session->options->prototypes == PROTOTYPES_DWARF &&
	    !session->options->summary && is_compiled)
		found = debug_source_function(module->debug, space->reader,
					      question->address - module->bias, name, DEBUG_GO);
	return found && found != prototype_guess() ? found : prototype_unknown();
}

/* *library: that of which it is, if it is taken for one that is linked in; else NULL. */
static const struct prototype *find_prototype(const struct session *session,
					      const struct space *space,
					      const struct question *question, const char **library)
{
	const bool files = session->options->prototypes != PROTOTYPES_NONE;
	/* A table shows no arguments. */
	const bool debugged = session->options->prototypes == PROTOTYPES_DWARF &&
			      !session->options->summary;
	const char *name = question->name;
	const struct prototype *found = NULL;

	*library = NULL;
	if (is_go(question))
		return find_of_go(session, space, question);
	const struct definition definition = find_definition(space, question);

	if (files)
		found = protolib_find_on(proto_search_global(session->prototypes), name,
					 space->arch->name);
	if (!found && files)
		found = find_in_file(session, space, question->module, name);
	if (!found && files)
		found = find_in_file(session, space, definition.module, name);
	if (!found && debugged)
		found = find_debugged(space, &definition, question->module, name);
	const bool is_known = found;

	const struct prototype *declared = !found && debugged ? find_declared(space, question)
							      : NULL;

	if (declared)
		found = declared;
	if (!is_known && files)
		found = find_in_program(session, &definition, found, name);
	/* What another library's file calls so may be something else. */
	if (!found && files)
		found = find_in_files(session, space, name);
	if (found == declared && files)
		found = find_linked(session, space, &definition, found, name, library);
	return found ? found : prototype_guess();
}

/* Where the texts of objects are, as the library itself finds them. A table shows none. */
static const struct prototype *resolve(struct session *session, const struct space *space,
				       const struct question *question,
				       const struct prototype *prototype)
{
	if (session->options->summary || !accessors_are_named(prototype))
		return prototype;
	const struct module *module = find_definition(space, question).module;

	return accessors_resolve(&session->accessors, trap_decoder(session->trap),
				 module ? module->file : NULL, prototype);
}

static char *make_display(const struct session *session, enum probe_kind kind, const char *name,
			  const struct module *module)
{
	const char *soname = module ? module_library(module) : NULL;

	if (kind == PROBE_CALL && session->calls_named)
		return xasprintf("%s->%s", soname, name);
	if (kind == PROBE_ENTRY && !session->options->entries_only && module && !module->is_main)
		return xasprintf("%s@%s", name, soname);
	return xstrdup(name);
}

static struct planted *get_planted(struct session *session, const struct probe_info *info)
{
	struct planted *planted = map_get(&session->sites, info->id);

	if (!planted) {
		planted = xcalloc(1, sizeof *planted);
		map_put(&session->sites, info->id, planted);
	}
	return planted;
}

void sites_prepare(const struct session *session, const struct space *space, enum probe_kind kind,
		   uint64_t address, const char *symbol, const struct module *module)
{
	const char *library;

	find_prototype(session, space, &(struct question){kind, address, symbol, module}, &library);
}

/* A function as it is shown. */
struct shown {
	enum probe_kind kind;
	const char *name;
	const struct module *module;
	const struct prototype *prototype;
	const struct abi *abi;
	const char *linked_in; /* a library, it seems: its prototype is that one's; or NULL */
};

static const struct probe_site *get_site(struct session *session, const struct space *space,
					 const struct shown *shown)
{
	const struct module *module = shown->module;
	char safe[256];
	_cleanup_free_ char *display = make_display(session, shown->kind, shown->name, module);
	const struct probe_info *info = probe_table_add(session->probes, shown->kind, shown->name,
							module ? module->base_name : "", display,
							shown->prototype);
	struct planted *planted = get_planted(session, info);
	int wide = space->arch->abi->word == 8;

	if (!planted->plans[wide]) {
		if (shown->linked_in && session->options->verbose)
			diag("%s: linked in, it seems; its prototype is that of %s",
			     diag_safe(safe, sizeof safe, display), shown->linked_in);
		const struct plan_limits limits = {.string_max = session->options->string_max,
						   .array_max = session->options->array_max};

		planted->plans[wide] = session->options->summary
					       ? plan_create_empty()
					       : plan_create(shown->prototype, shown->abi, &limits);
		planted->sites[wide] = (struct probe_site){info, planted->plans[wide]};
	}
	return &planted->sites[wide];
}

const struct probe_site *sites_get(struct session *session, const struct space *space,
				   enum probe_kind kind, uint64_t address, const char *symbol,
				   const struct module *module)
{
	const struct question question = {kind, address, symbol, module};
	_cleanup_free_ char *name = naming_function(session, module, symbol);
	const struct abi *go = is_go(&question) ? space->arch->go : NULL;
	struct shown shown = {.kind = kind, .name = name, .module = module};

	shown.abi = go ? go : space->arch->abi;
	shown.prototype = resolve(session, space, &question,
				  find_prototype(session, space, &question, &shown.linked_in));
	return get_site(session, space, &shown);
}

const struct probe_site *sites_get_resolver(struct session *session, const struct space *space,
					    const char *symbol, const struct module *module)
{
	_cleanup_free_ char *chosen = naming_function(session, module, symbol);
	_cleanup_free_ char *name = xasprintf("%s.IFUNC", chosen);
	const struct shown shown = {.kind = PROBE_ENTRY,
				    .name = name,
				    .module = module,
				    .prototype = prototype_resolver(),
				    .abi = space->arch->abi};

	return get_site(session, space, &shown);
}

static void free_planted(struct planted *planted)
{
	for (int wide = 0; wide < 2; wide++)
		plan_destroy(planted->plans[wide]);
	free(planted);
}

/* ------------------------------------------------------------------ sites nobody uses */

void sites_mark(struct session *session, const struct probe_site *site)
{
	struct planted *planted = map_get(&session->sites, site->info->id);

	if (planted)
		planted->in_use = true;
}

static void mark(void *context, const struct probe_site *site, struct hook *hook)
{
	if (site)
		sites_mark(context, site);
	if (hook)
		plant_mark_hook(context, hook);
}

static void mark_all(struct session *session)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&session->inferior->processes, &cursor, NULL, &value)) {
		const struct process *process = value;

		if (!process->space)
			continue;
		trap_space_uses(process->space, mark, session);
		agent_space_uses(process->space, mark, session);
	}
	cursor = 0;
	while (map_next(&session->inferior->threads, &cursor, NULL, &value))
		trap_thread_uses(value, mark, session);
}

static void drop_site(struct session *session, uint32_t id)
{
	if (session->writer->ops->forget)
		session->writer->ops->forget(session->writer, probe_table_get(session->probes, id));
	free_planted(map_remove(&session->sites, id));
	probe_table_remove(session->probes, id);
}

static size_t kept(const struct session *session)
{
	return session->sites.count + session->ifuncs.count + session->pointers.count;
}

void sites_sweep(struct session *session)
{
	struct vec unused = VEC_OF(uint32_t);
	size_t cursor = 0;
	uint64_t id;
	void *value;

	if (kept(session) < SWEEP_AT_LEAST || kept(session) < session->sweep_at)
		return;
	mark_all(session);
	while (map_next(&session->sites, &cursor, &id, &value)) {
		struct planted *planted = value;

		if (!planted->in_use)
			vec_push(&unused, &(uint32_t){(uint32_t)id});
		planted->in_use = false;
	}
	for (size_t i = 0; i < unused.count; i++)
		drop_site(session, *(uint32_t *)vec_at(&unused, i));
	vec_deinit(&unused);
	plant_drop_hooks(session);
	session->sweep_at = 2 * kept(session);
}

void sites_deinit(struct session *session)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&session->sites, &cursor, NULL, &value))
		free_planted(value);
	map_deinit(&session->sites);
}
