/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matches that wait to be planted, module by module. */
#ifndef TRACER_TARGET_WAITING_MATCHES_H
#define TRACER_TARGET_WAITING_MATCHES_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>

struct module;
struct modules;
struct target;

/* Matches in one module; those from `next` on are not planted yet. */
struct waiting_matches {
	struct module *module;
	struct vec found; /* struct match */
	size_t next;
};

/* All that wait in one space. */
struct waiting_list {
	struct vec matches; /* struct waiting_matches */
	bool gathers;	    /* matches are added instead of being planted */
};

void waiting_matches_init(struct modules *modules);
void waiting_matches_deinit(struct modules *modules);
/* `modules` belong to a fork child and copy what waits in `from`. */
void waiting_matches_clone(struct target *target, struct modules *modules,
			   const struct modules *from);
/* Drops what waits of an unloaded module. */
void waiting_matches_forget(struct modules *modules, const struct module *module);
/* After an attach: matches wait for deferred_start(), unless system calls are traced. */
void waiting_matches_begin(const struct target *target, struct modules *modules);
/* Takes the contents of `found` (struct match) and leaves it empty; false: nothing is deferred. */
bool waiting_matches_take(struct modules *modules, struct module *module, struct vec *found);
struct waiting_matches *waiting_matches_at(const struct modules *modules, size_t i);
/* Returns the index of the entry to plant next: one that is not the main program's, if there is. */
size_t waiting_matches_next(const struct modules *modules);
void waiting_matches_drop(struct modules *modules, size_t i);

#endif
