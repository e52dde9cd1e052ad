/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the instructions of a program (program.h). An operand is a register plus a number, which
 * instructions take as they are; so offsets of members cost no instruction.
 */
#ifndef TRACER_UNWIND_SCRIPT_FRAMES_CODE_H
#define TRACER_UNWIND_SCRIPT_FRAMES_CODE_H

#include "base/vec.h"
#include "unwind/script/program.h"

#include <stdbool.h>

struct script_operand {
	uint8_t base; /* register; SCRIPT_ZERO: the operand is a number */
	int64_t offset;
};

struct script_code {
	struct vec instructions; /* struct script_instruction */
	unsigned variables;	 /* the lowest register that holds a variable */
	unsigned next;		 /* the first register that is free for a temporary value */
	unsigned highest;	 /* what `next` has been at most */
	size_t label;		 /* the last instruction that a jump leads to */
	bool overflow;		 /* there are too many instructions or registers */
};

void code_init(struct script_code *code);
void code_deinit(struct script_code *code);
/* Returns the program, which the caller frees, and empties `code`. */
struct script_program *code_finish(struct script_code *code);

/* Returns a register for a variable of the program. */
uint8_t code_variable(struct script_code *code);
/* Returns a register for a temporary value. */
uint8_t code_temporary(struct script_code *code);
/*
 * Frees the temporary registers from `mark` on, a former value of code->next, but for the one of
 * the operand. Returns the operand, which may have moved into another register.
 */
struct script_operand code_keep(struct script_code *code, unsigned mark,
				struct script_operand operand);
/* Frees the registers of temporary values. */
void code_drop_temporaries(struct script_code *code);

static inline struct script_operand operand_number(int64_t number)
{
	return (struct script_operand){SCRIPT_ZERO, number};
}

static inline struct script_operand operand_register(uint8_t number)
{
	return (struct script_operand){number, 0};
}

static inline bool operand_is_number(struct script_operand operand)
{
	return operand.base == SCRIPT_ZERO;
}

/* Each returns where the result is. Numbers are computed at once. */
struct script_operand code_load(struct script_code *code, enum script_operation size,
				struct script_operand address);
struct script_operand code_compute(struct script_code *code, enum script_operation operation,
				   struct script_operand left, struct script_operand right);
/* Returns a register that holds the operand. */
uint8_t code_in_register(struct script_code *code, struct script_operand operand);
/* Puts the operand into a register of the caller's choice. */
void code_assign(struct script_code *code, uint8_t target, struct script_operand operand);

/* Writes a jump to a place that is not known yet. Returns its index for code_land(). */
size_t code_jump(struct script_code *code);
size_t code_jump_if_zero(struct script_code *code, struct script_operand condition);
/* Writes a jump back to the instruction at `index`. */
void code_jump_back(struct script_code *code, size_t index);
/* Returns the index of the next instruction, to which jumps may lead. */
size_t code_here(struct script_code *code);
/* Makes the jump at `index` lead to the next instruction. */
void code_land(struct script_code *code, size_t index);

/* Emits a frame of these words. */
void code_emit(struct script_code *code, const struct script_operand words[SCRIPT_FRAME_WORDS]);
/* Makes the operand the result with number `index`. */
void code_result(struct script_code *code, unsigned index, struct script_operand operand);
/* Ends the run. */
void code_end(struct script_code *code);

#endif
