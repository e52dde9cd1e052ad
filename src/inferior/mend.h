/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings of a tracee's code that were cut into pieces are made whole. */
#ifndef TRACER_INFERIOR_MEND_H
#define TRACER_INFERIOR_MEND_H

#include "inferior/inferior.h"

/*
 * `thread`, at a clean stop, makes the calls; all others of its process must be stopped as well.
 * What cannot be mended stays as it is. 0, or what kept the thread from making any call
 * (remote_syscall()): another one may do.
 */
int mappings_mend(struct thread *thread);

#endif
