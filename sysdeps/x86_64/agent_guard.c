/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that begin by reading what they were given a pointer to: pthread_mutex_lock(), members
 * of C++ classes. Such an instruction may fault, and that must not be in a stub, where a handler of
 * the signal would find the thread. So the same word is read before, by a guard, which nothing has
 * happened before: where that faults the thread can begin the function anew, without a jump
 * (engine/agent/guards.c). Memory that was there will be some instructions later, unless another
 * thread takes it away just then: its owner's handler would see a pc in the stub, and may return
 * there.
 *
 * A guard is `push operand`, as that changes no flags and no register but the stack pointer, which
 * a lea puts back. It reads 8 bytes: at least those of the instruction. An operand must be what it
 * will be in the instruction, so no register of it may have been written in between. What might
 * have is known roughly: more than there is counts as written.
 *
 * Read only: whether something can be written is not known before it is. And only by what reads in
 * any case, so not behind a branch.
 */
#include "x86_64/agent.h"

#include <string.h>

enum { REG_NUMBER_SP = 4, PUSH_GROUP = 0xff, PUSH = 6, PUSHED = 8 };

static const uint8_t put_back[AGENT_GUARD_BACK] = {0x48, 0x8d, 0x64, 0x24, 0x08};

static bool reads_only(const struct x86_scan *scan)
{
	switch (scan->opcode) {
	case 0x02 ... 0x03: /* add, or, adc, sbb, and, sub, xor, cmp: to a register */
	case 0x0a ... 0x0b:
	case 0x12 ... 0x13:
	case 0x1a ... 0x1b:
	case 0x22 ... 0x23:
	case 0x2a ... 0x2b:
	case 0x32 ... 0x33:
	case 0x38 ... 0x3b: /* cmp */
	case 0x63:	    /* movsxd */
	case 0x69:	    /* imul */
	case 0x6b:
	case 0x84 ... 0x85: /* test */
	case 0x8a ... 0x8b: /* mov to a register */
		return true;
	case 0x80 ... 0x81: /* cmp with an immediate */
	case 0x83:
		return scan->reg == 7;
	case 0xf6 ... 0xf7: /* test with an immediate */
		return scan->reg < 2;
	case PUSH_GROUP:
		return scan->reg == PUSH;
	default:
		return false;
	}
}

/* The same of two bytes; no more than 8 of memory. */
static bool reads_only_0f(const struct x86_scan *scan)
{
	switch (scan->opcode) {
	case 0x10: /* movss, movsd: to a register */
		return scan->rep || scan->repne;
	case 0x7e: /* movq: to a register */
		return scan->rep;
	case 0x40 ... 0x4f: /* cmov: reads in any case */
	case 0xaf:	    /* imul */
	case 0xb6 ... 0xb7: /* movzx, movsx */
	case 0xbe ... 0xbf:
		return true;
	default:
		return false;
	}
}

/* Bit n: register n may be changed. Those of bytes may be parts of others. */
static uint32_t registers_of(const struct x86_scan *scan)
{
	const unsigned reg = scan->reg | (scan->rex & 4 ? 8U : 0);
	const unsigned rm = scan->rm | (scan->rex & 1 ? 8U : 0);
	const unsigned named = (scan->opcode & 7) | (scan->rex & 1 ? 8U : 0);
	uint32_t all = 1U << REG_AX | 1U << REG_DX; /* of many instructions */

	if (scan->has_modrm)
		all |= 1U << reg | 1U << (reg & 3);
	if (scan->has_modrm && scan->mod == 3)
		all |= 1U << rm | 1U << (rm & 3);
	if (!scan->has_modrm)
		all |= 1U << named | 1U << (named & 3);
	return all;
}

void x86_64_guard_pass(struct x86_64_guards *guards, const struct x86_scan *scan)
{
	const bool pushes = scan->encoding == ENCODING_LEGACY && scan->map == MAP_ONE_BYTE &&
			    (scan->opcode & 0xf8) == 0x50;

	if (!pushes)
		guards->written |= registers_of(scan);
}

/* Whether base and index are what they were at the function's beginning. */
static bool is_unchanged(const struct x86_64_guards *guards, const struct x86_scan *scan)
{
	const unsigned extended = scan->rex & 1 ? 8 : 0;
	unsigned base = scan->rm | extended, index = REG_NUMBER_SP;

	if (scan->has_sib) {
		base = (scan->sib & 7) | extended;
		index = (scan->sib >> 3 & 7) | (scan->rex & 2 ? 8U : 0);
		if ((scan->sib & 7) == 5 && !scan->mod)
			return false; /* an address of 32 bits */
	}
	return base != REG_NUMBER_SP && !(guards->written >> base & 1) &&
	       (index == REG_NUMBER_SP || !(guards->written >> index & 1));
}

bool x86_64_guard(struct x86_64_guards *guards, const uint8_t *bytes, const struct x86_scan *scan)
{
	const uint8_t rex = scan->rex & 3;
	uint8_t *out = guards->bytes + guards->length;
	/* From the ModRM byte on: with SIB byte and displacement. */
	const size_t operand = 1U + scan->has_sib + scan->displacement_length;

	if (guards->branched || scan->encoding != ENCODING_LEGACY || scan->lock ||
	    scan->address_size || scan->segment || scan->pc_relative || !scan->has_modrm ||
	    scan->mod == 3 || !is_unchanged(guards, scan) ||
	    !(scan->map == MAP_ONE_BYTE ? reads_only(scan)
					: scan->map == MAP_0F && reads_only_0f(scan)) ||
	    guards->length + (rex != 0) + 1 + operand + sizeof put_back > sizeof guards->bytes)
		return false;
	if (rex)
		*out++ = (uint8_t)(0x40 | rex);
	*out++ = PUSH_GROUP;
	memcpy(out, bytes + scan->length - operand, operand);
	*out = (uint8_t)((*out & 0xc7) | PUSH << 3);
	memcpy(out + operand, put_back, sizeof put_back);
	guards->length = (size_t)(out - guards->bytes) + operand + sizeof put_back;
	return true;
}

bool x86_64_is_guard(const uint8_t bytes[AGENT_GUARD_BACK], uint64_t *pushed)
{
	const bool is_behind = !memcmp(bytes, put_back, sizeof put_back);

	*pushed = is_behind ? PUSHED : 0;
	return is_behind || bytes[0] == PUSH_GROUP ||
	       ((bytes[0] & 0xfc) == 0x40 && bytes[1] == PUSH_GROUP);
}
