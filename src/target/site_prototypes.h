/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which prototype a function has: see site_prototypes.c. */
#ifndef TRACER_TARGET_SITE_PROTOTYPES_H
#define TRACER_TARGET_SITE_PROTOTYPES_H

#include "target/target_state.h"

/* A function to look up. */
struct function_query {
	enum probe_kind kind;
	uint64_t address;	     /* address of the breakpoint */
	const char *name;	     /* name of the symbol */
	const struct module *module; /* the module that calls or defines it, or NULL */
};

/* Returns true if the function is Go's, and so has Go's calling convention. */
bool site_prototype_is_go(const struct function_query *question);
/*
 * The prototype of the function, which is not NULL: that of the guess if none is found. *library is
 * the library that the function seems to be linked in from, or NULL.
 */
const struct prototype *site_prototype_find(const struct target *target, const struct space *space,
					    const struct function_query *question,
					    const char **library);
/*
 * Returns the prototype of a function that the module defines by that name, from the -F files or
 * from the module's own file; or NULL.
 */
const struct prototype *site_prototype_in_files(const struct target *target,
						const struct space *space,
						const struct module *module, const char *name);
/*
 * Replaces accessors in a prototype by the paths that the library's code shows. A table needs none.
 */
const struct prototype *site_prototype_resolve(struct target *target, const struct space *space,
					       const struct function_query *question,
					       const struct prototype *prototype);

#endif
