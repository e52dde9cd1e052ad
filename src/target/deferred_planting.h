/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that are planted at later stops of a process: see deferred_planting.c. */
#ifndef TRACER_TARGET_DEFERRED_PLANTING_H
#define TRACER_TARGET_DEFERRED_PLANTING_H

#include "target/target_state.h"

/* Plants what waits. If that is much, none of it now: the rest follows at later stops. */
void deferred_start(struct target *target, struct thread *thread);
/* Plants for PAUSE_NS: the piece of WORK_PLANTING; `context` is the target. */
void deferred_planting_piece(void *context, struct thread *thread);

#endif
