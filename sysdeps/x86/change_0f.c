/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What instructions change whose opcodes have more than one byte: see change.c. Most of them are of
 * vectors, and change no general register; only those that write memory, or move something from a
 * vector to a general register, matter.
 */
#include "x86/change_private.h"

/* ------------------------------------------------------------------ behind 0f */

static bool end(struct change_insn *insn)
{
	insn->change->ends = true;
	return true;
}

static bool system_call(struct change_insn *insn)
{
	insn->change->written = 1U << REG_AX | 1U << REG_CX | 1U << 11;
	return insn->mode == X86_MODE_64;
}

/* rdssp; endbr and other hints */
static bool hint(struct change_insn *insn)
{
	const struct x86_scan *scan = &insn->scan;

	return !(scan->rep && scan->mod == 3 && scan->reg == 1) ||
	       change_writes(insn, change_rm(insn));
}

static bool read_time(struct change_insn *insn)
{
	return change_writes(insn, REG_AX) && change_writes(insn, REG_DX);
}

static bool identify(struct change_insn *insn)
{
	return read_time(insn) && change_writes(insn, REG_CX) && change_writes(insn, REG_BX);
}

static bool choose(struct change_insn *insn)
{
	change_reads_rm(insn);
	return change_writes_reg(insn);
}

static bool count_bits(struct change_insn *insn)
{
	return insn->scan.rep && change_writes_reg(insn);
}

static bool set(struct change_insn *insn)
{
	return change_writes_rm(insn, 1);
}

/* movzx, movsx */
static bool extend_byte(struct change_insn *insn)
{
	return change_loads(insn, 1);
}

static bool extend_half(struct change_insn *insn)
{
	return change_loads(insn, 2);
}

static bool store_around_cache(struct change_insn *insn)
{
	change_reads(insn, change_reg(insn));
	return change_writes_memory(insn, CHANGE_WORD);
}

static bool swap_bytes(struct change_insn *insn)
{
	return change_writes(insn, change_low(insn));
}

/* bts, btr, btc: the number of the bit may lead out of the operand. */
static bool change_bit(struct change_insn *insn)
{
	change_reads(insn, change_reg(insn));
	change_writes_rm(insn, CHANGE_WORD);
	insn->change->is_exact = false;
	return true;
}

static bool change_constant_bit(struct change_insn *insn)
{
	if (insn->scan.reg > 4)
		change_writes_rm(insn, CHANGE_WORD);
	return insn->scan.reg >= 4;
}

static bool shift_double(struct change_insn *insn)
{
	change_reads(insn, change_reg(insn));
	return change_writes_rm(insn, CHANGE_WORD);
}

static bool compare_and_exchange(struct change_insn *insn)
{
	change_reads(insn, change_reg(insn));
	change_writes(insn, REG_AX);
	return change_writes_rm(insn, insn->scan.opcode & 1 ? CHANGE_WORD : 1);
}

/* 01: xgetbv and rdtscp; the others are for the system. */
static bool group_7(struct change_insn *insn)
{
	const struct x86_scan *scan = &insn->scan;

	change_writes(insn, REG_CX);
	return read_time(insn) && scan->mod == 3 &&
	       ((scan->reg == 2 && !scan->rm) || (scan->reg == 7 && scan->rm == 1));
}

/* ae: fences, rdfsbase and rdgsbase; ldmxcsr, stmxcsr, clflush */
static bool group_15(struct change_insn *insn)
{
	const struct x86_scan *scan = &insn->scan;

	if (change_has_memory(insn))
		return change_writes_memory(insn, scan->reg == 3 ? 4 : 0) &&
		       (scan->reg == 2 || scan->reg == 3 || scan->reg == 7);
	if (scan->rep)
		return scan->reg < 2 && change_writes(insn, change_rm(insn));
	return scan->reg >= 5;
}

/* c7: cmpxchg8b and cmpxchg16b; rdrand, rdseed, rdpid */
static bool group_9(struct change_insn *insn)
{
	if (change_has_memory(insn))
		return read_time(insn) && change_writes_memory(insn, CHANGE_PAIR) &&
		       insn->scan.reg == 1;
	return change_writes(insn, change_rm(insn)) && insn->scan.reg >= 6;
}

/* ------------------------------------------------------------------ vectors */

static bool store_4(struct change_insn *insn)
{
	const unsigned width = insn->scan.rep ? 4 : insn->scan.repne ? 8 : CHANGE_PAIR;

	return change_writes_memory(insn, width);
}

static bool store_half(struct change_insn *insn)
{
	return change_writes_memory(insn, CHANGE_WORD);
}

