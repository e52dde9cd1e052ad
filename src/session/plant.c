/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what the filters ask for to breakpoints.
 *
 * The symbol of an IFUNC is its resolver; what is to be traced is the implementation that the
 * resolver chose. When some module has bound it already, a GOT slot holds it: one that is
 * relocated to the symbol, or an IRELATIVE one of the defining module with the resolver as
 * addend. The resolver itself gets a hook: what it returns is the implementation, and whoever binds
 * the function later calls it. It gets a site, too, as its calls are shown (NAME.IFUNC).
 */
#include "session/private.h"
#include "session/tables.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "inferior/gather.h"
#include "inferior/proc.h"
#include "session/naming.h"
#include "session/runtimes.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MANY_FUNCTIONS =
		64 /* of a library: some will be among those that it calls with signals blocked */
};

struct ifunc_hook {
	struct hook hook; /* first: the engine hands this back */
	struct session *session;
	struct elf_file *file;
	char *name;
	char *shown; /* what messages call it */
	char *module;
	bool one_of_many;
	bool attached; /* the process ran before: somebody may have bound it unseen */
	bool resolved;
	bool in_use; /* some breakpoint or pending call refers to it */
};

/* ------------------------------------------------------------------ breakpoints */

/* That of a dying process is none. */
void plant_list_refused(struct session *session, const struct thread *thread,
			const struct probe_request *request, int error)
{
	_cleanup_free_ char *name = naming_function(session, request->module, request->name);
	const char *reason = strerror(-error);

	if (proc_is_exiting(thread->tid))
		return;
	if (error == -EEXIST)
		reason = "a breakpoint instruction of the program's own stands there";
	else if (error == -EFAULT)
		reason = "its code cannot be read";
	else if (error == -EIO || error == -EACCES || error == -EPERM)
		reason = "its code cannot be written";
	else if (error == -ENOTSUP)
		reason = "it is called without a PLT, in a program that has a shadow stack";
	else if (error == -EBUSY)
		reason = "a breakpoint with another purpose stands there";
	else if (error == -EXDEV)
		reason = "its code lies in memory that other processes may share";
	untraced_function(session->untraced, request->module ? request->module->base_name : NULL,
			  name, request->one_of_many, reason);
}

static void plant_site(struct session *session, struct thread *thread, uint64_t address,
		       const struct probe_request *request)
{
	struct space *space = thread->process->space;
	const struct probe_site *site = sites_get(session, space, request->kind, address,
						  request->name, request->module);
	agent_take_gate_out(thread, address);
	/* Found once more, as an IFUNC that is bound in another module. */
	int error = agent_has(space, address)
			    ? -EALREADY
			    : trap_plant(session->trap, thread, address, site,
					 masking_function_hook(session, request->name));
	char safe[256];

	if (error && error != -EALREADY)
		plant_list_refused(session, thread, request, error);
	session->planted += !error;
	if (!error && !undefined_note(space->modules, request, address, 0))
		inprocess_wish(session, space, address, request->name, request->module, site);
	if (!error && debug_wanted(session, DEBUG_FUNCTIONS))
		diag("process %d: %s at 0x%llx", (int)thread->process->pid,
		     diag_safe(safe, sizeof safe, site->info->display),
		     (unsigned long long)address);
}

void plant_found(struct session *session, struct thread *thread, uint64_t address, const char *name,
		 bool one_of_many)
{
	struct modules *modules = thread->process->space->modules;
	struct probe_request request = {PROBE_ENTRY, name, modules_find(modules, address),
					one_of_many};

	plant_site(session, thread, address, &request);
}

/* ------------------------------------------------------------------ IFUNCs */

/*
 * Whether `value`, found in a slot, is the implementation and not a PLT stub of the same
 * module.
 */
static bool is_implementation(const struct module *module, uint64_t resolver, uint64_t value)
{
	size_t count;
	const struct elf_slot *slots = elf_slots(module->file, &count);

	if (value < module->low || value >= module->high || value == resolver)
		return false;
	for (size_t i = 0; i < count; i++)
		if (slots[i].stub && value - module->bias - slots[i].stub < 16)
			return false;
	return true;
}

