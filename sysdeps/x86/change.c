/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What instructions change: registers, the memory operand, the stack pointer. The result is used to
 * tell which registers and stack words still hold the arguments of a call, so nothing may be left
 * out. Opcodes are listed here with what they write (Intel SDM volume 2); an instruction that is
 * not listed is reported as one that may change anything. Too much may be reported: that only makes
 * a value unknown.
 *
 * Compilers use few instructions to move arguments, and only these are followed: mov, movzx, movsx,
 * lea, add and sub of a constant, xor of a register with itself, push, pop, leave. Of all others,
 * the written registers are enough.
 *
 * The encoding tells the registers of legacy instructions. The prefixes VEX and EVEX have bits of
 * register numbers of their own; where such an instruction writes a general register, all of them
 * are reported, as this is rare. The displacement of EVEX is scaled by the operand's size, so the
 * place of such an operand is reported as not exact.
 */
#include "x86/change_private.h"

#include <string.h>

enum { INDEX_NONE = 4 };

/* ------------------------------------------------------------------ operands */

/* Returns false if the address is computed in a way that is not understood. */
static bool set_operand(struct change_insn *insn)
{
	const struct x86_scan *scan = &insn->scan;
	struct insn_change *change = insn->change;
	const unsigned base = (scan->has_sib ? scan->sib & 7U : scan->rm) +
			      (insn->rex & CHANGE_REX_B ? CHANGE_HIGH : 0U);
	const unsigned index = (scan->sib >> 3 & 7U) +
			       (insn->rex & CHANGE_REX_X ? CHANGE_HIGH : 0U);

	if (!change_has_memory(insn))
		return true;
	if (scan->address_size)
		return false;
	change->has_memory = true;
	change->displacement = scan->displacement;
	if (scan->pc_relative)
		change->base = MOVE_BASE_PC;
	else if ((base & 7) != REG_BP || scan->mod)
		change->base = (int8_t)base;
	if (scan->has_sib && index != INDEX_NONE) {
		change->index = (int8_t)index;
		change->scale = (uint8_t)(1U << (scan->sib >> 6));
	}
	change->is_exact = change->index < 0 && scan->encoding != ENCODING_EVEX;
	return true;
}

bool change_writes_at(struct change_insn *insn, unsigned pointer, unsigned width)
{
	struct insn_change *change = insn->change;

	change->has_memory = change->is_exact = true;
	change->base = (int8_t)pointer;
	change->index = -1;
	change->displacement = 0;
	change->stored = (uint16_t)width;
	return true;
}

static int64_t immediate_of(const struct change_insn *insn, unsigned width)
{
	int32_t wide = 0;

	if (insn->length < insn->scan.length + width)
		return 0;
	if (width == 1)
		return (int8_t)insn->bytes[insn->scan.length];
	memcpy(&wide, insn->bytes + insn->scan.length, sizeof wide);
	return wide;
}

/* ------------------------------------------------------------------ moves */

bool change_loads(struct change_insn *insn, unsigned width)
{
	const unsigned to = change_reg(insn), from = change_rm(insn);

	change_writes(insn, to);
	change_reads_rm(insn);
	if (change_has_memory(insn))
		change_becomes(insn, CHANGE_LOAD, to, 0, width);
	else if (width > 1 || !change_is_second_byte(insn, from))
		change_becomes(insn, CHANGE_COPY, to, from, width);
	return true;
}

static bool load(struct change_insn *insn)
{
	return change_loads(insn, insn->width);
}

/* Only a part of the register is written. */
static bool load_byte(struct change_insn *insn)
{
	return change_writes(insn, change_byte(insn, change_reg(insn)));
}

/* movslq; in 32-bit mode arpl */
static bool load_extended(struct change_insn *insn)
{
	return insn->mode == X86_MODE_64 && change_loads(insn, 4);
}

/* rm = reg */
static bool store(struct change_insn *insn)
{
	const unsigned from = change_reg(insn), width = change_width(insn);

	change_reads(insn, from);
	change_writes_rm(insn, width);
	if (width == 1 && change_is_second_byte(insn, from))
		return true;
	if (change_has_memory(insn))
		change_becomes(insn, CHANGE_STORE, 0, from, width);
	else if (width > 1)
		change_becomes(insn, CHANGE_COPY, change_rm(insn), from, width);
	return true;
}

static bool load_address(struct change_insn *insn)
{
	struct insn_change *change = insn->change;

	change_writes_reg(insn);
	change->has_memory = insn->width == insn->word && !insn->scan.segment;
	if (change->has_memory) {
		change_becomes(insn, CHANGE_ADDRESS, change_reg(insn), 0, insn->word);
		return true;
	}
	if (change->base >= 0)
		change_reads(insn, (unsigned)change->base);
	if (change->index >= 0)
		change_reads(insn, (unsigned)change->index);
	return true;
}

