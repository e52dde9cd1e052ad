/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stacks of a space's threads that were named: see known_stacks.c. */
#ifndef TRACER_TARGET_STACKS_KNOWN_STACKS_H
#define TRACER_TARGET_STACKS_KNOWN_STACKS_H

#include "target/stacks/raw_stack.h"

/*
 * Returns a key of all that the names and the order of the frames depend on; 0: the stack is to be
 * named whenever it is met.
 */
uint64_t known_stacks_key(const struct raw_stack *stack);
/* Returns the number in the stack table that the stack with this key has; 0: it is not known. */
uint32_t known_stacks_find(const struct modules *modules, uint64_t key);
void known_stacks_add(struct modules *modules, uint64_t key, uint32_t number);
/* A module is gone, and what is loaded at its addresses next has other names. */
void known_stacks_forget(struct modules *modules);

#endif
