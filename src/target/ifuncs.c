/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IFUNCs.
 *
 * The symbol of an IFUNC is its resolver; what is to be traced is the implementation that the
 * resolver chose. If some module has bound the IFUNC already, a GOT slot holds the implementation:
 * a slot that is relocated to the symbol, or an IRELATIVE slot of the defining module with the
 * resolver as addend. The resolver gets a hook as well: what it returns is the implementation, and
 * every later binding calls it. It also gets a site, as its calls are shown (NAME.IFUNC).
 */
#include "target/ifuncs.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "object/elf_got_slots.h"
#include "target/module.h"
#include "target/plant_site.h"
#include "target/shown_names.h"
#include "target/sites.h"
#include "target/target_state.h"
#include "tracee/proc.h"
#include "tracee/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ifunc_hook {
	struct hook hook;
	struct target *target;
	struct elf_file *file;
	char *name;
	char *shown; /* the name in messages */
	char *module;
	bool one_of_many;
	bool attached; /* the process ran before the attach: the binding may not have been seen */
	bool resolved;
	bool in_use; /* a breakpoint or a pending call refers to it */
};

/*
 * Returns true if `value`, found in a GOT slot, is the implementation and not a PLT stub of the
 * same module.
 */
static bool is_implementation(const struct module *module, uint64_t resolver, uint64_t value)
{
	size_t count;
	const struct got_slot *slots = elf_got_slots(module->file, &count);

	if (value < module->low || value >= module->high || value == resolver)
		return false;
	for (size_t i = 0; i < count; i++)
		if (slots[i].stub && value - module->bias - slots[i].stub < 16)
			return false;
	return true;
}

uint64_t ifuncs_find_bound(const struct space *space, const struct module *module,
			   const struct match *match)
{
	const struct modules *modules = space->modules;
	uint64_t resolver = match->address + module->bias;

	for (size_t i = 0; i < modules->list.count; i++) {
		const struct module *other = *(struct module **)vec_at(&modules->list, i);
		size_t count;
		const struct got_slot *slots = elf_got_slots(other->file, &count);

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
	struct ifunc_hook *ifunc = hook->context;

	if (thread->process->space->arch->abi->word == 4)
		result = (uint32_t)result;
	ifunc->resolved = true;
	if (modules_find(thread->process->space->modules, result))
		plant_found(ifunc->target, thread, result, ifunc->name, ifunc->one_of_many);
	else
		untraced_function(ifunc->target->untraced, ifunc->module, ifunc->shown,
				  ifunc->one_of_many, why_not(thread, result));
}

static struct ifunc_hook *ifunc_at(const struct target *target, size_t index)
{
	return *(struct ifunc_hook **)vec_at(&target->ifuncs, index);
}

static void free_ifunc(struct ifunc_hook *ifunc)
{
	elf_unref(ifunc->file);
	free(ifunc->name);
	free(ifunc->shown);
	free(ifunc->module);
	free(ifunc);
}

static struct ifunc_hook *get_ifunc_hook(struct target *target, const struct module *module,
					 const struct match *match)
{
	for (size_t i = 0; i < target->ifuncs.count; i++) {
		struct ifunc_hook *known = ifunc_at(target, i);

		if (known->file == module->file && !strcmp(known->name, match->name))
			return known;
	}
	struct ifunc_hook *made = xcalloc(1, sizeof *made);

	made->hook = (struct hook){.context = made, .returned = resolver_returned};
	made->target = target;
	made->file = elf_ref(module->file);
	made->name = xstrdup(match->name);
	made->shown = shown_names_function(target, module, match->name);
	made->module = xstrdup(module->base_name);
	made->one_of_many = !match->by_name;
	vec_push(&target->ifuncs, &made);
	return made;
}

/* Gives a resolver a site, which shows its calls, and a hook, which plants what it returns. */
static void plant_resolver(struct target *target, struct thread *thread,
			   const struct module *module, const struct match *match, bool is_bound)
{
	struct ifunc_hook *hook = get_ifunc_hook(target, module, match);
	const struct probe_site *site = sites_get_resolver(target, thread->process->space,
							   match->name, module);
	int error = trap_plant(target->trap, thread, match->address + module->bias, site,
			       &hook->hook);
	struct probe_request request = {PROBE_ENTRY, match->name, module, hook->one_of_many};

	hook->attached |= module->ran_before;
	hook->resolved |= is_bound;
	if (error && error != -EALREADY)
		plant_list_refused(target, thread, &request, error);
}

void ifuncs_plant(struct target *target, struct thread *thread, const struct module *module,
		  const struct match *match)
{
	uint64_t bound = ifuncs_find_bound(thread->process->space, module, match);

	if (bound)
		plant_found(target, thread, bound, match->name, !match->by_name);
	else if (proc_is_exiting(thread->tid))
		return; /* the GOT slots are gone with the memory */
	plant_resolver(target, thread, module, match, bound);
}

/*
 * Lists an IFUNC of a process that was attached to, if its resolver has not run since: the program
 * may hold the implementation's address from an earlier dlsym(). In a process that was traced from
 * its first instruction on, no such address can exist.
 */
static void list_waiting(struct target *target, const struct ifunc_hook *ifunc)
{
	if (ifunc->attached && !ifunc->resolved)
		untraced_function(target->untraced, ifunc->module, ifunc->shown, ifunc->one_of_many,
				  "an IFUNC that nothing in sight was bound to; calls through "
				  "an address taken before are not seen");
}

void ifuncs_list_waiting(struct target *target)
{
	for (size_t i = 0; i < target->ifuncs.count; i++)
		list_waiting(target, ifunc_at(target, i));
}

void ifuncs_mark(struct hook *hook)
{
	if (hook->returned == resolver_returned) {
		struct ifunc_hook *ifunc = hook->context;

		ifunc->in_use = true;
	}
}

void ifuncs_drop(struct target *target)
{
	for (size_t i = target->ifuncs.count; i-- > 0;) {
		struct ifunc_hook *ifunc = ifunc_at(target, i);

		if (!ifunc->in_use) {
			list_waiting(target, ifunc);
			free_ifunc(ifunc);
			vec_remove_fast(&target->ifuncs, i);
		} else {
			ifunc->in_use = false;
		}
	}
}

void ifuncs_init(struct target *target)
{
	vec_init(&target->ifuncs, sizeof(struct ifunc_hook *));
}

void ifuncs_deinit(struct target *target)
{
	for (size_t i = 0; i < target->ifuncs.count; i++)
		free_ifunc(ifunc_at(target, i));
	vec_deinit(&target->ifuncs);
}
