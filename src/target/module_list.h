/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of the modules of a space, as a whole: see module_list.c. */
#ifndef TRACER_TARGET_MODULE_LIST_H
#define TRACER_TARGET_MODULE_LIST_H

#include "target/target_state.h"

struct modules *module_list_create(void);
/* NULL is allowed. */
void module_list_destroy(struct modules *modules);
/* For a child that was forked: it has the same modules, and what was not done yet in its parent. */
struct modules *module_list_clone(struct target *target, const struct modules *modules);

#endif
