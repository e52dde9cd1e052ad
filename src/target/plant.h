/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From matches of the filters to breakpoints: see plant.c. */
#ifndef TRACER_TARGET_PLANT_H
#define TRACER_TARGET_PLANT_H

#include "target/target_state.h"

/* Prepares a module for `count` breakpoints. To be called before the first of them is planted. */
void plant_begin(struct target *target, struct thread *thread, const struct module *module,
		 size_t count);
/* Plants one match of the module. */
void plant_match(struct target *target, struct thread *thread, const struct module *module,
		 const struct match *match);
/* Plants what the filters ask for in `module`, or leaves it to deferred_start(). */
void plant_module(struct target *target, struct thread *thread, struct module *module);
/* Plants what -l asks for in an already planted module, after libraries were loaded. */
void plant_libraries(struct target *target, struct thread *thread, struct module *module);
/* Gives calls of functions that `fresh`, a new module, defines their sites. */
void plant_settle(struct target *target, struct space *space, const struct module *fresh);

#endif
