/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A step of a walk through code that no call-frame information describes: see unwind_guess.c. */
#ifndef TRACER_UNWIND_UNWIND_GUESS_H
#define TRACER_UNWIND_UNWIND_GUESS_H

#include "unwind/unwind_step.h"

/*
 * Like the steps in unwind_step.h, without call-frame information. `is_call`: the frame's pc is a
 * return address. *is_certain: the caller is as sure as one found by a row; else it is a guess.
 * -ENOENT if no caller is plausible; -ECHILD if the frame seems to be the outermost one.
 */
int unwind_step_by_guess(struct unwind_view *view, bool is_call, struct unwind_registers *registers,
			 struct unwind_found *found, bool *is_certain);

#endif
