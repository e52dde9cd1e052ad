/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The effect of instructions on places that may hold the address of a function: of the instructions
 * with which compilers copy an address, and of those that overwrite a register. All others are
 * reported to change nothing, so that a place may be thought to hold an address that it has lost,
 * but never the opposite.
 *
 * Bitwise operations on an address may give an address again (a selection by xor and a mask, a
 * mangled pointer). Hardening against speculation also masks addresses right before they are called
 * (clang -mspeculative-load-hardening). Sums come from the jump tables of switches, and do not
 * count as the address of a function. An instruction that writes only a part of a register does not
 * remove an address from it.
 */
#include "x86/x86.h"

#include <string.h>

enum { INDEX_NONE = 4, REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8, HIGH = 8 };

static unsigned reg_of(const struct x86_scan *scan)
{
	return scan->reg + (scan->rex & REX_R ? HIGH : 0U);
}

static unsigned rm_of(const struct x86_scan *scan)
{
	return scan->rm + (scan->rex & REX_B ? HIGH : 0U);
}

/* The register in the low bits of an opcode. */
static unsigned low_of(const struct x86_scan *scan)
{
	return (scan->opcode & 7U) + (scan->rex & REX_B ? HIGH : 0U);
}

static bool is_memory(const struct x86_scan *scan)
{
	return scan->has_modrm && scan->mod != 3;
}

static bool is_indexed(const struct x86_scan *scan)
{
	return is_memory(scan) && scan->has_sib &&
	       ((scan->sib >> 3 & 7) != INDEX_NONE || (scan->rex & REX_X));
}

/* Bits of the registers in the address of the memory operand. */
static uint32_t base_of(const struct x86_scan *scan)
{
	uint32_t base = 0;

	if (!is_memory(scan) || scan->pc_relative)
		return 0;
	if (!scan->has_sib)
		return scan->rm == REG_BP && !scan->mod ? 0 : 1U << rm_of(scan);
	if ((scan->sib & 7) != REG_BP || scan->mod)
		base = 1U << ((scan->sib & 7U) + (scan->rex & REX_B ? HIGH : 0U));
	if (is_indexed(scan))
		base |= 1U << ((scan->sib >> 3 & 7U) + (scan->rex & REX_X ? HIGH : 0U));
	return base;
}

static int8_t operand_of(const struct x86_scan *scan)
{
	return is_memory(scan) ? EFFECT_MEMORY : (int8_t)rm_of(scan);
}

static void copies(struct insn_effect *effect, int from, int to)
{
	effect->from = (int8_t)from;
	effect->to = (int8_t)to;
}

/* reg = rm */
static void load(const struct x86_scan *scan, struct insn_effect *effect, bool always)
{
	const unsigned to = reg_of(scan);

	effect->killed = always ? 1U << to : 0;
	effect->memory_to = (int8_t)to;
	copies(effect, operand_of(scan), (int)to);
}

/* The operand that is written loses what it held, unless only a part of a word is written. */
static uint32_t kills(enum x86_mode mode, const struct x86_scan *scan)
{
	const bool all = !is_memory(scan) || mode == X86_MODE_32 || (scan->rex & REX_W);

	return all ? 1U << operand_of(scan) : 0;
}

/* rm = reg */
static void store(enum x86_mode mode, const struct x86_scan *scan, struct insn_effect *effect)
{
	effect->memory_to = EFFECT_NONE;
	effect->killed = kills(mode, scan);
	copies(effect, (int)reg_of(scan), operand_of(scan));
}

/* An address that is a single register, with nothing added, is a copy. */
static void load_address(const struct x86_scan *scan, struct insn_effect *effect)
{
	const unsigned to = reg_of(scan);
	const uint32_t base = base_of(scan);

	effect->is_address = true;
	effect->killed = 1U << to;
	effect->mixed = base;
	effect->mixed_to = (int8_t)to;
	if (!scan->displacement && base && !(base & (base - 1)))
		copies(effect, __builtin_ctz(base), (int)to);
}

static void exchange(const struct x86_scan *scan, struct insn_effect *effect)
{
	effect->joined = 1U << reg_of(scan) | 1U << operand_of(scan);
}

/* If the operands are equal, both hold the address that one holds. */
static void compare(const struct x86_scan *scan, struct insn_effect *effect)
{
	exchange(scan, effect);
	effect->compared = true;
	effect->memory_to = (int8_t)reg_of(scan);
}

/* or, and, xor */
static bool is_bitwise(const struct x86_scan *scan)
{
	const unsigned operation = scan->opcode & ~3U;

	return scan->map == MAP_ONE_BYTE &&
	       (operation == 0x08 || operation == 0x20 || operation == 0x30);
}

