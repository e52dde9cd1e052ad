/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From matches of the filters to breakpoints. */
#include "target/plant.h"

#include "base/cleanup.h"
#include "engine/trap/references.h"
#include "engine/trap/spaces.h"
#include "object/elf_got_slots.h"
#include "object/elf_memory.h"
#include "object/elf_symbols.h"
#include "target/agent_policy.h"
#include "target/debug.h"
#include "target/hooks.h"
#include "target/ifuncs.h"
#include "target/indirect_calls.h"
#include "target/matching.h"
#include "target/module.h"
#include "target/plant_site.h"
#include "target/runtimes.h"
#include "target/shown_names.h"
#include "target/sigmask_hooks.h"
#include "target/sites.h"
#include "target/table_functions.h"
#include "target/target_state.h"
#include "target/unresolved_calls.h"
#include "target/waiting_matches.h"
#include "tracee/memory_batch.h"
#include "tracee/space.h"

#include <string.h>

enum {
	MANY_FUNCTIONS = 64 /* libc calls some of so many with all signals blocked */
};

/* ------------------------------------------------------------------ modules */

/*
 * Hooks the function that sets dispositions, which libc's other such functions call:
 * engine/trap/sigtrap.h.
 */
static void hook_sigaction(struct target *target, struct thread *thread,
			   const struct module *module)
{
	static const char *const names[] = {"sigaction", "__sigaction"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		hooks_plant(target, thread, module, names[i], &target->sigaction);
}

/*
 * Returns true for musl. glibc's SONAME is libc.so.6; a static program is taken for glibc's, too.
 */
static bool is_musl(const struct module *module)
{
	const char *soname = elf_soname(module->file);

	return soname && (!strcmp(soname, "libc.so") || !strncmp(soname, "libc.musl-", 10));
}

/* Hooks the longjmp() functions, which leave calls without a return. */
static void hook_jumps(struct target *target, struct thread *thread, const struct module *module)
{
	static const char *const names[] = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		hooks_plant(target, thread, module, names[i],
			    is_musl(module) ? &target->long_jump : &target->long_jump_glibc);
}

/*
 * Returns true for Python's greenlet and Ruby's callcc, which copy stacks: engine/core/callstack.c.
 */
static bool exchanges_stacks(const struct module *module)
{
	return !strncmp(module->base_name, "_greenlet.", 10) ||
	       !strncmp(module->base_name, "greenlet.", 9) ||
	       !strcmp(module->base_name, "continuation.so");
}

/*
 * Returns true if the module may leave calls unseen: it unwinds or switches stacks, or its
 * functions are unknown.
 */
static bool leaves_calls(const struct module *module)
{
	static const char *const names[] = {"_Unwind_RaiseException", "_Unwind_ForcedUnwind",
					    "swapcontext", "setcontext"};
	const bool is_whole = module->is_main && !elf_interpreter(module->file);
	/* For other modules, not all symbols are read just for this. */
	bool leaves = is_whole && !elf_has_functions(module->file);

	for (size_t i = 0; i < sizeof names / sizeof *names && !leaves; i++) {
		leaves = elf_has_got_slot(module->file, names[i]);
		/* A module that only defines the last two functions is libc. */
		if (is_whole || i < 2)
			leaves |= elf_find_symbol(module->file, names[i]) != NULL;
	}
	return leaves;
}

/*
 * Returns true if the filters ask for all functions of the module, also those of which nothing is
 * known.
 */
static bool wants_all(const struct target *target, const struct space *space,
		      const struct module *module)
{
	const struct vec *filters = &target->filters.entries;
	struct filter_module what = matching_filtered(space, module);

	for (size_t i = 0; i < filters->count; i++) {
		struct filter *filter = vec_at(filters, i);

		if (filter_enter(filter, &what) && filter_asks_all(filter))
			return true;
	}
	return false;
}

/*
 * Lists calls through a stub that was not found, unless the called function is traced itself: then
 * its calls are seen anyway.
 */
static void list_stubless(struct target *target, const struct probe_request *request)
{
	const struct vec *filters = &target->filters.entries;

	for (size_t i = 0; i < filters->count; i++)
		if (filter_may_ask(vec_at(filters, i), request->name))
			return;
	_cleanup_free_ char *name = shown_names_function(target, request->module, request->name);

	untraced_function(
		target->untraced, request->module->base_name, name, request->one_of_many,
		"called from there in a way that is not known; -x traces the function itself");
}

void plant_match(struct target *target, struct thread *thread, const struct module *module,
		 const struct match *match)
{
	uint64_t address = match->address + module->bias;
	struct probe_request request = {PROBE_CALL, match->name, module, !match->by_name};

	switch (match->kind) {
	case MATCH_ENTRY:
		request.kind = PROBE_ENTRY;
		plant_site(target, thread, address, &request);
		break;
	case MATCH_CALL:
		plant_site(target, thread, address, &request);
		break;
	case MATCH_POINTER:
		indirect_plant(target, thread, match, &request);
		break;
	case MATCH_NO_STUB:
		list_stubless(target, &request);
		break;
	case MATCH_IFUNC:
		ifuncs_plant(target, thread, module, match);
		break;
	case MATCH_SLOT:
	case MATCH_GETTER:
		table_functions_add(thread->process->space->modules, address, match);
		break;
	}
}

static void list_static(struct target *target, const struct space *space,
			const struct module *module)
{
	const bool has_names = elf_has_functions(module->file) ||
			       debug_source_file(module->debug, space->reader);

	untraced_thing(target->untraced, module->path,
		       has_names ? "it is linked statically, so it calls no libraries, and of its "
				   "own functions only IFUNCs by a PLT; -x traces all of them"
				 : "it is linked statically, so it calls no libraries, and of its "
				   "own functions only IFUNCs by a PLT; -x finds none of them, as "
				   "it was stripped of all symbols");
}

/* Lists what is not known of a module and so cannot have been planted. */
static void list_unknown(struct target *target, const struct space *space,
			 const struct module *module, bool found_any)
{
	if (elf_is_from_memory(module->file) && wants_all(target, space, module))
		untraced_thing(target->untraced, module->path,
			       "functions that it does not export: its file is gone, replaced or "
			       "out of reach, so it was read from memory");
	if (module->is_main && !elf_interpreter(module->file) &&
	    !(found_any && target->calls_named) && !target->filters.entries.count)
		list_static(target, space, module);
	if (elf_damage(module->file))
		untraced_thing(target->untraced, module->path, elf_damage(module->file));
}

/* Plants the matches and frees the vec. */
static void plant_matches(struct target *target, struct thread *thread, struct module *module,
			  struct vec *found)
{
	const bool gathers = space_has_only(thread) && memory_batch_begin(thread->process->space);

	for (size_t i = 0; i < found->count; i++)
		plant_match(target, thread, module, vec_at(found, i));
	if (gathers)
		memory_batch_end(thread->process->space);
	vec_deinit(found);
}

void plant_libraries(struct target *target, struct thread *thread, struct module *module)
{
	struct vec found = VEC_OF(struct match);

	matching_libraries(target, thread->process->space, module, &found);
	shown_names_note(target, module, &found);
	plant_matches(target, thread, module, &found);
}

void plant_begin(struct target *target, struct thread *thread, const struct module *module,
		 size_t count)
{
	sigmask_hooks_module(target, thread, module, count >= MANY_FUNCTIONS);
}

/* Where noted calls have got a definer. */
struct settling {
	struct target *target;
	struct space *space;
};

static void settle(void *context, const struct undefined_call *call)
{
	const struct settling *settling = context;
	struct target *target = settling->target;
	struct space *space = settling->space;
	const struct module *caller = modules_find(space->modules, call->address);
	const struct probe_site *site;

	if (!caller)
		return;
	site = sites_get(target, space, PROBE_CALL, call->address, call->name, caller);
	if (call->slot)
		indirect_settle(space, call->address, call->slot, site);
	else if (trap_change_site(space, call->address, site))
		agent_policy_add(target, space, call->address, call->name, caller, site);
}

void plant_settle(struct target *target, struct space *space, const struct module *fresh)
{
	struct settling settling = {target, space};

	unresolved_take(space->modules, fresh, settle, &settling);
}

void plant_module(struct target *target, struct thread *thread, struct module *module)
{
	struct vec found = VEC_OF(struct match);

	debug_say(target, DEBUG_MODULES, "process %d: %s at 0x%llx", (int)thread->process->pid,
		  module->path, (unsigned long long)module->bias);
	hook_sigaction(target, thread, module);
	hook_jumps(target, thread, module);
	hooks_plant(target, thread, module, "ptrace", &target->ptrace); /* debuggers.c */
	if (exchanges_stacks(module))
		trap_stacks_exchanged(thread->process->space);
	if (leaves_calls(module))
		trap_calls_are_left(thread->process->space);
	agent_policy_module(target, thread, module);
	matching_module(target, thread->process->space, module, &target->filters, &found);
	shown_names_note(target, module, &found);
	runtimes_watch_go(target, thread, module, &found);
	list_unknown(target, thread->process->space, module, found.count != 0);
	if (waiting_matches_take(thread->process->space->modules, module, &found))
		return;
	plant_begin(target, thread, module, found.count);
	plant_matches(target, thread, module, &found);
}
