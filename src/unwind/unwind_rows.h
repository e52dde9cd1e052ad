/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind rows: for each piece of code, the number of its unwind rule. 6 bytes a row: an address and
 * the number. This is the array that grows; unwind_table.h is the table of a file. See
 * unwind_rows.c.
 */
#ifndef TRACER_UNWIND_UNWIND_ROWS_H
#define TRACER_UNWIND_UNWIND_ROWS_H

#include "base/map.h"
#include "base/vec.h"
#include "unwind/eh_rows.h"
#include "unwind/unwind_rule.h"

/* Numbers of rules that every array has. */
enum { UNWIND_RULE_NONE, UNWIND_RULE_EXACT };

struct unwind_rows {
	uint64_t base;	   /* what `pcs` are relative to */
	uint32_t *pcs;	   /* where a row begins; it ends where the next one begins */
	uint16_t *numbers; /* of its rule */
	size_t count, capacity;
	struct vec rules;	 /* struct unwind_rule, by number */
	struct map rule_numbers; /* a rule as a word → its number */
	struct eh_interpreter *interpreter;
	struct eh_reader expressions; /* reads expressions while the interpreter runs */
	const struct eh_function *function;
};

/* `piece`: bytes of the file to read at once. */
void unwind_rows_init(struct unwind_rows *rows, const struct elf_file *file, uint64_t base,
		      size_t piece);
void unwind_rows_deinit(struct unwind_rows *rows);
/*
 * Appends the rows of a function, by ascending addresses, and a row without a rule where the
 * function ends. Appends at least one row, also if the function cannot be described.
 */
void unwind_rows_add(struct unwind_rows *rows, const struct eh_function *function);
/* Appends one row. */
void unwind_rows_push(struct unwind_rows *rows, uint32_t pc, uint16_t number);

/*
 * Returns the index of the last of `count` ascending addresses that is not above `pc`, or `count`
 * if there is none. Needs no C library.
 */
static inline size_t unwind_rows_find(const uint32_t *pcs, size_t count, uint32_t pc)
{
	size_t low = 0, length = count;

	if (!count || pcs[0] > pc)
		return count;
	while (length > 1) {
		size_t half = length / 2;

		low = pcs[low + half] <= pc ? low + half : low;
		length -= half;
	}
	return low;
}

#endif