/* A register gets a number, of which an operand of 4 bytes clears the upper half. */
static void set_number(struct change_insn *insn, unsigned to, uint64_t number)
{
	if (insn->width < 4)
		return;
	change_becomes(insn, CHANGE_NUMBER, to, 0, insn->word);
	insn->change->addend = (int64_t)(insn->width == 4 ? (uint32_t)number : number);
}

/* mov of a constant to the register in the opcode: the only one that may have 8 bytes. */
static bool load_constant(struct change_insn *insn)
{
	uint64_t number = 0;

	if (insn->length >= insn->scan.length + insn->width) {
		memcpy(&number, insn->bytes + insn->scan.length, insn->width);
		set_number(insn, change_low(insn), number);
	}
	return change_writes(insn, change_low(insn));
}

static bool load_byte_constant(struct change_insn *insn)
{
	return change_writes(insn, change_byte(insn, change_low(insn)));
}

/* c6, c7: mov of a constant; others of the group begin transactions. */
static bool store_constant(struct change_insn *insn)
{
	const unsigned width = change_width(insn);

	if (!change_has_memory(insn) && width >= 4)
		set_number(insn, change_rm(insn), (uint64_t)immediate_of(insn, 4));
	return change_writes_rm(insn, width) && !insn->scan.reg;
}

static bool push_value(struct change_insn *insn, int from)
{
	insn->change->kind = CHANGE_PUSH;
	insn->change->from = (int8_t)from;
	insn->change->width = (uint8_t)insn->word;
	if (from >= 0)
		change_reads(insn, (unsigned)from);
	return !insn->scan.operand_size;
}

static bool push(struct change_insn *insn)
{
	return push_value(insn, (int)change_low(insn));
}

static bool push_constant(struct change_insn *insn)
{
	return push_value(insn, -1);
}

static bool pop(struct change_insn *insn)
{
	change_becomes(insn, CHANGE_POP, change_low(insn), 0, insn->word);
	return change_writes(insn, change_low(insn)) && !insn->scan.operand_size;
}

static bool leave(struct change_insn *insn)
{
	insn->change->kind = CHANGE_LEAVE;
	return change_writes(insn, REG_BP);
}

/* ------------------------------------------------------------------ arithmetic */

enum { OPERATION_ADD, OPERATION_SUB = 5, OPERATION_XOR, OPERATION_COMPARE };

/* Opcodes below 0x40: add, or, adc, sbb, and, sub, xor, cmp of a register and another operand. */
static bool compute(struct change_insn *insn)
{
	const unsigned operation = insn->scan.opcode >> 3, width = change_width(insn);
	const bool to_reg = insn->scan.opcode & 2;
	const unsigned to = to_reg ? change_reg(insn) : change_rm(insn);
	const unsigned from = to_reg ? change_rm(insn) : change_reg(insn);

	if (operation == OPERATION_XOR && width > 1 && !change_has_memory(insn) && to == from) {
		set_number(insn, to, 0);
		return change_writes(insn, to);
	}
	change_reads(insn, change_reg(insn));
	change_reads_rm(insn);
	if (operation == OPERATION_COMPARE)
		return true;
	if (operation == OPERATION_ADD && !change_has_memory(insn) && width == insn->word)
		change_becomes(insn, CHANGE_SUM, to, from, width);
	if (to_reg)
		return change_writes(insn, width == 1 ? change_byte(insn, to) : to);
	return change_writes_rm(insn, width);
}

/* The same with ax and a constant. */
static bool compute_ax(struct change_insn *insn)
{
	return insn->scan.opcode >> 3 == OPERATION_COMPARE || change_writes(insn, REG_AX);
}

/* 80, 81, 83: the same with a constant. */
static bool compute_constant(struct change_insn *insn)
{
	const unsigned operation = insn->scan.reg, width = change_width(insn);

	change_reads_rm(insn);
	if (operation == OPERATION_COMPARE)
		return true;
	if (!change_has_memory(insn) && width == insn->word &&
	    (operation == OPERATION_ADD || operation == OPERATION_SUB)) {
		change_becomes(insn, CHANGE_ADD, change_rm(insn), change_rm(insn), width);
		insn->change->addend = immediate_of(insn, insn->scan.opcode == 0x83 ? 1 : 4);
		if (operation == OPERATION_SUB)
			insn->change->addend = -insn->change->addend;
	}
	return change_writes_rm(insn, width);
}

/* Shifts, by a constant or by cl. */
static bool shift(struct change_insn *insn)
{
	return change_writes_rm(insn, change_width(insn));
}