uint64_t plant_find_bound(const struct space *space, const struct module *module,
			  const struct match *match)
{
	const struct modules *modules = space->modules;
	uint64_t resolver = match->address + module->bias;

	for (size_t i = 0; i < modules->list.count; i++) {
		const struct module *other = *(struct module **)vec_at(&modules->list, i);
		size_t count;
		const struct elf_slot *slots = elf_slots(other->file, &count);

		for (size_t k = 0; k < count; k++) {
			bool fits = slots[k].kind == SLOT_IRELATIVE
					    ? other == module && slots[k].addend == match->address
					    : slots[k].kind != SLOT_CODE && slots[k].name &&
						      !strcmp(slots[k].name, match->name);
			uint64_t value;

			if (fits &&
			    memory_read_word(&space->memory, slots[k].address + other->bias,
					     space->arch->abi->word, &value) &&
			    is_implementation(module, resolver, value))
				return value;
		}
	}
	return 0;
}

static const char *why_not(struct thread *thread, uint64_t address)
{
	struct space *space = thread->process->space;

	if (space_find_kernel_code(space, thread->tid) && space_has_kernel_code(space, address))
		return "an IFUNC for which the kernel's code was chosen (the vDSO): -e traces its "
		       "calls";
	return "an IFUNC whose resolver chose code that belongs to no module";
}

static void resolver_returned(struct hook *hook, struct thread *thread, uint64_t result)
{
	struct ifunc_hook *ifunc = (struct ifunc_hook *)(void *)hook;

	if (thread->process->space->arch->abi->word == 4)
		result = (uint32_t)result;
	ifunc->resolved = true;
	if (modules_find(thread->process->space->modules, result))
		plant_found(ifunc->session, thread, result, ifunc->name, ifunc->one_of_many);
	else
		untraced_function(ifunc->session->untraced, ifunc->module, ifunc->shown,
				  ifunc->one_of_many, why_not(thread, result));
}

static struct ifunc_hook *ifunc_at(const struct session *session, size_t index)
{
	return *(struct ifunc_hook **)vec_at(&session->ifuncs, index);
}

static void free_ifunc(struct ifunc_hook *ifunc)
{
	elf_unref(ifunc->file);
	free(ifunc->name);
	free(ifunc->shown);
	free(ifunc->module);
	free(ifunc);
}

static struct ifunc_hook *get_ifunc_hook(struct session *session, const struct module *module,
					 const struct match *match)
{
	for (size_t i = 0; i < session->ifuncs.count; i++) {
		struct ifunc_hook *known = ifunc_at(session, i);

		if (known->file == module->file && !strcmp(known->name, match->name))
			return known;
	}
	struct ifunc_hook *made = xcalloc(1, sizeof *made);

	made->hook.returned = resolver_returned;
	made->session = session;
	made->file = elf_ref(module->file);
	made->name = xstrdup(match->name);
	made->shown = naming_function(session, module, match->name);
	made->module = xstrdup(module->base_name);
	made->one_of_many = !match->by_name;
	vec_push(&session->ifuncs, &made);
	return made;
}

/* Its calls are shown, and what it returns is what is to be traced. */
static void plant_resolver(struct session *session, struct thread *thread,
			   const struct module *module, const struct match *match, bool is_bound)
{
	struct ifunc_hook *hook = get_ifunc_hook(session, module, match);
	const struct probe_site *site = sites_get_resolver(session, thread->process->space,
							   match->name, module);
	int error = trap_plant(session->trap, thread, match->address + module->bias, site,
			       &hook->hook);
	struct probe_request request = {PROBE_ENTRY, match->name, module, hook->one_of_many};

	hook->attached |= module->ran_before;
	hook->resolved |= is_bound;
	if (error && error != -EALREADY)
		plant_list_refused(session, thread, &request, error);
}

static void plant_ifunc(struct session *session, struct thread *thread, const struct module *module,
			const struct match *match)
{
	uint64_t bound = plant_find_bound(thread->process->space, module, match);

	if (bound)
		plant_found(session, thread, bound, match->name, !match->by_name);
	else if (proc_is_exiting(thread->tid))
		return; /* what it was bound to went with the memory */
	plant_resolver(session, thread, module, match, bound);
}

/*
 * An IFUNC of a process that was attached to, whose resolver never ran while we looked: somebody
 * may hold the implementation's address that dlsym() gave him before. Of a process seen from its
 * first instruction on it is known that nobody has it.
 */
static void list_waiting(struct session *session, const struct ifunc_hook *ifunc)
{
	if (ifunc->attached && !ifunc->resolved)
		untraced_function(session->untraced, ifunc->module, ifunc->shown,
				  ifunc->one_of_many,
				  "an IFUNC that nothing in sight was bound to; calls through "
				  "an address taken before are not seen");
}

