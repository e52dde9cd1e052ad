/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which function a call instruction calls: see called_functions.c. */
#ifndef TRACER_TARGET_STACKS_CALLED_FUNCTIONS_H
#define TRACER_TARGET_STACKS_CALLED_FUNCTIONS_H

#include "target/target_state.h"

/* Addresses; 0: there is none. */
struct called_functions {
	uint64_t direct;  /* the target of a direct call */
	uint64_t slot;	  /* the GOT slot of the PLT stub there, or of a call without a stub */
	uint64_t by_slot; /* where the slot leads now */
};

/* Stores what the call in front of `return_address` leads to. */
void called_functions_find(const struct target *target, const struct space *space,
			   uint64_t return_address, struct called_functions *called);
/*
 * Returns true if the slot leads to the function whose name it has: it may have been changed since
 * the call.
 */
bool called_functions_slot_is_right(const struct space *space,
				    const struct called_functions *called);

#endif
