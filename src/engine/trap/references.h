/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What breakpoints and pending calls refer to, sites and hooks: finding, replacing and listing
 * these references (trap.h): see references.c.
 */
#ifndef TRACER_ENGINE_TRAP_REFERENCES_H
#define TRACER_ENGINE_TRAP_REFERENCES_H

#include "engine/trap/trap.h"

/*
 * Replaces the site of the probe at `address`: calls are recorded by `site` from now on. Returns
 * false if no probe is planted there, or if the program has written over the breakpoint.
 */
bool trap_change_site(const struct space *space, uint64_t address, const struct probe_site *site);
/* Returns the hook planted at `address`, or NULL. */
struct hook *trap_hook_at(const struct space *space, uint64_t address);
/*
 * Call `use` for the site and hook of each breakpoint and goroutine call of a space, or of each
 * pending call of a thread. Used before a site or hook is freed. Either argument of `use` may be
 * NULL.
 */
typedef void trap_use(void *context, const struct probe_site *site, struct hook *hook);
void trap_space_uses(const struct space *space, trap_use *use, void *context);
void trap_thread_uses(const struct thread *thread, trap_use *use, void *context);

#endif
