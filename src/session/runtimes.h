/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has to be different in a process as a runtime in it looks at stacks, or moves them. */
#ifndef TRACER_SESSION_RUNTIMES_H
#define TRACER_SESSION_RUNTIMES_H

#include "session/private.h"

void runtimes_init(struct session *session);
/* Why nothing may be caught inside a process that has this module; NULL: it may. */
const char *runtimes_walk_stacks(const struct module *module);
/* Whether generated code calls the module's functions, and is looked for on the stack. */
bool runtimes_generate_code(const struct module *module);
/* Hooks what is to be watched where functions of Go's, of which some are in `found`, are traced. */
void runtimes_watch_go(struct session *session, struct thread *thread, const struct module *module,
		       const struct vec *found);

#endif
