/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is loaded in a space, from exec or attach to exit: see modules.c. */
#ifndef TRACER_TARGET_MODULES_H
#define TRACER_TARGET_MODULES_H

#include "target/target_state.h"

/*
 * Reads a program for the first time: makes its space, finds what is loaded, and plants what the
 * filters ask for. `thread` is at a safe stop. `at_exec`: the dynamic linker has not run yet.
 * Returns 0, or -errno after the reason was listed; the process then runs untraced.
 */
int modules_start(struct target *target, struct thread *thread, bool at_exec);
/* Reads the linker's list again. `thread` has stopped at r_brk. */
void modules_update(struct target *target, struct thread *thread);

#endif
