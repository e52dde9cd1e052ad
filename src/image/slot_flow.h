/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where what a function has loaded from a GOT slot may get to, of its calls by pointers: which of
 * them may be calls of the function whose address it is.
 */
#ifndef TRACER_IMAGE_SLOT_FLOW_H
#define TRACER_IMAGE_SLOT_FLOW_H

#include "base/vec.h"
#include "image/eh_frame.h"
#include "image/relocate.h"

struct slot_flow;

/* `arch` as of the code. Made for one function after the other: slot_flow_begin(). */
struct slot_flow *slot_flow_create(const struct arch *arch);
void slot_flow_destroy(struct slot_flow *flow); /* NULL is fine */

/* Forgets the function before. */
void slot_flow_begin(struct slot_flow *flow, const struct elf_file *file,
		     const struct eh_function *function);
/*
 * Its instructions, by ascending addresses: `insn` and its bytes. `clobbers`: a call of something
 * that is free to change all registers that a callee may change by the psABI, which a function of
 * the same object is not (gcc -fipa-ra).
 */
void slot_flow_add(struct slot_flow *flow, const struct displaced *insn, const uint8_t *code,
		   bool clobbers);

/*
 * The instruction at `address` loads the slot, or if `immediate` has what would be in a slot in
 * itself. False: what becomes of it cannot be told.
 */
bool slot_flow_load(struct slot_flow *flow, uint64_t address, bool immediate);
/*
 * Works out where what slot_flow_load() was told of gets to, and forgets that. Onto the end of
 * `reached` (uint64_t): the addresses of calls and jumps by a register, or by way of memory, that
 * may be by it, ascending. False: it took too long.
 */
bool slot_flow_run(struct slot_flow *flow, struct vec *reached);

#endif
