/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of one function for argument_flow.c: its parts, decoded instruction by instruction, as
 * control may reach them. See argument_code.c.
 */
#ifndef TRACER_CODE_ARGUMENT_CODE_H
#define TRACER_CODE_ARGUMENT_CODE_H

#include "base/map.h"
#include "base/vec.h"
#include "code/relocate.h"
#include "unwind/eh_frame.h"

enum code_kind {
	CODE_ON,	   /* control goes on behind it */
	CODE_BRANCH,	   /* or to `target` */
	CODE_JUMP,	   /* only to `target` */
	CODE_JUMP_OPERAND, /* to where `operand` says */
	CODE_CALL,
	CODE_CALL_OPERAND,
	CODE_END /* nowhere in this function */
};

struct code_insn {
	uint64_t address, target;
	uint8_t length;
	uint8_t kind;	 /* enum code_kind */
	bool is_nothing; /* nop, or the mark of a jump's target */
	struct displaced_operand operand;
	struct insn_change change;
};

/* Code that one entry of call-frame information describes: the function, or a part split off. */
struct code_part {
	uint64_t start, size;
	uint8_t *bytes;	 /* owned */
	struct vec rows; /* struct eh_row, ascending */
};

struct argument_code {
	struct elf_file *file;
	const struct arch *arch;
	struct decoder *decoder; /* the caller's */
	struct vec parts;	 /* struct code_part; the first is the function */
	struct vec insns;	 /* struct code_insn, in no order */
	struct map numbers;	 /* address → index in `insns`, plus 1 */
	struct map outside;	 /* target of a jump → whether it comes back, plus 1 */
	size_t bytes;		 /* of all parts */
	uint64_t lsda;		 /* of the function: it has landing pads; 0: it has none */
};

/*
 * Begins with the function that starts at `start`, all in the file's own address space. Returns
 * false if no call-frame information describes a function that begins there in the usual way, or if
 * it is too large. To be ended with argument_code_deinit() in any case.
 */
bool argument_code_init(struct argument_code *code, struct elf_file *file, struct decoder *decoder,
			uint64_t start);
void argument_code_deinit(struct argument_code *code);

/* Returns the part that contains the address, or NULL. */
const struct code_part *argument_code_part(const struct argument_code *code, uint64_t address);
/*
 * Adds the part that contains the address. Returns false if there is none, or if that is too much.
 */
bool argument_code_add_part(struct argument_code *code, uint64_t address);
/*
 * A jump leaves the parts for `target`, with nothing but the return address on the stack. Returns
 * true if that may be a part of this function, false if it is another function, which is called in
 * the place of this one.
 */
bool argument_code_comes_back(struct argument_code *code, uint64_t target);

/* Returns the number of the instruction at an address of the parts; -1: none can be decoded. */
int argument_code_at(struct argument_code *code, uint64_t address);
/* The same for an instruction that was decoded already; -1: it was not. */
int argument_code_known(const struct argument_code *code, uint64_t address);
static inline const struct code_insn *argument_code_insn(const struct argument_code *code,
							 int number)
{
	return vec_at(&code->insns, (size_t)number);
}

/* Returns the row of call-frame information for an address in the parts, or NULL. */
const struct eh_row *argument_code_row(const struct argument_code *code, uint64_t address);

/*
 * If a call of `target` only loads its own return address into a register, as 32-bit code does for
 * the sake of position independence, returns the register; else -1.
 */
int argument_code_thunk(const struct argument_code *code, uint64_t target);

#endif