static bool is_subtraction(const struct x86_scan *scan)
{
	return scan->map == MAP_ONE_BYTE && (scan->opcode & ~3U) == 0x28;
}

/* add, adc, sbb, sub, xor and the like. */
static void compute(const struct x86_scan *scan, struct insn_effect *effect)
{
	const bool into_reg = scan->opcode & 2;
	const unsigned to = into_reg ? reg_of(scan) : rm_of(scan);

	if (!into_reg && is_memory(scan)) { /* the result is in memory */
		effect->joined = 1U << reg_of(scan) | 1U << EFFECT_MEMORY;
		return;
	}
	effect->killed = 1U << to;
	/* xor, sub, sbb with itself: no address is left; or, and: the register keeps it. */
	if (!is_memory(scan) && reg_of(scan) == rm_of(scan) && (scan->opcode & 0xf0) >= 0x10 &&
	    (scan->opcode & ~3U) != 0x20)
		return;
	effect->mixed = 1U << reg_of(scan) | 1U << operand_of(scan);
	effect->mixed_to = (int8_t)to;
	effect->by_bits = is_bitwise(scan);
	if (is_subtraction(scan))
		effect->subtracted = effect->mixed & ~(1U << to);
	effect->memory_to = (int8_t)to;
}

/* The result of two other operands, or of one and a constant. */
static void compute_from(const struct x86_scan *scan, struct insn_effect *effect)
{
	effect->killed = 1U << reg_of(scan);
	effect->mixed = 1U << operand_of(scan);
	effect->mixed_to = (int8_t)reg_of(scan);
	effect->memory_to = (int8_t)reg_of(scan);
}

static void push(struct insn_effect *effect, int from)
{
	copies(effect, from, EFFECT_TOP);
	effect->killed = 1U << EFFECT_TOP;
	effect->memory_to = EFFECT_TOP;
}

static void pop(struct insn_effect *effect, unsigned to)
{
	effect->killed = 1U << to;
	copies(effect, EFFECT_TOP, (int)to);
}

static void move_immediate(enum x86_mode mode, const struct x86_scan *scan,
			   struct insn_effect *effect)
{
	effect->killed = kills(mode, scan);
	effect->immediate_to = operand_of(scan);
}

/* Opcodes that name a register in their low bits. */
static void by_opcode(const struct x86_scan *scan, struct insn_effect *effect)
{
	switch (scan->opcode & ~7U) {
	case 0x50:
		push(effect, (int)low_of(scan));
		break;
	case 0x58:
		pop(effect, low_of(scan));
		break;
	case 0x90: /* xchg with %eax */
		effect->joined = 1U << REG_AX | 1U << low_of(scan);
		break;
	case 0xb8:
		effect->killed = 1U << low_of(scan);
		effect->immediate_to = (int8_t)low_of(scan);
		break;
	default:
		break;
	}
}

/* Opcodes that are extended by the reg field of the ModRM byte. */
static void by_group(enum x86_mode mode, const struct x86_scan *scan, struct insn_effect *effect)
{
	const unsigned which = scan->reg;

	switch (scan->opcode) {
	case 0x80: /* cmp */
	case 0x81:
	case 0x83:
		effect->memory_to = which == 7 ? EFFECT_NONE : EFFECT_UNKNOWN;
		break;
	case 0xc7:
		move_immediate(mode, scan, effect);
		break;
	case 0xf7: /* test, …, mul, imul, div, idiv */
		if (which >= 4)
			effect->joined = 1U << REG_AX | 1U << REG_DX | 1U << operand_of(scan);
		effect->memory_to = which < 2 ? EFFECT_NONE : EFFECT_UNKNOWN;
		break;
	case 0xff:
		if (which == 6)
			push(effect, operand_of(scan));
		break;
	default:
		by_opcode(scan, effect);
		break;
	}
}

