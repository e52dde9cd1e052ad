/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs call-frame instructions: where the caller's frame and registers are, for each instruction of
 * a function. See eh_rows.c.
 */
#ifndef TRACER_UNWIND_EH_ROWS_H
#define TRACER_UNWIND_EH_ROWS_H

#include "unwind/eh_frame.h"
#include "unwind/eh_reader.h"

/* Registers by their DWARF numbers. Those with higher numbers (vector, segment) are left out. */
enum { EH_REGISTERS = 17 };

/* How a register of the caller is found. */
enum eh_rule_kind {
	EH_SAME,	  /* it is unchanged; also if nothing is said about it */
	EH_UNDEFINED,	  /* it is lost */
	EH_AT_CFA,	  /* it is in memory at CFA + value */
	EH_CFA_PLUS,	  /* it is CFA + value */
	EH_REGISTER,	  /* it is in register `value` */
	EH_AT_EXPRESSION, /* it is in memory, at the address that an expression computes */
	EH_IS_EXPRESSION, /* it is what an expression computes */
	EH_REGISTER_PLUS, /* of the CFA only: register `reg` + value */
};

struct eh_rule {
	uint8_t kind;
	/* A distance; or the address of an expression: its length (ULEB128), then its bytes. */
	int64_t value;
};

/* How to get from a frame to its caller, for the code from `from` up to `to`. */
struct eh_unwind_row {
	uint64_t from, to;
	struct eh_rule cfa; /* EH_REGISTER_PLUS or EH_IS_EXPRESSION; EH_UNDEFINED: not known */
	uint64_t cfa_register;
	struct eh_rule registers[EH_REGISTERS];
};

/* Returns false to end the visit. */
typedef bool eh_unwind_row_visitor(void *context, const struct eh_unwind_row *row);

/*
 * Runs the instructions of one function after the other. Keeps the result of the CIE that it has
 * run last, because the functions of a file share few of them.
 */
struct eh_interpreter;

/* `piece`: bytes of the file to read at once, at least 16. */
struct eh_interpreter *eh_interpreter_create(const struct elf_file *file, size_t piece);
void eh_interpreter_destroy(struct eh_interpreter *interpreter);
/*
 * Visits the rows of a function by ascending addresses. A damaged row ends the visit. Returns how
 * many instructions were run, which is bounded.
 */
unsigned eh_unwind_rows_for_each(struct eh_interpreter *interpreter,
				 const struct eh_function *function, eh_unwind_row_visitor *visit,
				 void *context);

/*
 * Visits the rows of a function by ascending addresses. Rows whose CFA is not a register plus an
 * offset are left out; a damaged row ends the visit.
 */
void eh_rows_for_each(const struct elf_file *file, const struct eh_function *function,
		      eh_row_visitor *visit, void *context);

#endif
