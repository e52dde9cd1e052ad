/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether something is code, and a process's alone, so that writing there changes nobody else's. */
#ifndef TRACER_ENGINE_TRAP_OWN_TEXT_H
#define TRACER_ENGINE_TRAP_OWN_TEXT_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct space;

/* The private executable mappings of an address space that were seen so far. */
struct own_text {
	struct vec ranges;
};

void own_text_init(struct own_text *text);
void own_text_deinit(struct own_text *text);

/*
 * False when `address` lies in a shared mapping, one that cannot be executed, or in none. `tid`: a
 * task of the space; its mappings are read when the address is in no range that is known.
 */
bool own_text_has(struct own_text *text, struct space *space, pid_t tid, uint64_t address);

/* Some memory may have been unmapped, and other memory may be there now. */
void own_text_forget(struct own_text *text);

#endif
