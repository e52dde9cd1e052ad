/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See argument_code.h.
 *
 * Instructions are decoded where control may get, and nowhere else, so data between them does no
 * harm. A function begins where an entry of call-frame information begins, with the CFA a word
 * above the stack pointer: anything else is hand-written code, or a part that compilers have split
 * off and put elsewhere (gcc's .cold). Parts are found by the jumps that lead there. A jump out of
 * the known parts that leaves more on the stack than the return address can only be one to a part.
 * Otherwise it may be a call in the place of this function (a tail call), or a jump to a part
 * before anything was pushed. Another function has a symbol, or gets back here by no jump.
 */
#include "code/argument_code.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "code/tail_reach.h"
#include "object/elf.h"
#include "object/elf_address.h"
#include "unwind/eh_rows.h"
#include "unwind/unwind_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	BYTES_MAX = 1 << 15, /* of all parts: each instruction has a state of some hundred bytes */
	PARTS_MAX = 8,
	INSNS_MAX = 8192,
	OUTSIDE_MAX = 16 /* functions that are examined because this one jumps there */
};

/* ------------------------------------------------------------------ parts */

static struct code_part *part_at(const struct argument_code *code, size_t index)
{
	return vec_at(&code->parts, index);
}

const struct code_part *argument_code_part(const struct argument_code *code, uint64_t address)
{
	for (size_t i = 0; i < code->parts.count; i++) {
		const struct code_part *part = part_at(code, i);

		if (address - part->start < part->size)
			return part;
	}
	return NULL;
}

static void add_row(void *context, const struct eh_row *row)
{
	vec_push(context, row);
}

static bool find_function(const struct argument_code *code, uint64_t address,
			  struct eh_function *function)
{
	struct eh_unwind_row row;

	return unwind_table_row(unwind_table(code->file), address, &row, function) &&
	       !function->is_signal_frame && address - function->start < function->size;
}

static bool add_part(struct argument_code *code, const struct eh_function *function)
{
	struct code_part part = {
		.start = function->start, .size = function->size, .rows = VEC_OF(struct eh_row)};

	if (code->parts.count == PARTS_MAX || part.size > BYTES_MAX - code->bytes)
		return false;
	part.bytes = xmalloc((size_t)part.size);
	if (!elf_read(code->file, part.start, part.bytes, (size_t)part.size)) {
		free(part.bytes);
		return false;
	}
	eh_rows_for_each(code->file, function, add_row, &part.rows);
	code->bytes += (size_t)part.size;
	vec_push(&code->parts, &part);
	/* A jump back may lead there, too. */
	map_deinit(&code->outside);
	return true;
}

bool argument_code_add_part(struct argument_code *code, uint64_t address)
{
	struct eh_function function;

	return argument_code_part(code, address) ||
	       (find_function(code, address, &function) && add_part(code, &function));
}

/* Returns true if the CFA is a word above the stack pointer there, as at a function's beginning. */
static bool is_beginning(const struct arch *arch, const struct eh_row *row)
{
	return row && row->reg == arch->dwarf_sp && row->offset == (int64_t)arch->abi->word;
}

bool argument_code_init(struct argument_code *code, struct elf_file *file, struct decoder *decoder,
			uint64_t start)
{
	struct eh_function function;

	*code = (struct argument_code){.file = file,
				       .arch = elf_arch(file),
				       .decoder = decoder,
				       .parts = VEC_OF(struct code_part),
				       .insns = VEC_OF(struct code_insn)};
	if (!find_function(code, start, &function) || function.start != start)
		return false;
	code->lsda = function.lsda;
	return add_part(code, &function) &&
	       is_beginning(code->arch, argument_code_row(code, start));
}

void argument_code_deinit(struct argument_code *code)
{
	for (size_t i = 0; i < code->parts.count; i++) {
		free(part_at(code, i)->bytes);
		vec_deinit(&part_at(code, i)->rows);
	}
	vec_deinit(&code->parts);
	vec_deinit(&code->insns);
	map_deinit(&code->numbers);
	map_deinit(&code->outside);
}

const struct eh_row *argument_code_row(const struct argument_code *code, uint64_t address)
{
	const struct code_part *part = argument_code_part(code, address);

	for (size_t i = 0; part && i < part->rows.count; i++) {
		const struct eh_row *row = vec_at(&part->rows, i);

		if (address >= row->from && address < row->to)
			return row;
	}
	return NULL;
}

