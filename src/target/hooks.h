/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hooks at functions that are known by name. */
#ifndef TRACER_TARGET_HOOKS_H
#define TRACER_TARGET_HOOKS_H

#include "target/target_state.h"

/* Plants a hook at the function `name`, if the module has it. */
void hooks_plant(struct target *target, struct thread *thread, const struct module *module,
		 const char *name, struct hook *hook);

#endif
