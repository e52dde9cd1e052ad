/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One step of a walk by call-frame information.
 *
 * A rule needs sp and bp and tells no other register, which is enough for nearly all code. A row
 * tells every register, and takes some microseconds, as it is decoded at each step.
 */
#include "unwind/unwind_step.h"

#include "unwind/eh_expression.h"
#include "unwind/rule_step.h"

#include <errno.h>
#include <string.h>

static bool is_argument(const struct arch *arch, uint8_t general)
{
	bool is_one = false;

	for (size_t i = 0; i < sizeof arch->syscall_arg; i++)
		is_one |= arch->syscall_arg[i] == general;
	return is_one;
}

void unwind_registers_load(struct unwind_registers *to, const struct arch *arch,
			   const struct regs *from)
{
	const bool is_in_call = from->syscall != UINT64_MAX;

	*to = (struct unwind_registers){0};
	for (unsigned i = 0; i < arch->dwarf_return; i++) {
		const uint8_t general = arch->dwarf_general[i];

		if (from->is_partial && i != arch->dwarf_sp &&
		    !(is_in_call && is_argument(arch, general)))
			continue;
		to->values[i] = from->r[general];
		to->known |= UINT32_C(1) << i;
	}
	to->values[arch->dwarf_return] = from->pc;
	to->known |= UINT32_C(1) << arch->dwarf_return;
}

static uint64_t wrap(const struct unwind_view *view, uint64_t address)
{
	return view->arch->abi->word == 4 ? (uint32_t)address : address;
}

static bool is_popped(const struct unwind_view *view, const struct unwind_registers *registers,
		      uint64_t cfa, uint64_t place)
{
	const uint8_t sp = view->arch->dwarf_sp;

	return unwind_registers_have(registers, UINT32_C(1) << sp) &&
	       rule_is_popped(registers->values[sp], cfa, place);
}

/* ------------------------------------------------------------------ by a rule */

/* The `read` function of a struct rule_memory. */
static bool read_rule_word(void *context, uint64_t address, uint64_t *word)
{
	return unwind_view_word(context, address, word);
}

int unwind_step_by_rule(struct unwind_view *view, const struct unwind_rule *rule,
			struct unwind_registers *registers, struct unwind_found *found)
{
	const struct arch *arch = view->arch;
	const struct rule_memory memory = {read_rule_word, view, arch->abi->word};
	struct rule_frame frame = {.pc = registers->values[arch->dwarf_return],
				   .sp = registers->values[arch->dwarf_sp],
				   .bp = registers->values[arch->dwarf_bp],
				   .has_bp = registers->known >> arch->dwarf_bp & 1};
	uint64_t place;
	const int error = rule_step(rule, &memory, &frame, &place);

	if (error)
		return error;
	registers->values[arch->dwarf_sp] = frame.sp;
	registers->values[arch->dwarf_return] = frame.pc;
	registers->values[arch->dwarf_bp] = frame.bp;
	registers->known = UINT32_C(1) << arch->dwarf_sp | UINT32_C(1) << arch->dwarf_return |
			   (uint32_t)frame.has_bp << arch->dwarf_bp;
	*found = (struct unwind_found){frame.sp, place, rule->is_signal_frame,
				       rule->is_signal_frame};
	return 0;
}

/* ------------------------------------------------------------------ by a row */

struct row_step {
	struct unwind_view *view;
	struct eh_reader *expressions;
	const struct unwind_registers *old;
	uint64_t cfa;
	uint64_t place; /* where the register that was found last was */
	bool is_signal_frame;
};

static bool read_word(void *context, uint64_t address, unsigned size, uint64_t *value)
{
	struct unwind_view *view = context;

	return unwind_memory_read(&view->memory, address, size, value);
}

static int evaluate(const struct row_step *step, uint64_t expression, const uint64_t *initial,
		    uint64_t *result)
{
	const struct eh_environment environment = {.registers = step->old->values,
						   .known = step->old->known,
						   .word = step->view->arch->abi->word,
						   .read = read_word,
						   .context = step->view};

	return eh_evaluate(step->expressions, expression, &environment, initial, result);
}

