/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which function a call instruction calls: see called_functions.c. */
#ifndef TRACER_TARGET_CALLED_FUNCTIONS_H
#define TRACER_TARGET_CALLED_FUNCTIONS_H

#include "target/target_state.h"

enum { CALLED_FUNCTIONS = 2 };

/*
 * Stores what the call in front of `return_address` leads to: the target of a direct call, and
 * where the GOT slot leads of the PLT stub there, or of a call through a slot without a stub; 0:
 * none.
 */
void called_functions_find(const struct target *target, const struct space *space,
			   uint64_t return_address, uint64_t found[CALLED_FUNCTIONS]);

#endif