/*
 * Another function has a name, or is known to get back here in no way. (The name of a part that was
 * split off has a dot.)
 */
static bool look_for_way_back(const struct argument_code *code, uint64_t target)
{
	uint64_t offset;
	const char *name = elf_name_of_code(code->file, target, &offset);

	if (name && !offset && !strchr(name, '.'))
		return false;
	struct tail_reach *reach = tail_reach_of(code->file, code->arch, code->decoder, target,
						 BYTES_MAX);
	bool comes_back = false;

	for (size_t i = 0; i < code->parts.count; i++)
		comes_back |= tail_reach_has(reach, part_at(code, i)->start);
	tail_reach_destroy(reach);
	return comes_back;
}

bool argument_code_comes_back(struct argument_code *code, uint64_t target)
{
	uintptr_t answer = (uintptr_t)map_get(&code->outside, target);

	if (!answer && code->outside.count == OUTSIDE_MAX)
		return true;
	if (!answer) {
		answer = look_for_way_back(code, target) + 1U;
		map_put(&code->outside, target, (void *)answer);
	}
	return answer == 2;
}

/* ------------------------------------------------------------------ instructions */

static enum code_kind kind_of(const struct displaced *insn, const struct insn_change *change)
{
	if (change->ends)
		return CODE_END;
	if (insn->kind != DISPLACED_EMULATE)
		return CODE_ON;
	switch ((enum displaced_action)insn->action) {
	case ACTION_SKIP:
		return CODE_ON;
	case ACTION_JUMP:
		return CODE_JUMP;
	case ACTION_JUMP_IF:
	case ACTION_LOOP:
	case ACTION_JUMP_CXZ:
		return CODE_BRANCH;
	case ACTION_CALL:
		return CODE_CALL;
	case ACTION_CALL_OPERAND:
		return CODE_CALL_OPERAND;
	case ACTION_JUMP_OPERAND:
		return CODE_JUMP_OPERAND;
	case ACTION_RETURN:
		return CODE_END;
	}
	return CODE_END;
}

static bool decode(const struct argument_code *code, const uint8_t *bytes, size_t length,
		   uint64_t address, struct code_insn *insn)
{
	const struct arch *arch = code->arch;
	struct displaced displaced = {.length = 0};
	const int error = arch->displace(code->decoder, bytes, length, address, &displaced);
	struct insn_change change;

	/* Traps cannot be displaced, and nothing runs behind them. */
	if (error && !(arch->insn_change(bytes, length, &change) && change.ends))
		return false;
	if (error)
		displaced.length = 1;
	if (!displaced.length || !arch->insn_change(bytes, displaced.length, &change))
		return false;
	*insn = (struct code_insn){.address = address,
				   .length = displaced.length,
				   .kind = (uint8_t)kind_of(&displaced, &change),
				   .is_nothing = displaced.kind == DISPLACED_EMULATE &&
						 displaced.action == ACTION_SKIP,
				   .target = displaced.target,
				   .operand = displaced.operand,
				   .change = change};
	return true;
}

int argument_code_known(const struct argument_code *code, uint64_t address)
{
	return (int)(uintptr_t)map_get(&code->numbers, address) - 1;
}

int argument_code_at(struct argument_code *code, uint64_t address)
{
	const int known = argument_code_known(code, address);
	const struct code_part *part = argument_code_part(code, address);
	struct code_insn insn;

	if (known >= 0)
		return known;
	if (!part || code->insns.count == INSNS_MAX ||
	    !decode(code, part->bytes + (address - part->start),
		    (size_t)(part->size - (address - part->start)), address, &insn))
		return -1;
	vec_push(&code->insns, &insn);
	map_put(&code->numbers, address, (void *)(uintptr_t)code->insns.count);
	return (int)code->insns.count - 1;
}

int argument_code_thunk(const struct argument_code *code, uint64_t target)
{
	uint8_t bytes[16];
	struct code_insn load, end;

	if (!elf_read(code->file, target, bytes, sizeof bytes) ||
	    !decode(code, bytes, sizeof bytes, target, &load) || load.change.kind != CHANGE_LOAD ||
	    load.change.base != REG_SP || !load.change.is_exact || load.change.displacement ||
	    !decode(code, bytes + load.length, sizeof bytes - load.length, target + load.length,
		    &end) ||
	    end.kind != CODE_END)
		return -1;
	return load.change.to;
}
