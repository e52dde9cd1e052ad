/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processors of this machine. */
#ifndef TRACER_TRACEE_PROCESSORS_H
#define TRACER_TRACEE_PROCESSORS_H

#include <stdbool.h>

/* Number of processors that the tracer may use, and probably its tracees too. */
int processors_count(void);

/*
 * Returns true if there is a processor that nothing wants to use at this moment: another process
 * can work beside this one without taking anything from the target. False if that is not known.
 */
bool processors_one_is_idle(void);

#endif
