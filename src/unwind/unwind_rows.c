/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes unwind rows of call-frame information.
 *
 * Many rows of call-frame information differ only in registers that the rules leave out, and each
 * push of a function makes one. Neighbours with the same rule become one row.
 *
 * A number has 16 bits. The largest programs have some thousand rules; if a file has more than
 * fit, the rows with further ones refer to UNWIND_RULE_EXACT, which is always right, only slow.
 */
#include "unwind/unwind_rows.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROWS = 256, RULES_MAX = UINT16_MAX, EXPRESSION_PIECE = 128 };

_Static_assert(sizeof(struct unwind_rule) == sizeof(uint64_t), "a rule is a key of a map");

void unwind_rows_init(struct unwind_rows *rows, const struct elf_file *file, uint64_t base,
		      size_t piece)
{
	static const struct unwind_rule first[] = {
		[UNWIND_RULE_NONE] = {.cfa = UNWIND_NONE},
		[UNWIND_RULE_EXACT] = {.cfa = UNWIND_EXACT},
	};

	*rows = (struct unwind_rows){.base = base, .rules = VEC_OF(struct unwind_rule)};
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		vec_push(&rows->rules, &first[i]);
	rows->interpreter = eh_interpreter_create(file, piece);
	eh_reader_init(&rows->expressions, file, EXPRESSION_PIECE);
}

void unwind_rows_deinit(struct unwind_rows *rows)
{
	free(rows->pcs);
	free(rows->numbers);
	vec_deinit(&rows->rules);
	map_deinit(&rows->rule_numbers);
	eh_interpreter_destroy(rows->interpreter);
	eh_reader_deinit(&rows->expressions);
}

void unwind_rows_push(struct unwind_rows *rows, uint32_t pc, uint16_t number)
{
	if (rows->count == rows->capacity) {
		rows->capacity = rows->capacity ? 2 * rows->capacity : FIRST_ROWS;
		rows->pcs = xreallocarray(rows->pcs, rows->capacity, sizeof *rows->pcs);
		rows->numbers = xreallocarray(rows->numbers, rows->capacity, sizeof *rows->numbers);
	}
	rows->pcs[rows->count] = pc;
	rows->numbers[rows->count++] = number;
}

static uint16_t number_of(struct unwind_rows *rows, const struct unwind_rule *rule)
{
	uint64_t key;

	if (rule->cfa == UNWIND_NONE)
		return UNWIND_RULE_NONE;
	memcpy(&key, rule, sizeof key);
	size_t number = (size_t)(uintptr_t)map_get(&rows->rule_numbers, key);

	if (number)
		return (uint16_t)number;
	if (rows->rules.count == RULES_MAX)
		return UNWIND_RULE_EXACT;
	number = rows->rules.count;
	vec_push(&rows->rules, rule);
	map_put(&rows->rule_numbers, key, (void *)(uintptr_t)number);
	return (uint16_t)number;
}

static bool add_row(void *context, const struct eh_unwind_row *row)
{
	struct unwind_rows *rows = context;
	struct unwind_rule rule = unwind_rule_of(row, rows->function, &rows->expressions);
	uint16_t number = number_of(rows, &rule);
	uint64_t pc = row->from - rows->base;

	if (pc > UINT32_MAX)
		return false;
	/* The last row is the one in front, or the mark of the end that it has left there. */
	if (rows->numbers[rows->count - 1] != number)
		unwind_rows_push(rows, (uint32_t)pc, number);
	return true;
}

void unwind_rows_add(struct unwind_rows *rows, const struct eh_function *function)
{
	uint64_t start = function->start - rows->base;
	uint64_t end = start + function->size;
	size_t first = rows->count;

	rows->function = function;
	unwind_rows_push(rows, start < UINT32_MAX ? (uint32_t)start : UINT32_MAX, UNWIND_RULE_NONE);
	if (start < UINT32_MAX)
		eh_unwind_rows_for_each(rows->interpreter, function, add_row, rows);
	/* The first row has taken the place of the one that was only there to begin with. */
	if (rows->count - first > 1 && rows->pcs[first + 1] == rows->pcs[first]) {
		memmove(rows->pcs + first, rows->pcs + first + 1,
			(rows->count - first - 1) * sizeof *rows->pcs);
		memmove(rows->numbers + first, rows->numbers + first + 1,
			(rows->count - first - 1) * sizeof *rows->numbers);
		rows->count--;
	}
	if (start < end && rows->numbers[rows->count - 1] != UNWIND_RULE_NONE)
		unwind_rows_push(rows, end < UINT32_MAX ? (uint32_t)end : UINT32_MAX,
				 UNWIND_RULE_NONE);
}
