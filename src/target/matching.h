/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions and calls of a module the filters ask for: passes what is known of the module,
 * and of the others in its space, to probe/match.h: see matching.c.
 */
#ifndef TRACER_TARGET_MATCHING_H
#define TRACER_TARGET_MATCHING_H

#include "target/target_state.h"

/* Returns what filters are compared with. Valid as long as the modules of the space. */
struct filter_module matching_filtered(const struct space *space, const struct module *module);
/* Adds to `found` (struct match) what `filters` match in a module of the space. */
void matching_module(const struct target *target, const struct space *space,
		     const struct module *module, const struct match_filters *filters,
		     struct vec *found);
/* Adds to `found` what the session's -l filters match in a module. */
void matching_libraries(const struct target *target, const struct space *space,
			const struct module *module, struct vec *found);

#endif
