/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IFUNCs: see ifuncs.c. */
#ifndef TRACER_TARGET_IFUNCS_H
#define TRACER_TARGET_IFUNCS_H

#include "target/target_state.h"

void ifuncs_init(struct target *target);
void ifuncs_deinit(struct target *target);
/* Returns the implementation that a GOT slot of some module has for an IFUNC, or 0. */
uint64_t ifuncs_find_bound(const struct space *space, const struct module *module,
			   const struct match *match);
/* Plants a MATCH_IFUNC: the implementation, if it is bound, and the resolver. */
void ifuncs_plant(struct target *target, struct thread *thread, const struct module *module,
		  const struct match *match);
/* Lists IFUNCs that were never seen to be bound. To be called at the end of a session. */
void ifuncs_list_waiting(struct target *target);
/* Marks a hook as used, if it is an IFUNC's; frees those of IFUNCs that are not marked. */
void ifuncs_mark(struct hook *hook);
void ifuncs_drop(struct target *target);

#endif
