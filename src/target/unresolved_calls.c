/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of functions that no loaded module defines.
 *
 * A library may be loaded before those that it calls: plugins that are bound lazily (RTLD_LAZY),
 * and the program itself, if the linker loads an auditor first (LD_AUDIT). Its breakpoints have to
 * be planted by then, but the callee is not known, and the prototype mostly comes from the definer.
 * So these places are kept in a list, and looked up again when a module is loaded that exports the
 * name: the linker reports the module before its functions can be called.
 *
 * The breakpoint then gets another site. Pending calls keep the site that they began with, as their
 * records are read by it. The agent has copies of plans, and perhaps records in its rings that were
 * made by an old plan, so it gets such a place only when the definer is known. Nothing is lost by
 * that: as long as a function has no definer, no call of it returns.
 *
 * Names that the calling module has itself are not kept: those of its own IFUNCs, which static
 * programs call through a PLT.
 */
#include "target/unresolved_calls.h"

#include "base/xalloc.h"
#include "object/elf_symbols.h"
#include "target/module.h"
#include "target/target_state.h"

#include <stdlib.h>

/*
 * Each is looked up in each module that is loaded. A program with more was made to slow the tracer
 * down.
 */
enum { UNDEFINED_MAX = 16 << 10 };

static struct undefined_call *call_at(const struct modules *modules, size_t index)
{
	return vec_at(&modules->undefined, index);
}

void unresolved_init(struct modules *modules)
{
	vec_init(&modules->undefined, sizeof(struct undefined_call));
}

void unresolved_deinit(struct modules *modules)
{
	for (size_t i = 0; i < modules->undefined.count; i++)
		free(call_at(modules, i)->name);
	vec_deinit(&modules->undefined);
}

void unresolved_clone(struct modules *modules, const struct modules *from)
{
	for (size_t i = 0; i < from->undefined.count; i++) {
		struct undefined_call *call = vec_push(&modules->undefined, call_at(from, i));

		call->name = xstrdup(call->name);
	}
}

void unresolved_forget(struct modules *modules, const struct module *module)
{
	for (size_t i = modules->undefined.count; i-- > 0;) {
		struct undefined_call *call = call_at(modules, i);

		if (call->address < module->low || call->address >= module->high)
			continue;
		free(call->name);
		vec_remove_fast(&modules->undefined, i);
	}
}

bool unresolved_note(struct modules *modules, const struct probe_request *request, uint64_t address,
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

void unresolved_take(struct modules *modules, const struct module *fresh, unresolved_visit *visit,
		     void *context)
{
	for (size_t i = modules->undefined.count; i-- > 0;) {
		struct undefined_call call = *call_at(modules, i);

		if (!elf_find_exported(fresh->file, call.name))
			continue;
		vec_remove_fast(&modules->undefined, i);
		visit(context, &call);
		free(call.name);
	}
}