static bool store_vector(struct change_insn *insn)
{
	return change_writes_memory(insn, CHANGE_PAIR);
}

/* movd, movq; with rep it loads. */
static bool store_low(struct change_insn *insn)
{
	return insn->scan.rep || change_writes_rm(insn, CHANGE_WORD);
}

/* A general register becomes a part of a vector, or a mask. */
static bool leak_rm(struct change_insn *insn)
{
	if (!change_has_memory(insn))
		insn->change->leaked |= 1U << change_rm(insn);
	return true;
}

/* maskmovdqu */
static bool store_masked(struct change_insn *insn)
{
	return !insn->scan.segment && change_writes_at(insn, REG_DI, CHANGE_PAIR);
}

static change_rule *const behind_0f[256] = {
	[0x01] = group_7,
	[0x05] = system_call,
	[0x0b] = end,		 /* ud2 */
	[0x0d] = change_nothing, /* prefetch */
	[0x10] = change_nothing,
	[0x11] = store_4, /* movups, movss, movsd */
	[0x12] = change_nothing,
	[0x13] = store_half,
	[0x14 ... 0x16] = change_nothing,
	[0x17] = store_half,
	[0x18 ... 0x19] = change_nothing, /* hints */
	[0x1c ... 0x1d] = change_nothing,
	[0x1e] = hint,
	[0x1f] = change_nothing,
	[0x28] = change_nothing,
	[0x29] = store_vector,
	[0x2a] = leak_rm, /* conversions of integers */
	[0x2b] = store_vector,
	[0x2c ... 0x2d] = change_writes_reg, /* conversions to integers */
	[0x2e ... 0x2f] = change_nothing,
	[0x31] = read_time,
	[0x40 ... 0x4f] = choose,
	[0x50] = change_writes_reg, /* masks of signs */
	[0x51 ... 0x6d] = change_nothing,
	[0x6e] = leak_rm, /* movd, movq */
	[0x6f ... 0x77] = change_nothing,
	[0x7c ... 0x7d] = change_nothing,
	[0x7e] = store_low,
	[0x7f] = store_vector,
	[0x80 ... 0x8f] = change_nothing, /* conditional jumps */
	[0x90 ... 0x9f] = set,
	[0xa2] = identify,
	[0xa3] = change_nothing, /* bt */
	[0xa4 ... 0xa5] = shift_double,
	[0xab] = change_bit,
	[0xac ... 0xad] = shift_double,
	[0xae] = group_15,
	[0xaf] = change_writes_reg, /* imul */
	[0xb0 ... 0xb1] = compare_and_exchange,
	[0xb3] = change_bit,
	[0xb6] = extend_byte,
	[0xb7] = extend_half,
	[0xb8] = count_bits,
	[0xb9] = end, /* ud1 */
	[0xba] = change_constant_bit,
	[0xbb] = change_bit,
	[0xbc ... 0xbd] = change_writes_reg, /* bsf, bsr, tzcnt, lzcnt */
	[0xbe] = extend_byte,
	[0xbf] = extend_half,
	[0xc0 ... 0xc1] = change_exchanges,
	[0xc2] = change_nothing,
	[0xc3] = store_around_cache,
	[0xc4] = leak_rm,	    /* pinsrw */
	[0xc5] = change_writes_reg, /* pextrw */
	[0xc6] = change_nothing,
	[0xc7] = group_9,
	[0xc8 ... 0xcf] = swap_bytes,
	[0xd0 ... 0xd5] = change_nothing,
	[0xd6] = store_half,
	[0xd7] = change_writes_reg, /* pmovmskb */
	[0xd8 ... 0xe6] = change_nothing,
	[0xe7] = store_vector,
	[0xe8 ... 0xf6] = change_nothing,
	[0xf7] = store_masked,
	[0xf8 ... 0xfe] = change_nothing,
	[0xff] = end, /* ud0 */
};

bool change_0f(struct change_insn *insn)
{
	return change_by(behind_0f, insn);
}

bool change_0f38(struct change_insn *insn)
{
	const unsigned opcode = insn->scan.opcode;

	/* movbe, crc32; adcx, adox */
	if (opcode == 0xf0 || opcode == 0xf1)
		return change_writes_reg(insn) && change_writes_memory(insn, CHANGE_WORD);
	if (opcode == 0xf6)
		return change_writes_reg(insn) && (insn->scan.operand_size || insn->scan.rep);
	/* SSSE3, SSE4, SHA, AES */
	return opcode <= 0x41 || (opcode >= 0xc8 && opcode <= 0xcf) ||
	       (opcode >= 0xdb && opcode <= 0xdf && insn->scan.operand_size && !insn->scan.rep);
}

