/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Indirect calls: code that calls functions of other modules without a PLT stub (-fno-plt, rustc):
 * see indirect_calls.c.
 */
#ifndef TRACER_TARGET_INDIRECT_CALLS_H
#define TRACER_TARGET_INDIRECT_CALLS_H

#include "target/target_state.h"

void indirect_init(struct target *target);
/* Plants a MATCH_POINTER. */
void indirect_plant(struct target *target, struct thread *thread, const struct match *match,
		    const struct probe_request *request);
/*
 * Gives an indirect call at `address` through GOT slot `slot` another site: its definer is loaded.
 */
void indirect_settle(struct space *space, uint64_t address, uint64_t slot,
		     const struct probe_site *site);
/* Returns a site that may be called at `hook`, or NULL if that is no hook of indirect_plant(). */
const struct probe_site *indirect_site(const struct hook *hook);
/* Visits all sites that may be called at `hook`: none if that is no hook of indirect_plant(). */
void indirect_each_site(const struct hook *hook,
			void (*visit)(void *context, const struct probe_site *site), void *context);
/* Marks a hook as used, if it is one of these; frees those that are not marked. */
void indirect_mark(struct target *target, struct hook *hook);
void indirect_drop(struct target *target);
void indirect_deinit(struct target *target);

#endif
