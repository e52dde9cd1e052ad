/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where code calls the function that a GOT slot leads to without a PLT stub: code built with
 * -fno-plt, by rustc for example, has "call *slot" in place of "call stub", or loads the slot into
 * a register and calls that.
 */
#ifndef TRACER_IMAGE_SLOT_CALLS_H
#define TRACER_IMAGE_SLOT_CALLS_H

#include "image/elf.h"

struct slot_call {
	const struct elf_slot *slot;
	uint64_t address; /* of the call or jump, in the file's own address space */
	bool certain;	  /* through the slot; otherwise through a pointer that may be from there */
};

/*
 * All such places, by slot in the order of elf_slots(), found when first asked; owned by the file.
 * Reads the whole of the code, so only to be asked where such slots matter. Who gets to such a
 * place compares where it leads to with what the slot holds.
 */
const struct slot_call *slot_calls(struct elf_file *file, struct decoder *decoder, size_t *count);

#endif
