/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of functions in the trace: their symbols, or with -C their names in the source. */
#ifndef TRACER_TARGET_SHOWN_NAMES_H
#define TRACER_TARGET_SHOWN_NAMES_H

#include "base/vec.h"

struct module;
struct target;

/*
 * Notes that `found` (struct match) is traced in the module: names that several of these functions
 * share are shown with parameters from now on. To be called before shown_names_function() is called
 * for them.
 */
void shown_names_note(const struct target *target, struct module *module, const struct vec *found);
void shown_names_deinit(struct module *module);

/* Returns the name of a function that `module` (or NULL) calls or defines; to be freed. */
char *shown_names_function(const struct target *target, const struct module *module,
			   const char *symbol);

#endif
