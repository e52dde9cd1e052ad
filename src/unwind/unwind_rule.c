/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes unwind rules of the rows of call-frame information.
 *
 * Nearly all rows find the CFA by the stack pointer or the frame pointer, and a return needs no
 * other register. The expressions that occur more than once in a system are recognised by their
 * operations: those of PLTs, of functions that align their stack (GCC keeps the CFA in the frame
 * then), and of hand-written code that keeps the caller's stack pointer in its frame (OpenSSL). All
 * other rows become UNWIND_EXACT; they are some 0.1 % of a process, and unwind_step.c evaluates
 * them as they are.
 */
#include "unwind/unwind_rule.h"

#include "unwind/eh_expression.h"

enum { OPERATIONS_MAX = 10, STUB_BYTES_MASK = 15 };

/* An expression, decoded as far as its operations have at most one operand, a number. */
struct operations {
	uint8_t codes[OPERATIONS_MAX];
	int64_t operands[OPERATIONS_MAX];
	unsigned count;
};

static bool decode(struct eh_reader *reader, uint64_t address, struct operations *operations)
{
	eh_seek(reader, address);
	uint64_t length = eh_uleb(reader), end = reader->at + length;

	*operations = (struct operations){0};
	while (reader->at < end && operations->count < OPERATIONS_MAX) {
		uint8_t code = (uint8_t)eh_fixed(reader, 1);
		int64_t operand = 0;

		if (code >= DW_BASE_REGISTER && code < DW_BASE_REGISTER + DW_RANGE)
			operand = (int64_t)eh_value(reader, EH_SLEB128);
		else if (code == DW_PLUS_CONSTANT)
			operand = (int64_t)eh_uleb(reader);
		else if (code != DW_DEREF && code != DW_AND && code != DW_PLUS &&
			 code != DW_SHIFT_LEFT && code != DW_GREATER_EQUAL &&
			 (code < DW_LITERAL || code >= DW_LITERAL + DW_RANGE))
			return false;
		operations->codes[operations->count] = code;
		operations->operands[operations->count++] = operand;
	}
	return !reader->failed && reader->at == end;
}

static bool fits(int64_t value, int64_t low, int64_t high)
{
	return value >= low && value <= high;
}

/* sp + n + (((pc & 15) >= k) << l), where 1 << l is the size of a word */
static bool recognise_stub(const struct operations *found, const struct arch *arch,
			   struct unwind_rule *rule)
{
	const uint8_t *codes = found->codes;
	const unsigned shift = arch->abi->word == 8 ? 3 : 2;

	if (found->count != 9 || codes[0] != DW_BASE_REGISTER + arch->dwarf_sp ||
	    codes[1] != DW_BASE_REGISTER + arch->dwarf_return || found->operands[1] ||
	    codes[2] != DW_LITERAL + STUB_BYTES_MASK || codes[3] != DW_AND ||
	    codes[4] < DW_LITERAL || codes[4] >= DW_LITERAL + DW_RANGE ||
	    codes[5] != DW_GREATER_EQUAL || codes[6] != DW_LITERAL + shift ||
	    codes[7] != DW_SHIFT_LEFT || codes[8] != DW_PLUS)
		return false;
	rule->cfa = UNWIND_BY_STUB;
	rule->addend = codes[4] - DW_LITERAL;
	rule->offset = (int32_t)found->operands[0];
	return true;
}

/* *(register + n), and perhaps + m */
static bool recognise_kept(const struct operations *found, const struct arch *arch,
			   struct unwind_rule *rule)
{
	if (found->count < 2 || found->count > 3 || found->codes[1] != DW_DEREF)
		return false;
	int64_t addend = 0;

	if (found->count == 3 && found->codes[2] != DW_PLUS_CONSTANT)
		return false;
	if (found->count == 3)
		addend = found->operands[2];
	if (found->codes[0] == DW_BASE_REGISTER + arch->dwarf_sp && fits(addend, 0, UINT8_MAX))
		rule->cfa = UNWIND_AT_SP;
	else if (found->codes[0] == DW_BASE_REGISTER + arch->dwarf_bp && !addend)
		rule->cfa = UNWIND_AT_BP;
	else
		return false;
	rule->addend = (uint8_t)addend;
	rule->offset = (int32_t)found->operands[0];
	return true;
}

static bool make_cfa(const struct eh_unwind_row *row, const struct arch *arch,
		     struct eh_reader *reader, struct unwind_rule *rule)
{
	struct operations found;

	if (row->cfa.kind == EH_REGISTER_PLUS) {
		if (!fits(row->cfa.value, INT32_MIN, INT32_MAX))
			return false;
		rule->offset = (int32_t)row->cfa.value;
		rule->cfa = row->cfa_register == arch->dwarf_sp ? UNWIND_BY_SP : UNWIND_BY_BP;
		return row->cfa_register == arch->dwarf_sp || row->cfa_register == arch->dwarf_bp;
	}
	return row->cfa.kind == EH_IS_EXPRESSION &&
	       decode(reader, (uint64_t)row->cfa.value, &found) &&
	       fits(found.operands[0], INT32_MIN, INT32_MAX) &&
	       (recognise_stub(&found, arch, rule) || recognise_kept(&found, arch, rule));
}

static bool make_bp(const struct eh_rule *bp, const struct arch *arch, struct eh_reader *reader,
		    struct unwind_rule *rule)
{
	struct operations found;
	int64_t offset = bp->value;

	if (bp->kind == EH_SAME)
		return true;
	rule->bp = UNWIND_BP_AT_CFA;
	if (bp->kind == EH_AT_EXPRESSION) {
		if (!decode(reader, (uint64_t)bp->value, &found) || found.count != 1 ||
		    found.codes[0] != DW_BASE_REGISTER + arch->dwarf_bp)
			return false;
		rule->bp = UNWIND_BP_AT_BP;
		offset = found.operands[0];
	} else if (bp->kind != EH_AT_CFA) {
		return false;
	}
	rule->bp_offset = (int16_t)offset;
	return fits(offset, INT16_MIN, INT16_MAX);
}

struct unwind_rule unwind_rule_of(const struct eh_unwind_row *row,
				  const struct eh_function *function, struct eh_reader *reader)
{
	const struct arch *arch = elf_arch(reader->file);
	const struct eh_rule *address = &row->registers[arch->dwarf_return];
	const struct eh_rule *sp = &row->registers[arch->dwarf_sp];
	struct unwind_rule rule = {.is_signal_frame = function->is_signal_frame};
	struct unwind_rule exact = rule;

	if (row->cfa.kind == EH_UNDEFINED)
		return (struct unwind_rule){.cfa = UNWIND_NONE};
	exact.cfa = UNWIND_EXACT;
	if (address->kind == EH_UNDEFINED) {
		rule.cfa = UNWIND_OUTER;
		return rule;
	}
	bool is_plain = function->return_register == arch->dwarf_return &&
			address->kind == EH_AT_CFA && address->value == -(int64_t)arch->abi->word &&
			(sp->kind == EH_SAME || (sp->kind == EH_CFA_PLUS && !sp->value)) &&
			make_cfa(row, arch, reader, &rule) &&
			make_bp(&row->registers[arch->dwarf_bp], arch, reader, &rule);

	return is_plain ? rule : exact;
}
