/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matches that wait to be planted: deferred_planting.c plants them. */
#include "target/waiting_matches.h"

#include "target/deferred_work.h"
#include "target/module.h"
#include "target/target_state.h"

struct waiting_matches *waiting_matches_at(const struct modules *modules, size_t i)
{
	return vec_at(&modules->waiting.matches, i);
}

void waiting_matches_init(struct modules *modules)
{
	vec_init(&modules->waiting.matches, sizeof(struct waiting_matches));
}

void waiting_matches_drop(struct modules *modules, size_t i)
{
	struct waiting_matches *waiting = waiting_matches_at(modules, i);

	module_unref(waiting->module);
	vec_deinit(&waiting->found);
	vec_remove(&modules->waiting.matches, i);
}

void waiting_matches_deinit(struct modules *modules)
{
	while (modules->waiting.matches.count)
		waiting_matches_drop(modules, modules->waiting.matches.count - 1);
	vec_deinit(&modules->waiting.matches);
}

void waiting_matches_clone(struct target *target, struct modules *modules,
			   const struct modules *from)
{
	if (from->waiting.matches.count)
		deferred_work_want(&target->work, &modules->work, WORK_PLANTING);
	for (size_t i = 0; i < from->waiting.matches.count; i++) {
		const struct waiting_matches *waiting = waiting_matches_at(from, i);
		struct waiting_matches copy = {waiting->module, VEC_OF(struct match), 0};

		for (size_t k = waiting->next; k < waiting->found.count; k++)
			vec_push(&copy.found, vec_at(&waiting->found, k));
		copy.module->references++;
		vec_push(&modules->waiting.matches, &copy);
	}
}

void waiting_matches_forget(struct modules *modules, const struct module *module)
{
	for (size_t i = modules->waiting.matches.count; i-- > 0;)
		if (waiting_matches_at(modules, i)->module == module)
			waiting_matches_drop(modules, i);
	if (!modules->waiting.matches.count)
		deferred_work_is_done(&modules->work, WORK_PLANTING);
}

bool waiting_matches_take(struct modules *modules, struct module *module, struct vec *found)
{
	const struct waiting_matches waiting = {module, *found, 0};

	if (!modules->waiting.gathers)
		return false;
	module->references++;
	vec_push(&modules->waiting.matches, &waiting);
	vec_init(found, sizeof(struct match));
	return true;
}

size_t waiting_matches_next(const struct modules *modules)
{
	for (size_t i = 0; i < modules->waiting.matches.count; i++)
		if (!waiting_matches_at(modules, i)->module->is_main)
			return i;
	return 0;
}

void waiting_matches_begin(const struct target *target, struct modules *modules)
{
	modules->waiting.gathers = !target->syscalls;
}
