/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures what a pair of stops costs: the time from resuming a thread until wait(2) reports its
 * next breakpoint, when the thread has nothing to do in between: see calibrate.c.
 */
#ifndef TRACER_ENGINE_TRAP_CALIBRATE_H
#define TRACER_ENGINE_TRAP_CALIBRATE_H

#include "engine/trap/trap.h"

/*
 * Measures the overhead of a pair of stops on a child of the tracer, in a few milliseconds.
 * Returns ns, or 0 if that fails.
 */
uint64_t trap_calibrate(void);

#endif
