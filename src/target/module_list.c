/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of the modules of a space, as a whole: made with the space, copied for a forked
 * child, freed. The parts belong to other files.
 */
#include "target/module_list.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "target/hook_gates.h"
#include "target/module.h"
#include "target/stacks/frame_functions.h"
#include "target/stacks/known_stacks.h"
#include "target/stacks/native_stacks.h"
#include "target/stacks/script_stacks.h"
#include "target/target_state.h"
#include "target/unresolved_calls.h"
#include "target/waiting_matches.h"

#include <stdlib.h>

struct modules *module_list_create(void)
{
	struct modules *modules = xcalloc(1, sizeof *modules);

	vec_init(&modules->list, sizeof(struct module *));
	vec_init(&modules->slots, sizeof(struct pending_word));
	vec_init(&modules->machines, sizeof(struct script_machine *));
	vec_init(&modules->unready, sizeof(struct module *));
	waiting_matches_init(modules);
	unresolved_init(modules);
	hook_gates_init(modules);
	return modules;
}

void module_list_destroy(struct modules *modules)
{
	if (!modules)
		return;
	for (size_t i = 0; i < modules->list.count; i++)
		module_unref(*(struct module **)vec_at(&modules->list, i));
	for (size_t i = 0; i < modules->slots.count; i++)
		free(((struct pending_word *)vec_at(&modules->slots, i))->name);
	waiting_matches_deinit(modules);
	unresolved_deinit(modules);
	hook_gates_deinit(modules);
	script_stacks_forget(modules);
	native_stacks_forget(modules);
	frame_functions_forget(modules);
	known_stacks_forget(modules);
	vec_deinit(&modules->list);
	vec_deinit(&modules->slots);
	linkmap_destroy(modules->linkmap);
	free(modules);
}

struct modules *module_list_clone(struct target *target, const struct modules *modules)
{
	struct modules *clone = module_list_create();

	clone->masks_hooked = modules->masks_hooked;
	clone->shadowed = modules->shadowed;
	clone->tables_watched = modules->tables_watched;
	clone->is_hooked = modules->is_hooked;
	clone->r_debug = modules->r_debug;
	clone->linkmap = modules->linkmap ? linkmap_clone(modules->linkmap) : NULL;
	for (size_t i = 0; i < modules->list.count; i++) {
		struct module **module = vec_push(&clone->list, vec_at(&modules->list, i));

		(*module)->references++;
	}
	for (size_t i = 0; i < modules->slots.count; i++) {
		struct pending_word *slot = vec_push(&clone->slots, vec_at(&modules->slots, i));

		slot->name = xstrdup(slot->name);
	}
	waiting_matches_clone(target, clone, modules);
	unresolved_clone(clone, modules);
	hook_gates_clone(clone, modules);
	return clone;
}
