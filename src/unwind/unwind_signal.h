/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signal frames that no call-frame information describes: see unwind_signal.c. */
#ifndef TRACER_UNWIND_UNWIND_SIGNAL_H
#define TRACER_UNWIND_UNWIND_SIGNAL_H

#include "unwind/unwind_step.h"

/*
 * If the pc is at the code by which a signal handler returns to the kernel, makes the registers
 * those that the signal interrupted and returns true. All of them are known then.
 */
bool unwind_step_from_signal(struct unwind_view *view, struct unwind_registers *registers,
			     struct unwind_found *found);

#endif
