/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures what a pair of stops costs: the time from resuming a thread until wait(2) reports its
 * next breakpoint, when the thread has nothing to do in between: see calibrate.c.
 */
#ifndef TRACER_ENGINE_TRAP_CALIBRATE_H
#define TRACER_ENGINE_TRAP_CALIBRATE_H

#include "engine/core/overhead.h"

/*
 * Measures the costs of a pair of stops on a child of the tracer, in a few milliseconds. Returns
 * zeros if that fails; `processor` 0: the kernel does not tell how long a thread has run.
 */
struct stop_costs trap_calibrate(void);

#endif