bool change_0f3a(struct change_insn *insn)
{
	const unsigned opcode = insn->scan.opcode;

	if (opcode >= 0x14 && opcode <= 0x17) /* pextr, extractps */
		change_writes_rm(insn, CHANGE_WORD);
	if (opcode >= 0x60 && opcode <= 0x63) /* pcmpistri and the like */
		change_writes(insn, REG_CX);
	if (opcode == 0x20 || opcode == 0x22) /* pinsr */
		leak_rm(insn);
	return opcode <= 0x63 || opcode == 0xcc || opcode == 0xce || opcode == 0xcf ||
	       opcode == 0xdf;
}

/* ------------------------------------------------------------------ VEX and EVEX */

static bool write_all(struct change_insn *insn)
{
	insn->change->written = CHANGE_ALL;
	insn->change->leaked = CHANGE_ALL | 1U << REG_SP;
	return true;
}

static bool vex_0f(struct change_insn *insn)
{
	const unsigned opcode = insn->scan.opcode;

	if (opcode >= 0x90 && opcode <= 0x93) /* kmov */
		return change_writes_memory(insn, CHANGE_WORD) && leak_rm(insn) &&
		       (opcode != 0x93 || write_all(insn));
	if (opcode == 0xae) /* vldmxcsr, vstmxcsr */
		return change_writes_memory(insn, insn->scan.reg == 3 ? 4 : 0) &&
		       change_has_memory(insn);
	if (opcode >= 0x78 && opcode <= 0x7b) /* EVEX: conversions */
		return write_all(insn);
	/* Others of mask registers. */
	if ((opcode >= 0x41 && opcode <= 0x4b) || opcode == 0x98 || opcode == 0x99)
		return true;
	if ((opcode < 0x10 || opcode > 0x17) && (opcode < 0x28 || opcode > 0x2f) &&
	    (opcode < 0x50 || opcode > 0x7f) && (opcode < 0xc2 || opcode > 0xc6) && opcode < 0xd0)
		return false;
	if (opcode == 0xc3 || opcode == 0xf7 || opcode == 0xff || !change_0f(insn))
		return false;
	if (insn->change->stored)
		insn->change->stored = CHANGE_VECTOR;
	return !insn->change->written || write_all(insn);
}

/* Stores of vectors behind 0f 38: masked, compressed, narrowed. */
static bool stores_38(const struct change_insn *insn)
{
	const unsigned opcode = insn->scan.opcode;
	const bool is_evex = insn->scan.encoding == ENCODING_EVEX;

	return opcode == 0x2e || opcode == 0x2f || opcode == 0x8e ||
	       (is_evex &&
		(opcode == 0x63 || opcode == 0x8a || opcode == 0x8b ||
		 (opcode >= 0x10 && opcode <= 0x15) || (opcode >= 0x20 && opcode <= 0x25) ||
		 (opcode >= 0x30 && opcode <= 0x35)));
}

static bool vex_38(struct change_insn *insn)
{
	const unsigned opcode = insn->scan.opcode;

	if (stores_38(insn))
		change_writes_memory(insn, CHANGE_VECTOR);
	if (opcode >= 0xf0) /* andn, bextr, mulx, shifts and the like */
		write_all(insn);
	if (opcode >= 0x7a && opcode <= 0x7c) /* vpbroadcast */
		leak_rm(insn);
	/* Not: scatters, tiles, cmpccxadd. */
	return opcode != 0x49 && opcode != 0x4b && !(opcode >= 0xa0 && opcode <= 0xa3) &&
	       !(opcode >= 0xe0 && opcode < 0xf0);
}

static bool vex_3a(struct change_insn *insn)
{
	const unsigned opcode = insn->scan.opcode;
	const bool extracts = opcode >= 0x14 && opcode <= 0x17;

	if (opcode == 0xf0 || (opcode >= 0x60 && opcode <= 0x63) ||
	    (extracts && !change_has_memory(insn)))
		write_all(insn);
	if (extracts || opcode == 0x19 || opcode == 0x1b || opcode == 0x39 || opcode == 0x3b ||
	    opcode == 0x1d)
		change_writes_memory(insn, CHANGE_VECTOR);
	if (opcode == 0x20 || opcode == 0x22)
		leak_rm(insn);
	return true;
}

bool change_vex(struct change_insn *insn)
{
	switch (insn->scan.map) {
	case MAP_0F:
		return vex_0f(insn);
	case MAP_0F38:
		return vex_38(insn);
	case MAP_0F3A:
		return vex_3a(insn);
	default:
		return false;
	}
}