static int load(struct row_step *step, uint64_t address, uint64_t *value)
{
	step->place = wrap(step->view, address);
	return unwind_view_word(step->view, step->place, value) ? 0 : -EFAULT;
}

/* The caller's register is one of the frame's. */
static int keep(const struct row_step *step, uint64_t number, uint64_t *value)
{
	if (number >= EH_REGISTERS || !(step->old->known >> number & 1))
		return -ENODATA;
	*value = step->old->values[number];
	return 0;
}

/* Finds the register `number` by its rule. -ENODATA: its value is not known. */
static int find_register(struct row_step *step, const struct eh_rule *rule, unsigned number,
			 uint64_t *value)
{
	const struct unwind_registers *old = step->old;
	uint64_t distance = (uint64_t)rule->value, address;
	int error;

	step->place = 0;
	switch ((enum eh_rule_kind)rule->kind) {
	case EH_SAME:
		return keep(step, number, value);
	case EH_REGISTER:
		return keep(step, distance, value);
	case EH_AT_CFA:
		return load(step, step->cfa + distance, value);
	case EH_CFA_PLUS:
		*value = wrap(step->view, step->cfa + distance);
		return 0;
	case EH_AT_EXPRESSION:
		error = evaluate(step, distance, &step->cfa, &address);
		if (error)
			return error;
		if (!step->is_signal_frame && is_popped(step->view, old, step->cfa, address))
			return keep(step, number, value);
		return load(step, address, value);
	case EH_IS_EXPRESSION:
		return evaluate(step, distance, &step->cfa, value);
	default:
		return -ENODATA;
	}
}

static int find_row_cfa(struct row_step *step, const struct eh_unwind_row *row)
{
	uint64_t number = row->cfa_register;

	if (row->cfa.kind == EH_IS_EXPRESSION)
		return evaluate(step, (uint64_t)row->cfa.value, NULL, &step->cfa);
	if (number >= EH_REGISTERS || !(step->old->known >> number & 1))
		return -ENODATA;
	step->cfa = wrap(step->view, step->old->values[number] + (uint64_t)row->cfa.value);
	return 0;
}

/* The caller's sp is the CFA unless a rule says something else; a pc never stays the same. */
static int find_registers(struct row_step *step, const struct eh_unwind_row *row,
			  uint64_t return_register, struct unwind_registers *registers,
			  uint64_t *place)
{
	const struct arch *arch = step->view->arch;
	const struct eh_rule *pc = &row->registers[return_register];
	int error;

	if (pc->kind == EH_SAME)
		return -EINVAL;
	*registers = (struct unwind_registers){0};
	for (unsigned i = 0; i < arch->dwarf_return; i++) {
		if (i == arch->dwarf_sp && row->registers[i].kind == EH_SAME)
			registers->values[i] = step->cfa;
		else if (find_register(step, &row->registers[i], i, &registers->values[i]))
			continue;
		registers->known |= UINT32_C(1) << i;
	}
	error = find_register(step, pc, (unsigned)return_register,
			      &registers->values[arch->dwarf_return]);
	registers->known |= UINT32_C(1) << arch->dwarf_return;
	*place = step->place;
	return error || registers->known >> arch->dwarf_sp & 1 ? error : -ENODATA;
}

int unwind_step_by_row(struct unwind_view *view, struct unwind_table *table, uint64_t address,
		       struct unwind_registers *registers, struct unwind_found *found)
{
	struct eh_unwind_row row;
	struct eh_function function;
	struct unwind_registers callers;
	struct row_step step = {
		.view = view, .expressions = unwind_table_expressions(table), .old = registers};
	uint64_t place = 0;

	if (!unwind_table_row(table, address, &row, &function))
		return -ENOENT;
	if (function.return_register >= EH_REGISTERS)
		return -EINVAL;
	step.is_signal_frame = function.is_signal_frame;
	int error = row.registers[function.return_register].kind == EH_UNDEFINED
			    ? -ECHILD
			    : find_row_cfa(&step, &row);

	if (!error)
		error = find_registers(&step, &row, function.return_register, &callers, &place);
	if (error)
		return error;
	*registers = callers;
	*found = (struct unwind_found){step.cfa, place, function.is_signal_frame, true};
	return 0;
}
