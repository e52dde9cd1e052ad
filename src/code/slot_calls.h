/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where code calls the function that a GOT slot points to, without a PLT stub. Code built
 * with -fno-plt, by rustc for example, has "call *slot" in place of "call stub", or loads the GOT
 * slot into a register and calls that.
 */
#ifndef TRACER_CODE_SLOT_CALLS_H
#define TRACER_CODE_SLOT_CALLS_H

#include "object/elf.h"

struct slot_call {
	const struct got_slot *slot;
	uint64_t address; /* of the call or jump, in the file's own address space */
	/* through the GOT slot; otherwise by a pointer that may have been loaded from it */
	bool certain;
};

/*
 * Returns all such places, sorted by GOT slot in the order of elf_got_slots() and then by address.
 * They are searched for at the first call; the file owns them. The search reads all code of the
 * file, so it is to be called only where such GOT slots matter. When a thread reaches a place that
 * is not certain, the caller has to compare the target of the call with the contents of the GOT
 * slot.
 */
const struct slot_call *slot_calls(struct elf_file *file, struct decoder *decoder, size_t *count);

#endif
