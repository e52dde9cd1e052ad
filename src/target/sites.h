/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sites: what breakpoints refer to, one for each probe and word size: see sites.c. */
#ifndef TRACER_TARGET_SITES_H
#define TRACER_TARGET_SITES_H

#include "target/target_state.h"

/* Looks up what sites_get() will need for a probe, so that it is in the caches by then. */
void sites_prepare(const struct target *target, const struct space *space, enum probe_kind kind,
		   uint64_t address, const char *symbol, const struct module *module);
/*
 * Returns the site of a probe at `address` in a space, and makes it if it is new. `module` is the
 * one that calls or defines the function, or NULL.
 */
const struct probe_site *sites_get(struct target *target, const struct space *space,
				   enum probe_kind kind, uint64_t address, const char *symbol,
				   const struct module *module);
/* Returns the site of an IFUNC's resolver. It is shown as ltrace shows it: SYMBOL.IFUNC. */
const struct probe_site *sites_get_resolver(struct target *target, const struct space *space,
					    const char *symbol, const struct module *module);
/* Marks a site as referred to: the next sweep keeps it. */
void sites_mark(struct target *target, const struct probe_site *site);
/* Frees the sites that are not marked. To be called between stops only. */
void sites_drop(struct target *target);
void sites_deinit(struct target *target);

#endif