void plant_list_waiting(struct session *session)
{
	for (size_t i = 0; i < session->ifuncs.count; i++)
		list_waiting(session, ifunc_at(session, i));
}

void plant_mark_hook(struct session *session, struct hook *hook)
{
	pointers_mark(session, hook);
	if (hook->returned == resolver_returned)
		((struct ifunc_hook *)(void *)hook)->in_use = true;
}

void plant_drop_hooks(struct session *session)
{
	pointers_drop(session);
	for (size_t i = session->ifuncs.count; i-- > 0;) {
		struct ifunc_hook *ifunc = ifunc_at(session, i);

		if (!ifunc->in_use) {
			list_waiting(session, ifunc);
			free_ifunc(ifunc);
			vec_remove_fast(&session->ifuncs, i);
		} else {
			ifunc->in_use = false;
		}
	}
}

/* ------------------------------------------------------------------ modules */

void plant_hook(struct session *session, struct thread *thread, const struct module *module,
		const char *name, struct hook *hook)
{
	const struct elf_symbol *symbol = elf_find_symbol(module->file, name);

	if (!symbol || !symbol->value || symbol->type != STT_FUNC)
		return;
	const uint64_t address = symbol->value + module->bias;

	if (agent_has_gate(thread->process->space, address, hook))
		return;
	if (agent_has(thread->process->space, address))
		agent_refuse(session->agent, thread, "one of its functions has to be watched");
	trap_plant(session->trap, thread, address, NULL, hook);
}

