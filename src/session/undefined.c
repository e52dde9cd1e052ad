/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of functions that nothing that is loaded defines.
 *
 * A library may be loaded before those that it calls: plugins bound lazily (RTLD_LAZY), and the
 * program itself where the linker loads an auditor first (LD_AUDIT). Its breakpoints have to stand
 * by then, but what is called is not known, and the prototype mostly comes from who defines it. So
 * these places are kept in a list, and asked for again when a module comes that exports the name:
 * the linker tells of it before anybody can call what it has.
 *
 * The breakpoint is given another site then. What is pending keeps the one that it began with, by
 * which its record is read. The agent would have a copy of the plan, and records under way that
 * were made by it; so it gets such a place only when it is settled. As long as nobody defines a
 * function nobody comes back from a call of it, so nothing is lost by that.
 *
 * The names that an object has itself do not wait: those of its own IFUNCs, by which static
 * programs call them.
 */
#include "session/private.h"

#include "base/xalloc.h"

#include <stdlib.h>

/* Each is looked for in each module that comes; who has more has made them for us. */
enum { UNDEFINED_MAX = 16 << 10 };

struct undefined_call {
	uint64_t address; /* of the breakpoint */
	uint64_t slot;	  /* of a call by a pointer, else 0 */
	char *name;
};

static struct undefined_call *call_at(const struct modules *modules, size_t index)
{
	return vec_at(&modules->undefined, index);
}

void undefined_init(struct modules *modules)
{
	vec_init(&modules->undefined, sizeof(struct undefined_call));
}

void undefined_deinit(struct modules *modules)
{
	for (size_t i = 0; i < modules->undefined.count; i++)
		free(call_at(modules, i)->name);
	vec_deinit(&modules->undefined);
}

void undefined_clone(struct modules *modules, const struct modules *from)
{
	for (size_t i = 0; i < from->undefined.count; i++) {
		struct undefined_call *call = vec_push(&modules->undefined, call_at(from, i));

		call->name = xstrdup(call->name);
	}
}

void undefined_forget(struct modules *modules, const struct module *module)
{
	for (size_t i = modules->undefined.count; i-- > 0;) {
		struct undefined_call *call = call_at(modules, i);

		if (call->address < module->low || call->address >= module->high)
			continue;
		free(call->name);
		vec_remove_fast(&modules->undefined, i);
	}
}

bool undefined_note(struct modules *modules, const struct probe_request *request, uint64_t address,
		    uint64_t slot)
{
	if (request->kind != PROBE_CALL || !request->module ||
	    modules->undefined.count >= UNDEFINED_MAX ||
	    modules_find_definer(modules, request->name, NULL) ||
	    elf_find_symbol(request->module->file, request->name))
		return false;
	vec_push(&modules->undefined,
		 &(struct undefined_call){address, slot, xstrdup(request->name)});
	return true;
}

static void settle(struct session *session, struct space *space, const struct undefined_call *call)
{
	const struct module *caller = modules_find(space->modules, call->address);
	const struct probe_site *site;

	if (!caller)
		return;
	site = sites_get(session, space, PROBE_CALL, call->address, call->name, caller);
	if (call->slot)
		pointers_settle(space, call->address, call->slot, site);
	else if (trap_change_site(space, call->address, site))
		inprocess_wish(session, space, call->address, call->name, caller, site);
}

void undefined_settle(struct session *session, struct space *space, const struct module *fresh)
{
	struct modules *modules = space->modules;

	for (size_t i = modules->undefined.count; i-- > 0;) {
		struct undefined_call call = *call_at(modules, i);

		if (!elf_find_exported(fresh->file, call.name))
			continue;
		vec_remove_fast(&modules->undefined, i);
		settle(session, space, &call);
		free(call.name);
	}
}
