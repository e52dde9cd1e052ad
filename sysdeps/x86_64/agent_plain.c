/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions at the beginning of functions that can be run out of line: they only move data
 * between registers and memory, or compute. Some cannot fault: those without memory, with memory on
 * the stack, and with the module's own data or the thread's (relative to pc, or to fs). Exceptions
 * are divisions, and floating-point operations if the program enables SIGFPE, which
 * engine/agent/guards.c handles like faults of memory. Instructions that are not listed here may
 * fault in other ways.
 */
#include "x86_64/agent.h"

enum { REG_NUMBER_SP = 4, REG_NUMBER_BP = 5, NO_INDEX = 4, SEGMENT_FS = 4, LEA = 0x8d };

/* One-byte opcodes that cannot fault without a memory operand, except div and idiv. */
static bool is_plain_opcode(const struct x86_scan *scan)
{
	switch (scan->opcode) {
	case 0x00 ... 0x03: /* add, or, adc, sbb, and, sub, xor, cmp */
	case 0x08 ... 0x0b:
	case 0x10 ... 0x13:
	case 0x18 ... 0x1b:
	case 0x20 ... 0x23:
	case 0x28 ... 0x2b:
	case 0x30 ... 0x33:
	case 0x38 ... 0x3b:
	case 0x04 ... 0x05: /* these operations on ax and an immediate */
	case 0x0c ... 0x0d:
	case 0x14 ... 0x15:
	case 0x1c ... 0x1d:
	case 0x24 ... 0x25:
	case 0x2c ... 0x2d:
	case 0x34 ... 0x35:
	case 0x3c ... 0x3d:
	case 0x50 ... 0x57: /* push */
	case 0x58 ... 0x5f: /* pop */
	case 0x63:	    /* movsxd */
	case 0x68:	    /* push immediate */
	case 0x6a:
	case 0x69: /* imul */
	case 0x6b:
	case 0x80 ... 0x81:
	case 0x83:
	case 0x84 ... 0x8b: /* test, xchg, mov */
	case 0x8d:	    /* lea */
	case 0x91 ... 0x97: /* xchg */
	case 0x98 ... 0x99: /* cltq, cqto */
	case 0x9e ... 0x9f: /* sahf, lahf */
	case 0xa8 ... 0xa9:
	case 0xb0 ... 0xbf:
	case 0xc0 ... 0xc1: /* shifts */
	case 0xd0 ... 0xd3:
	case 0xd8 ... 0xdf: /* x87 */
	case 0xf5:	    /* cmc, clc, stc, cld, std */
	case 0xf8 ... 0xf9:
	case 0xfc ... 0xfd:
	case 0xf6 ... 0xf7: /* test, not, neg, mul, div */
		return true;
	case 0xc6 ... 0xc7: /* mov */
		return scan->reg == 0;
	case 0xfe: /* inc, dec */
		return scan->reg < 2;
	case 0xff: /* inc, dec, push */
		return scan->reg < 2 || scan->reg == 6;
	default:
		return false;
	}
}

/*
 * Two-byte opcodes on general registers. Instructions that test a bit selected by a register access
 * memory far away from their operand, so they are not plain with a memory operand.
 */
static bool is_plain_0f_opcode(const struct x86_scan *scan)
{
	switch (scan->opcode) {
	case 0x40 ... 0x4f: /* cmov */
	case 0x90 ... 0x9f: /* set */
	case 0xa4 ... 0xa5: /* shld, shrd */
	case 0xac ... 0xad:
	case 0xaf:	    /* imul */
	case 0xb0 ... 0xb1: /* cmpxchg */
	case 0xb6 ... 0xb7: /* movzx, movsx */
	case 0xbe ... 0xbf:
	case 0xba:	    /* bt, bts, btr, btc with an immediate */
	case 0xbc ... 0xbd: /* bsf, bsr, tzcnt, lzcnt */
	case 0xc0 ... 0xc1: /* xadd */
	case 0xc8 ... 0xcf: /* bswap */
		return true;
	case 0xa3: /* bt, bts, btr, btc */
	case 0xab:
	case 0xb3:
	case 0xbb:
		return scan->mod == 3;
	case 0xb8: /* popcnt */
		return scan->rep;
	case 0xae: /* lfence, mfence, sfence */
		return scan->mod == 3 && scan->reg >= 5 && !scan->rep && !scan->repne &&
		       !scan->operand_size;
	default:
		return false;
	}
}

