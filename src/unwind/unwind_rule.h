/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind rules: what most rows of call-frame information say, in 8 bytes, so that the thousands of
 * rows of a file share some hundred rules. See unwind_rule.c.
 */
#ifndef TRACER_UNWIND_UNWIND_RULE_H
#define TRACER_UNWIND_UNWIND_RULE_H

#include "unwind/eh_rows.h"

/* How the CFA is computed. sp, bp: the frame's stack pointer and frame pointer. */
enum unwind_cfa {
	UNWIND_NONE,  /* no row describes the code */
	UNWIND_EXACT, /* the rule says too little: only the row itself tells */
	UNWIND_OUTER, /* no caller: the return address is undefined */
	UNWIND_BY_SP, /* sp + offset */
	UNWIND_BY_BP, /* bp + offset */
	UNWIND_AT_BP, /* *(bp + offset): a function that aligns its stack */
	UNWIND_AT_SP, /* *(sp + offset) + addend */
	/* sp + offset, and a word more from byte `addend` of each 16 bytes of code: a PLT */
	UNWIND_BY_STUB
};

/* How the caller's frame pointer is found. */
enum unwind_bp {
	UNWIND_BP_SAME,
	UNWIND_BP_AT_CFA, /* in memory at CFA + bp_offset */
	UNWIND_BP_AT_BP	  /* in memory at bp + bp_offset */
};

/*
 * The return address is the word below the CFA, and the CFA is the caller's stack pointer. A rule
 * does not say where other registers are.
 */
struct unwind_rule {
	uint8_t cfa : 4;	     /* enum unwind_cfa */
	uint8_t bp : 2;		     /* enum unwind_bp */
	uint8_t is_signal_frame : 1; /* the frame was made by the kernel: see struct eh_function */
	uint8_t addend;
	int16_t bp_offset;
	int32_t offset;
};

/* Makes the rule of a row. `reader` reads the row's file, for its expressions. */
struct unwind_rule unwind_rule_of(const struct eh_unwind_row *row,
				  const struct eh_function *function, struct eh_reader *reader);

#endif
