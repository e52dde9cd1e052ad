/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program that a frame description is compiled into: instructions over registers of 64 bits,
 * which read the memory of a process and emit the frames of one of its threads. It has no pointers,
 * so it can be copied into a process. The executor (executor.h) runs it.
 *
 * The second operand of an instruction is always register `right` plus `value`. Register 0 is
 * always zero, so the operand may be a plain number or a plain register.
 */
#ifndef TRACER_UNWIND_SCRIPT_PROGRAM_H
#define TRACER_UNWIND_SCRIPT_PROGRAM_H

#include <stdint.h>

enum { SCRIPT_INSTRUCTIONS_MAX = 1024, SCRIPT_REGISTERS = 192 };

enum script_operation {
	SCRIPT_SET, /* target = operand */
	/* target = the number at address left + value; the first four are zero-extended */
	SCRIPT_LOAD8,
	SCRIPT_LOAD16,
	SCRIPT_LOAD32,
	SCRIPT_LOAD64,
	SCRIPT_LOAD_I32, /* sign-extended */
	/* target = left OPERATION operand; comparisons are signed and yield 0 or 1 */
	SCRIPT_ADD,
	SCRIPT_SUB,
	SCRIPT_MUL,
	SCRIPT_DIV, /* signed; by zero yields 0 */
	SCRIPT_AND,
	SCRIPT_OR,
	SCRIPT_SHL, /* by 64 or more yields 0 */
	SCRIPT_SHR, /* unsigned; by 64 or more yields 0 */
	SCRIPT_EQ,
	SCRIPT_NE,
	SCRIPT_LT,
	SCRIPT_LE,
	SCRIPT_JUMP,	  /* to instruction `value` */
	SCRIPT_JUMP_ZERO, /* to instruction `value` if left is zero */
	SCRIPT_EMIT,	  /* a frame from the registers left … left + SCRIPT_FRAME_WORDS - 1 */
	SCRIPT_RESULT,	  /* result number `value` = left */
	SCRIPT_END,
	SCRIPT_OPERATIONS
};

struct script_instruction {
	uint8_t operation; /* enum script_operation */
	uint8_t target, left, right;
	int32_t value;
};

/* Registers that are set before the first instruction. All others are zero then. */
enum {
	SCRIPT_ZERO,
	SCRIPT_THREAD_POINTER, /* base of fs on x86_64 */
	SCRIPT_TID,	       /* the thread's number in its own pid namespace, or 0 */
	SCRIPT_CODE,	       /* this and the next four: words of a frame that is decoded */
	SCRIPT_AT,
	SCRIPT_IDENTITY,
	SCRIPT_VALUES = SCRIPT_IDENTITY + 3, /* from here on: the values of the description */
	SCRIPT_LOCALS = SCRIPT_VALUES + 88   /* from here on: what the program itself computes */
};

enum { SCRIPT_FRAME_WORDS = 6 };

/*
 * A frame as the walk finds it. Two frames with equal words are at the same line of the same
 * function: identity tells code that was freed from other code that is at its address now.
 */
struct raw_frame {
	uint64_t code;	   /* address of the VM's object for a function */
	uint64_t position; /* in that code, in the VM's own unit */
	uint64_t identity[3];
	uint64_t entry; /* not 0: this frame was entered from C; frames below are other C frames' */
};

struct script_program {
	uint32_t count;
	struct script_instruction instructions[];
};

#endif
