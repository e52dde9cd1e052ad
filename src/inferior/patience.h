/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long a thread is waited for that does not stop. */
#ifndef TRACER_INFERIOR_PATIENCE_H
#define TRACER_INFERIOR_PATIENCE_H

#include "inferior/inferior.h"

/*
 * Whether a thread that should have stopped `waited` ns ago is in an uninterruptible sleep that may
 * last, and is to be left there.
 */
bool patience_is_over(const struct thread *thread, uint64_t waited);

#endif
