/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells whether an address is in private code of one process, so that a write there changes no
 * other.
 */
#ifndef TRACER_ENGINE_TRAP_OWN_TEXT_H
#define TRACER_ENGINE_TRAP_OWN_TEXT_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct space;

/* The private executable mappings of an address space, as last read. */
struct own_text {
	struct vec ranges;
};

void own_text_init(struct own_text *text);
void own_text_deinit(struct own_text *text);

/*
 * Returns false if `address` is in a shared mapping, in one that is not executable, or in none.
 * `tid`: a task of the space, whose mappings are read if no known range contains the address.
 */
bool own_text_has(struct own_text *text, struct space *space, pid_t tid, uint64_t address);

/* Forgets all ranges: memory may have been unmapped and replaced. */
void own_text_forget(struct own_text *text);

#endif
