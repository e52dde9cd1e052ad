/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data flow in one function: which of its calls by pointers may call the address that it has loaded
 * from a GOT slot.
 */
#ifndef TRACER_CODE_SLOT_FLOW_H
#define TRACER_CODE_SLOT_FLOW_H

#include "base/vec.h"
#include "code/relocate.h"
#include "unwind/eh_frame.h"

struct slot_flow;

/* `arch`: of the code. One object serves for many functions, one after the other. */
struct slot_flow *slot_flow_create(const struct arch *arch);
void slot_flow_destroy(struct slot_flow *flow); /* NULL is allowed */

/* Starts a function, and forgets the previous one. */
void slot_flow_begin(struct slot_flow *flow, const struct elf_file *file,
		     const struct eh_function *function);
/*
 * Adds an instruction of the function, decoded and as bytes; by ascending addresses. `clobbers`: it
 * calls something that may change all registers that a callee may change by the psABI. A function
 * of the same object may be known to change fewer (gcc -fipa-ra).
 */
void slot_flow_add(struct slot_flow *flow, const struct displaced *insn, const uint8_t *code,
		   bool clobbers);

/*
 * Notes that the instruction at `address` loads the GOT slot or, if `immediate`, has the function's
 * address as its immediate operand. Returns false if it is unknown what the instruction does with
 * it.
 */
bool slot_flow_load(struct slot_flow *flow, uint64_t address, bool immediate);
/*
 * Follows what was loaded by the instructions noted by slot_flow_load(), and forgets these. Appends
 * to `reached` (uint64_t), ascending, the addresses of the calls and jumps by a register or by way
 * of memory that may use the loaded address. Returns false if the limits of the analysis were
 * exceeded.
 */
bool slot_flow_run(struct slot_flow *flow, struct vec *reached);

#endif