/* f6, f7: test, not, neg, mul, imul, div, idiv */
static bool unary(struct change_insn *insn)
{
	const unsigned operation = insn->scan.reg;

	change_reads_rm(insn);
	if (operation >= 4)
		return change_writes(insn, REG_AX) && change_writes(insn, REG_DX);
	return operation < 2 || change_writes_rm(insn, change_width(insn));
}

/* fe, ff: inc, dec; push. Where calls and jumps lead is told elsewhere. */
static bool group_5(struct change_insn *insn)
{
	const unsigned operation = insn->scan.reg;

	if (operation < 2) {
		change_reads_rm(insn);
		return change_writes_rm(insn, change_width(insn));
	}
	if (!(insn->scan.opcode & 1))
		return false;
	if (operation == 6)
		return push_value(insn, change_has_memory(insn) ? -1 : (int)change_rm(insn));
	return operation == 2 || operation == 4;
}

/* inc, dec */
static bool count(struct change_insn *insn)
{
	change_reads(insn, insn->scan.opcode & 7);
	return change_writes(insn, insn->scan.opcode & 7);
}

bool change_exchanges(struct change_insn *insn)
{
	const unsigned reg = change_reg(insn), width = change_width(insn);

	change_reads(insn, reg);
	change_reads_rm(insn);
	change_writes(insn, width == 1 ? change_byte(insn, reg) : reg);
	return change_writes_rm(insn, width);
}

/* xchg with ax; nop */
static bool exchange_ax(struct change_insn *insn)
{
	const unsigned other = change_low(insn);

	if (other == REG_AX)
		return true;
	change_reads(insn, REG_AX);
	change_reads(insn, other);
	return change_writes(insn, REG_AX) && change_writes(insn, other);
}

/* cltq, and narrower ones */
static bool extend_ax(struct change_insn *insn)
{
	if (insn->width == 8)
		change_becomes(insn, CHANGE_COPY, REG_AX, REG_AX, 4);
	return change_writes(insn, REG_AX);
}

static bool write_ax(struct change_insn *insn)
{
	return change_writes(insn, REG_AX);
}

static bool write_dx(struct change_insn *insn)
{
	return change_writes(insn, REG_DX);
}

/* loop, jcxz */
static bool write_cx(struct change_insn *insn)
{
	return change_writes(insn, REG_CX);
}

/* ------------------------------------------------------------------ others of one byte */

/* d8 … df: x87 instructions. The table has a bit for each that stores to memory. */
static bool x87(struct change_insn *insn)
{
	static const uint8_t stores[8] = {0, 0xcc, 0, 0x8e, 0, 0xce, 0, 0xce};
	const unsigned opcode = insn->scan.opcode;

	if (change_has_memory(insn))
		return change_writes_memory(
			insn, stores[opcode & 7] >> insn->scan.reg & 1 ? CHANGE_X87 : 0);
	/* fnstsw %ax */
	return opcode != 0xdf || insn->scan.reg != 4 || change_writes(insn, REG_AX);
}

/* movs, cmps, stos, lods, scas, perhaps repeated */
static bool string(struct change_insn *insn)
{
	const unsigned opcode = insn->scan.opcode & ~1U;

	if (opcode == 0xa4 || opcode == 0xa6 || opcode == 0xac)
		change_writes(insn, REG_SI);
	change_writes(insn, opcode == 0xac ? REG_AX : REG_DI);
	if (insn->scan.rep || insn->scan.repne)
		change_writes(insn, REG_CX);
	return (opcode != 0xa4 && opcode != 0xaa) || change_writes_at(insn, REG_DI, STORED_MANY);
}

/* int $0x80, by which 32-bit code makes system calls */
static bool interrupt(struct change_insn *insn)
{
	return insn->mode == X86_MODE_32 && immediate_of(insn, 1) == (int8_t)0x80 &&
	       change_writes(insn, REG_AX);
}

static bool end(struct change_insn *insn)
{
	insn->change->ends = true;
	return true;
}

#define ARITHMETIC(first)                                                                          \
	[(first)...(first) + 3] = compute, [(first) + 4 ...(first) + 5] = compute_ax