/* BMI instructions with a VEX prefix; the legacy ones are crc32, adcx, adox. */
static bool is_plain_integer_extension(const struct x86_scan *scan)
{
	if (scan->map == MAP_0F3A)
		return scan->encoding == ENCODING_VEX && scan->opcode == 0xf0; /* rorx */
	if (scan->map != MAP_0F38)
		return false;
	if (scan->encoding == ENCODING_LEGACY)
		return (scan->opcode == 0xf6 && (scan->operand_size || scan->rep)) ||
		       ((scan->opcode & 0xfe) == 0xf0 && scan->repne);
	return scan->opcode == 0xf2 || scan->opcode == 0xf3 ||
	       (scan->opcode >= 0xf5 && scan->opcode <= 0xf7);
}

/*
 * Moves, conversions, comparisons and arithmetic of vectors, with which functions on numbers and
 * strings begin. Not plain: stores to an implicit address (maskmovdqu), and non-temporal stores.
 */
static bool is_plain_vector_opcode(const struct x86_scan *scan)
{
	if (scan->map == MAP_0F38) /* pshufb and others; broadcasts */
		return scan->opcode <= 0x0b || (scan->opcode >= 0x1c && scan->opcode <= 0x25) ||
		       scan->opcode == 0x28 || scan->opcode == 0x29 ||
		       (scan->opcode >= 0x30 && scan->opcode <= 0x40) ||
		       (scan->opcode & 0xfe) == 0x58 ||
		       (scan->opcode >= 0x78 && scan->opcode <= 0x7c);
	switch (scan->map == MAP_0F ? scan->opcode : 0) {
	case 0x10 ... 0x17:
	case 0x28 ... 0x2a:
	case 0x2c ... 0x2f:
	case 0x50 ... 0x77:
	case 0x7e ... 0x7f:
	case 0xc2:
	case 0xc4 ... 0xc6:
	case 0xd1 ... 0xdf:
	case 0xe0 ... 0xe6:
	case 0xe8 ... 0xef:
	case 0xf1 ... 0xf6:
	case 0xf8 ... 0xfe:
		return true;
	default:
		return false;
	}
}

/* Hints, which never fault. */
static bool is_prefetch(const struct x86_scan *scan)
{
	return scan->encoding == ENCODING_LEGACY && scan->map == MAP_0F &&
	       (scan->opcode == 0x18 || scan->opcode == 0x0d);
}

static bool is_plain(const struct x86_scan *scan)
{
	if (scan->encoding == ENCODING_LEGACY && scan->map == MAP_ONE_BYTE)
		return is_plain_opcode(scan);
	if (scan->encoding == ENCODING_LEGACY && scan->map == MAP_0F && is_plain_0f_opcode(scan))
		return true;
	if (scan->encoding == ENCODING_EVEX)
		return is_plain_vector_opcode(scan) && scan->mod == 3;
	return is_plain_vector_opcode(scan) || is_plain_integer_extension(scan) ||
	       is_prefetch(scan);
}

/* Memory at a distance from the stack pointer, or from %rbp if that is a frame pointer. */
static bool is_on_stack(const struct x86_scan *scan, bool has_frame)
{
	if (scan->rex & 1 || scan->segment)
		return false;
	if (scan->rm == REG_NUMBER_SP)
		return scan->has_sib && (scan->sib & 7) == REG_NUMBER_SP &&
		       (scan->sib >> 3 & 7) == NO_INDEX && !(scan->rex & 2);
	return has_frame && scan->rm == REG_NUMBER_BP && (scan->mod == 1 || scan->mod == 2);
}

enum x86_64_plain x86_64_plain(const struct x86_scan *scan, bool has_frame)
{
	const bool memory = scan->has_modrm && scan->mod != 3;
	const bool own = scan->pc_relative || scan->segment == SEGMENT_FS ||
			 (memory && is_on_stack(scan, has_frame));

	if (!is_plain(scan) || scan->address_size || (scan->lock && !memory))
		return PLAIN_NOT;
	if (!memory || own || is_prefetch(scan) ||
	    (scan->map == MAP_ONE_BYTE && scan->opcode == LEA))
		return PLAIN_NEVER_FAULTS;
	return scan->segment ? PLAIN_NOT : PLAIN_ACCESS;
}
