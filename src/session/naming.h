/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What functions are called in the trace: by their symbols, or with -C as in the source. */
#ifndef TRACER_SESSION_NAMING_H
#define TRACER_SESSION_NAMING_H

#include "base/vec.h"

struct module;
struct session;

/*
 * `found` (struct match) is traced in the module: names that several of these functions share are
 * shown with parameters from now on. To be called before naming_function() is asked about them.
 */
void naming_note(const struct session *session, struct module *module, const struct vec *found);
void naming_deinit(struct module *module);

/* What a function is called that `module` (or NULL) calls or defines; to be freed. */
char *naming_function(const struct session *session, const struct module *module,
		      const char *symbol);

#endif