/* Libc's way to change what happens at a signal, on which its others are built: see sigtrap.h. */
static void hook_sigaction(struct session *session, struct thread *thread,
			   const struct module *module)
{
	static const char *const names[] = {"sigaction", "__sigaction"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		plant_hook(session, thread, module, names[i], &session->sigaction);
}

/* The name says whose: glibc's library is libc.so.6; a static program is taken for glibc's, too. */
static bool is_musl(const struct module *module)
{
	const char *soname = elf_soname(module->file);

	return soname && (!strcmp(soname, "libc.so") || !strncmp(soname, "libc.musl-", 10));
}

/* The ways out of calls that are not returns. */
static void hook_jumps(struct session *session, struct thread *thread, const struct module *module)
{
	static const char *const names[] = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		plant_hook(session, thread, module, names[i],
			   is_musl(module) ? &session->long_jump : &session->long_jump_glibc);
}

/* Python's greenlet and Ruby's callcc copy stacks: see engine/trap/callstack.c. */
static bool exchanges_stacks(const struct module *module)
{
	return !strncmp(module->base_name, "_greenlet.", 10) ||
	       !strncmp(module->base_name, "greenlet.", 9) ||
	       !strcmp(module->base_name, "continuation.so");
}

/*
 * Whether calls may be left by it in a way that is not seen: it unwinds stacks, or changes them, or
 * nobody knows.
 */
static bool leaves_calls(const struct module *module)
{
	static const char *const names[] = {"_Unwind_RaiseException", "_Unwind_ForcedUnwind",
					    "swapcontext", "setcontext"};
	const bool is_whole = module->is_main && !elf_interpreter(module->file);
	/* Of others not all symbols are read for this. */
	bool leaves = is_whole && !elf_has_functions(module->file);

	for (size_t i = 0; i < sizeof names / sizeof *names && !leaves; i++) {
		leaves = elf_has_slot(module->file, names[i]);
		/* Who only has the latter is their library. */
		if (is_whole || i < 2)
			leaves |= elf_find_symbol(module->file, names[i]) != NULL;
	}
	return leaves;
}

/* Whether a function that we know nothing of may have been meant. */
static bool wants_all(const struct session *session, const struct module *module)
{
	const struct vec *filters = &session->filters.entries;
	struct filter_module what = matching_filtered(module);

	for (size_t i = 0; i < filters->count; i++) {
		struct filter *filter = vec_at(filters, i);

		if (filter_enter(filter, &what) && filter_asks_all(filter))
			return true;
	}
	return false;
}

/*
 * Calls by a stub that was not found; those of a function that is traced itself are seen all the
 * same.
 */
static void list_stubless(struct session *session, const struct probe_request *request)
{
	const struct vec *filters = &session->filters.entries;

	for (size_t i = 0; i < filters->count; i++)
		if (filter_may_ask(vec_at(filters, i), request->name))
			return;
	_cleanup_free_ char *name = naming_function(session, request->module, request->name);

	untraced_function(
		session->untraced, request->module->base_name, name, request->one_of_many,
		"called from there in a way that is not known; -x traces the function itself");
}

void plant_match(struct session *session, struct thread *thread, const struct module *module,
		 const struct match *match)
{
	uint64_t address = match->address + module->bias;
	struct probe_request request = {PROBE_CALL, match->name, module, !match->by_name};

	switch (match->kind) {
	case MATCH_ENTRY:
		request.kind = PROBE_ENTRY;
		plant_site(session, thread, address, &request);
		break;
	case MATCH_CALL:
		plant_site(session, thread, address, &request);
		break;
	case MATCH_POINTER:
		pointers_plant(session, thread, match, &request);
		break;
	case MATCH_NO_STUB:
		list_stubless(session, &request);
		break;
	case MATCH_IFUNC:
		plant_ifunc(session, thread, module, match);
		break;
	case MATCH_SLOT:
	case MATCH_GETTER:
		tables_add(thread->process->space->modules, address, match);
		break;
	}
}

static void list_static(struct session *session, const struct space *space,
			const struct module *module)
{
	const bool has_names = elf_has_functions(module->file) ||
			       debug_source_file(module->debug, space->reader);

	untraced_thing(session->untraced, module->path,
		       has_names ? "it is linked statically, so it calls no libraries, and of its "
				   "own functions only IFUNCs by a PLT; -x traces all of them"
				 : "it is linked statically, so it calls no libraries, and of its "
				   "own functions only IFUNCs by a PLT; -x finds none of them, as "
				   "it was stripped of all symbols");
}

/* What is not known of a module, and so cannot have been planted. */
static void list_unknown(struct session *session, const struct space *space,
			 const struct module *module, bool found_any)
{
	if (elf_is_from_memory(module->file) && wants_all(session, module))
		untraced_thing(session->untraced, module->path,
			       "functions that it does not export: its file is gone, replaced or "
			       "out of reach, so it was read from memory");
	if (module->is_main && !elf_interpreter(module->file) &&
	    !(found_any && session->calls_named) && !session->filters.entries.count)
		list_static(session, space, module);
	if (elf_damage(module->file))
		untraced_thing(session->untraced, module->path, elf_damage(module->file));
}

/* Frees them. */
static void plant_matches(struct session *session, struct thread *thread, struct module *module,
			  struct vec *found)
{
	const bool gathers = space_has_only(thread) && gather_begin(thread->process->space);

	for (size_t i = 0; i < found->count; i++)
		plant_match(session, thread, module, vec_at(found, i));
	if (gathers)
		gather_end(thread->process->space);
	vec_deinit(found);
}

void plant_libraries(struct session *session, struct thread *thread, struct module *module)
{
	struct vec found = VEC_OF(struct match);

	matching_libraries(session, thread->process->space, module, &found);
	naming_note(session, module, &found);
	plant_matches(session, thread, module, &found);
}

void plant_begin(struct session *session, struct thread *thread, const struct module *module,
		 size_t count)
{
	masking_module(session, thread, module, count >= MANY_FUNCTIONS);
}

void plant_module(struct session *session, struct thread *thread, struct module *module)
{
	struct vec found = VEC_OF(struct match);

	debug_say(session, DEBUG_MODULES, "process %d: %s at 0x%llx", (int)thread->process->pid,
		  module->path, (unsigned long long)module->bias);
	hook_sigaction(session, thread, module);
	hook_jumps(session, thread, module);
	plant_hook(session, thread, module, "ptrace", &session->ptrace); /* see debuggers.c */
	if (exchanges_stacks(module))
		trap_stacks_exchanged(thread->process->space);
	if (leaves_calls(module))
		trap_calls_are_left(thread->process->space);
	inprocess_module(session, thread, module);
	matching_module(session, thread->process->space, module, &session->filters, &found);
	naming_note(session, module, &found);
	runtimes_watch_go(session, thread, module, &found);
	list_unknown(session, thread->process->space, module, found.count != 0);
	if (later_take(thread->process->space->modules, module, &found))
		return;
	plant_begin(session, thread, module, found.count);
	plant_matches(session, thread, module, &found);
}

void plant_deinit(struct session *session)
{
	pointers_deinit(session);
	for (size_t i = 0; i < session->ifuncs.count; i++)
		free_ifunc(ifunc_at(session, i));
	vec_deinit(&session->ifuncs);
}