static void one_byte(enum x86_mode mode, const struct x86_scan *scan, struct insn_effect *effect)
{
	switch (scan->opcode) {
	case 0x01: /* add */
	case 0x03:
	case 0x09: /* or */
	case 0x0b:
	case 0x11: /* adc */
	case 0x13:
	case 0x19: /* sbb */
	case 0x1b:
	case 0x21: /* and */
	case 0x23:
	case 0x29: /* sub */
	case 0x2b:
	case 0x31: /* xor */
	case 0x33:
		compute(scan, effect);
		break;
	case 0x39: /* cmp */
	case 0x3b:
		compare(scan, effect);
		break;
	case 0x38: /* cmp of bytes */
	case 0x3a:
	case 0x84: /* test */
	case 0x85:
	case 0x88: /* mov of a byte */
		effect->memory_to = EFFECT_NONE;
		break;
	case 0x63: /* movslq; in 32-bit mode arpl */
		effect->killed = mode == X86_MODE_64 ? 1U << reg_of(scan) : 0;
		break;
	case 0x69: /* imul */
	case 0x6b:
		compute_from(scan, effect);
		break;
	case 0x87:
		exchange(scan, effect);
		break;
	case 0x89:
		store(mode, scan, effect);
		break;
	case 0x8b:
		load(scan, effect, true);
		break;
	case 0x8d:
		load_address(scan, effect);
		break;
	case 0x99: /* cltd */
		effect->killed = 1U << REG_DX;
		break;
	case 0xa1: /* mov from an absolute address */
		effect->killed = 1U << REG_AX;
		effect->memory_to = REG_AX;
		copies(effect, EFFECT_MEMORY, REG_AX);
		break;
	case 0xa3:
		effect->memory_to = EFFECT_NONE;
		copies(effect, REG_AX, EFFECT_MEMORY);
		break;
	case 0xa4: /* movs */
	case 0xa5:
		effect->joined = 1U << EFFECT_STACK | 1U << EFFECT_ELSEWHERE;
		break;
	case 0xaa: /* stos */
	case 0xab:
		copies(effect, REG_AX, EFFECT_STACK);
		effect->mixed = 1U << REG_AX;
		effect->mixed_to = EFFECT_ELSEWHERE;
		effect->by_bits = true;
		break;
	case 0xc9: /* leave */
		pop(effect, REG_BP);
		break;
	default:
		by_group(mode, scan, effect);
		break;
	}
}

/*
 * Between general and vector registers, partly through memory; `any`: their REX bits are unknown.
 */
static void by_vector(const struct x86_scan *scan, struct insn_effect *effect, bool any)
{
	const uint32_t general = any ? 1U << scan->rm | 1U << (scan->rm + HIGH) : 1U << rm_of(scan);

	effect->memory_to = EFFECT_VECTOR;
	effect->joined = 1U << EFFECT_VECTOR | (is_memory(scan) ? 1U << EFFECT_MEMORY : general);
}

/* Stores of a vector register to memory. */
static bool is_vector_store(const struct x86_scan *scan)
{
	static const uint8_t opcodes[] = {0x11, 0x13, 0x17, 0x29, 0x2b, 0x7f, 0xd6, 0xe7};

	for (size_t i = 0; scan->map == MAP_0F && is_memory(scan) && i < sizeof opcodes; i++)
		if (scan->opcode == opcodes[i])
			return true;
	return false;
}

static bool is_vector_load(const struct x86_scan *scan)
{
	return scan->map == MAP_0F && is_memory(scan) &&
	       (scan->opcode == 0x10 || scan->opcode == 0x28 || scan->opcode == 0x6f);
}

static void load_vector(struct insn_effect *effect)
{
	copies(effect, EFFECT_MEMORY, EFFECT_VECTOR);
	effect->memory_to = EFFECT_VECTOR;
}

static bool is_vector_move(const struct x86_scan *scan)
{
	if (scan->map == MAP_0F3A) /* pextrq, pinsrq */
		return scan->opcode == 0x16 || scan->opcode == 0x22;
	/* movlps, movhps, movd and movq */
	return scan->map == MAP_0F && (scan->opcode == 0x12 || scan->opcode == 0x16 ||
				       scan->opcode == 0x6e || scan->opcode == 0x7e);
}

/*
 * Operations of 64-bit code on 32 bits: their result is no address, and clears all of the register.
 * Only a constant may be an address, of non-PIC code.
 */
static void by_halves(const struct x86_scan *scan, struct insn_effect *effect)
{
	effect->joined = 0;
	effect->mixed = 0;
	effect->mixed_to = EFFECT_NONE;
	effect->from = effect->to = EFFECT_NONE;
	if (scan->map == MAP_0F && (scan->opcode & 0xf0) == 0x40) /* cmov */
		effect->killed = 1U << reg_of(scan);
}

/* True unless the instruction has 64 bits without a prefix (push, pop, leave), or only copies. */
static bool is_by_halves(enum x86_mode mode, const struct x86_scan *scan)
{
	const unsigned opcode = scan->opcode;

	if (mode != X86_MODE_64 || (scan->rex & REX_W))
		return false;
	return scan->map != MAP_ONE_BYTE ||
	       ((opcode < 0x50 || opcode >= 0x60) && (opcode & ~1U) != 0xa4 && opcode != 0xff &&
		opcode != 0xc9);
}

/*
 * Sets the effect of instructions that move data from or to vector registers; false: another one.
 */
