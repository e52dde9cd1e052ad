/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The modules of a process as its mappings show them: see mapped_modules.c. */
#ifndef TRACER_TARGET_MAPPED_MODULES_H
#define TRACER_TARGET_MAPPED_MODULES_H

#include "target/target_state.h"

/*
 * Makes the space of a process with the list of its modules, without changing anything in the
 * process. `thread` need not be stopped. Returns 0 or -errno, for which mapped_files_reason() has a
 * text. The caller frees process->space->modules by module_list_destroy() before the space goes.
 */
int mapped_modules_read(struct target *target, struct thread *thread);
/* Makes the list anew for the space that the process has, as other files are mapped now. */
int mapped_modules_again(struct target *target, struct thread *thread);

#endif
