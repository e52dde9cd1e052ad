/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Special treatment of processes with a runtime that reads, copies or moves stacks. */
#ifndef TRACER_TARGET_RUNTIMES_H
#define TRACER_TARGET_RUNTIMES_H

#include "target/target_state.h"

void runtimes_init(struct target *target);
/* Returns why nothing may be caught inside a process with this module; NULL: no objection. */
const char *runtimes_walk_stacks(const struct module *module);
/* Returns true if generated code calls the module's functions, which search the stack for it. */
bool runtimes_generate_code(const struct module *module);
/* Plants the hooks that Go needs, if some of the functions in `found` are Go's. */
void runtimes_watch_go(struct target *target, struct thread *thread, const struct module *module,
		       const struct vec *found);

#endif
