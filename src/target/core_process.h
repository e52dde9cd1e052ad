/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process of a core dump, so that its stacks can be walked: see core_process.c. */
#ifndef TRACER_TARGET_CORE_PROCESS_H
#define TRACER_TARGET_CORE_PROCESS_H

#include "object/core_file.h"
#include "target/target_state.h"

/*
 * Makes the process of a core dump, with its space, its modules, and a thread for each one in the
 * core dump. They are among target->tracees, but no task must be looked for by their numbers. Files
 * that were mapped are attached to `core`, which must outlive the process. Those that cannot be
 * used are reported. NULL: there is no thread in it.
 */
struct process *core_process_create(struct target *target, struct core_file *core);
void core_process_destroy(struct target *target, struct process *process);

#endif