static bool of_vectors(const struct x86_scan *scan, struct insn_effect *effect)
{
	if (is_vector_store(scan))
		copies(effect, EFFECT_VECTOR, EFFECT_MEMORY);
	else if (is_vector_load(scan))
		load_vector(effect);
	else if (is_vector_move(scan))
		by_vector(scan, effect, scan->encoding != ENCODING_LEGACY);
	else
		return false;
	return true;
}

static void two_bytes(const struct x86_scan *scan, struct insn_effect *effect)
{
	switch (scan->opcode) {
	case 0xaf: /* imul */
		compute(scan, effect);
		break;
	case 0xc1: /* xadd */
		exchange(scan, effect);
		break;
	case 0xb6: /* movzx, movsx */
	case 0xb7:
	case 0xbe:
	case 0xbf:
		effect->killed = 1U << reg_of(scan);
		break;
	case 0xb1: /* cmpxchg */
		exchange(scan, effect);
		effect->joined |= 1U << REG_AX;
		break;
	default:
		if ((scan->opcode & 0xf0) == 0x40) /* cmov */
			load(scan, effect, false);
	}
}

/* The immediate operand of add or sub. */
static int64_t immediate_of(const uint8_t *bytes, size_t length, const struct x86_scan *scan)
{
	int32_t immediate = 0;

	if (scan->opcode == 0x83 && length > scan->length)
		return (int8_t)bytes[scan->length];
	if (length >= scan->length + sizeof immediate)
		memcpy(&immediate, bytes + scan->length, sizeof immediate);
	return immediate;
}

static int64_t sp_change(enum x86_mode mode, const uint8_t *bytes, size_t length,
			 const struct x86_scan *scan, const struct insn_effect *effect)
{
	const bool is_plain = scan->map == MAP_ONE_BYTE && scan->encoding == ENCODING_LEGACY;
	const unsigned opcode = scan->opcode;
	const int64_t word = mode / 8;
	const bool of_sp = scan->has_modrm && !is_memory(scan) && rm_of(scan) == REG_SP;

	if (is_plain && ((opcode & ~7U) == 0x50 || opcode == 0x68 || opcode == 0x6a ||
			 opcode == 0x9c || (opcode == 0xff && scan->reg == 6)))
		return -word;
	if (is_plain && ((opcode & ~7U) == 0x58 || opcode == 0x9d || opcode == 0x8f))
		return low_of(scan) == REG_SP && opcode < 0x60 ? EFFECT_UNKNOWN_CHANGE : word;
	if (is_plain && (opcode == 0x81 || opcode == 0x83) && of_sp && scan->reg != 7) {
		if (scan->reg == 0)
			return immediate_of(bytes, length, scan);
		return scan->reg == 5 ? -immediate_of(bytes, length, scan) : EFFECT_UNKNOWN_CHANGE;
	}
	if (is_plain && opcode == 0x8d && reg_of(scan) == REG_SP && base_of(scan) == 1U << REG_SP)
		return scan->displacement;
	return (effect->killed | effect->joined) & 1U << REG_SP ? EFFECT_UNKNOWN_CHANGE : 0;
}

/* The address that the opcodes a0 to a3 have in place of an operand, in 32-bit mode. */
static int64_t address_in(const uint8_t *bytes, size_t length, const struct x86_scan *scan)
{
	int32_t address = 0;

	if (length >= scan->length + sizeof address)
		memcpy(&address, bytes + scan->length, sizeof address);
	return address;
}

void x86_insn_effect(enum x86_mode mode, const uint8_t *bytes, size_t length,
		     struct insn_effect *effect)
{
	struct x86_scan scan;

	*effect = (struct insn_effect){.mixed_to = EFFECT_NONE,
				       .from = EFFECT_NONE,
				       .to = EFFECT_NONE,
				       .memory_to = EFFECT_UNKNOWN,
				       .immediate_to = EFFECT_UNKNOWN};
	if (x86_scan(bytes, length, mode, &scan))
		return;
	effect->base = base_of(&scan);
	effect->is_indexed = is_indexed(&scan);
	effect->pc_relative = scan.pc_relative;
	effect->displacement = is_memory(&scan)	 ? scan.displacement
			       : !scan.has_modrm ? address_in(bytes, length, &scan)
						 : 0;
	if (of_vectors(&scan, effect) || scan.encoding != ENCODING_LEGACY || scan.operand_size)
		return;
	if (scan.map == MAP_ONE_BYTE)
		one_byte(mode, &scan, effect);
	else if (scan.map == MAP_0F)
		two_bytes(&scan, effect);
	if (is_by_halves(mode, &scan))
		by_halves(&scan, effect);
	effect->sp_change = sp_change(mode, bytes, length, &scan, effect);
}
