/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evaluates the DWARF expressions of call-frame instructions: see eh_expression.c. */
#ifndef TRACER_UNWIND_EH_EXPRESSION_H
#define TRACER_UNWIND_EH_EXPRESSION_H

#include "unwind/eh_reader.h"

/* What an expression may ask of the frame that it belongs to. */
struct eh_environment {
	const uint64_t *registers; /* by DWARF number */
	uint32_t known;		   /* set of the registers whose values are known */
	unsigned word;		   /* bytes of an address */
	/* Reads a word of 1, 2, 4 or 8 bytes of the process. Returns false if it is unreadable. */
	bool (*read)(void *context, uint64_t address, unsigned size, uint64_t *value);
	void *context;
};

/*
 * Evaluates the expression at `address` of the reader's file (its length, then its bytes).
 * `initial`: what is on the stack at the beginning (the CFA, for a register's rule), or NULL. 0
 * with the result; -ENODATA if the value of a register is not known; -EFAULT if memory is
 * unreadable; -EINVAL if the expression is damaged, endless or of an unknown kind.
 */
int eh_evaluate(struct eh_reader *reader, uint64_t address,
		const struct eh_environment *environment, const uint64_t *initial,
		uint64_t *result);

/* The operations that unwind_rule.c recognises in an expression. */
enum {
	DW_DEREF = 0x06,
	DW_AND = 0x1a,
	DW_PLUS = 0x22,
	DW_PLUS_CONSTANT = 0x23,
	DW_SHIFT_LEFT = 0x24,
	DW_GREATER_EQUAL = 0x2a,
	DW_LITERAL = 0x30,	 /* … 0x4f: the numbers 0 … 31 */
	DW_BASE_REGISTER = 0x70, /* … 0x8f: a register's value plus a SLEB128 */
	DW_RANGE = 32
};

#endif
