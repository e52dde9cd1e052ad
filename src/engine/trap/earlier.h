/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads in the handlers of tracers that have been killed. */
#ifndef TRACER_ENGINE_TRAP_EARLIER_H
#define TRACER_ENGINE_TRAP_EARLIER_H

#include "inferior/inferior.h"

/*
 * Lets all threads of the process of `thread`, which is at a clean stop and will be again, out of
 * the handlers that rescue_absorb() has told of. They take out breakpoints at the places of the
 * tracer that they belong to, and would take out ours there. After that, which makes it short, and
 * before the first breakpoint is planted. Some may stay there: nothing is waited for without end.
 */
void earlier_leave(struct thread *thread, const uint64_t *blocks, size_t count);

#endif