/* Among those that change nothing are branches, whose sp and pc are told elsewhere. */
static change_rule *const one_byte[256] = {
	ARITHMETIC(0x00),
	ARITHMETIC(0x08),
	ARITHMETIC(0x10),
	ARITHMETIC(0x18),
	ARITHMETIC(0x20),
	ARITHMETIC(0x28),
	ARITHMETIC(0x30),
	ARITHMETIC(0x38),
	[0x40 ... 0x4f] = count,
	[0x50 ... 0x57] = push,
	[0x58 ... 0x5f] = pop,
	[0x63] = load_extended,
	[0x68] = push_constant,
	[0x69] = change_writes_reg, /* imul */
	[0x6a] = push_constant,
	[0x6b] = change_writes_reg,
	[0x70 ... 0x7f] = change_nothing, /* conditional jumps */
	[0x80 ... 0x81] = compute_constant,
	[0x83] = compute_constant,
	[0x84 ... 0x85] = change_nothing, /* test */
	[0x86 ... 0x87] = change_exchanges,
	[0x88 ... 0x89] = store,
	[0x8a] = load_byte,
	[0x8b] = load,
	[0x8d] = load_address,
	[0x90 ... 0x97] = exchange_ax,
	[0x98] = extend_ax,
	[0x99] = write_dx,		  /* cqto */
	[0x9b] = change_nothing,	  /* fwait */
	[0xa0 ... 0xa1] = write_ax,	  /* mov from an absolute address */
	[0xa2 ... 0xa3] = change_nothing, /* mov to one, which is not on the stack */
	[0xa4 ... 0xa7] = string,
	[0xa8 ... 0xa9] = change_nothing, /* test */
	[0xaa ... 0xaf] = string,
	[0xb0 ... 0xb7] = load_byte_constant,
	[0xb8 ... 0xbf] = load_constant,
	[0xc0 ... 0xc1] = shift,
	[0xc2 ... 0xc3] = change_nothing, /* ret */
	[0xc6 ... 0xc7] = store_constant,
	[0xc9] = leave,
	[0xcc] = end,
	[0xcd] = interrupt,
	[0xd0 ... 0xd3] = shift,
	[0xd8 ... 0xdf] = x87,
	[0xe0 ... 0xe3] = write_cx,
	[0xe8 ... 0xe9] = change_nothing, /* call, jmp */
	[0xeb] = change_nothing,	  /* jmp */
	[0xf4] = end,			  /* hlt */
	[0xf5] = change_nothing,	  /* flags, but not std */
	[0xf6 ... 0xf7] = unary,
	[0xf8 ... 0xf9] = change_nothing,
	[0xfc] = change_nothing,
	[0xfe ... 0xff] = group_5,
};

/* ------------------------------------------------------------------ all */

/* The bits of VEX and EVEX that extend the registers of an address, as those of REX. */
static uint8_t rex_of(const struct change_insn *insn)
{
	const uint8_t *at = insn->bytes, *end_of_scan = insn->bytes + insn->scan.length;

	if (insn->scan.encoding == ENCODING_LEGACY)
		return insn->scan.rex;
	while (at < end_of_scan && *at != 0xc4 && *at != 0xc5 && *at != 0x62)
		at++;
	/* They are stored inverted: R, X, B from the highest bit on. */
	if (insn->mode == X86_MODE_32 || at + 1 >= end_of_scan || *at == 0xc5)
		return 0;
	return (uint8_t)(~at[1] >> 5 & 7);
}

static unsigned width_of(const struct change_insn *insn)
{
	if (insn->rex & CHANGE_REX_W)
		return 8;
	return insn->scan.operand_size ? 2 : 4;
}

static bool by_map(struct change_insn *insn)
{
	if (insn->scan.encoding != ENCODING_LEGACY)
		return change_vex(insn);
	switch (insn->scan.map) {
	case MAP_ONE_BYTE:
		return change_by(one_byte, insn);
	case MAP_0F:
		return change_0f(insn);
	case MAP_0F38:
		return change_0f38(insn);
	case MAP_0F3A:
		return change_0f3a(insn);
	default:
		return false;
	}
}

/* movs: the segment is that of the source. */
static bool is_string_move(const struct change_insn *insn)
{
	return insn->scan.encoding == ENCODING_LEGACY && insn->scan.map == MAP_ONE_BYTE &&
	       (insn->scan.opcode == 0xa4 || insn->scan.opcode == 0xa5);
}

bool x86_insn_change(enum x86_mode mode, const uint8_t *bytes, size_t length,
		     struct insn_change *change)
{
	struct change_insn insn = {
		.mode = mode, .bytes = bytes, .length = length, .change = change};

	*change = (struct insn_change){.to = -1, .from = -1, .base = -1, .index = -1};
	if (x86_scan(bytes, length, mode, &insn.scan))
		return false;
	insn.rex = rex_of(&insn);
	insn.word = mode / 8;
	insn.width = width_of(&insn);
	if (!set_operand(&insn) || !by_map(&insn))
		return false;
	/* fs and gs lead to the memory of the thread, not to its stack. */
	if (insn.scan.segment >= 4 && change->has_memory && !is_string_move(&insn)) {
		if (change->kind == CHANGE_STORE)
			change->leaked |= 1U << change->from;
		if (change->kind == CHANGE_LOAD || change->kind == CHANGE_STORE)
			change->kind = CHANGE_OTHER;
		change->has_memory = false;
		change->stored = 0;
	}
	return true;
}
