/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plain moves that small functions consist of. An instruction counts only if all that it does
 * is known here. effect.c is for analyses that may assume an instruction to do more than it does.
 */
#include "x86/x86.h"

#include <string.h>

enum { NO_INDEX = 4, NO_BASE = 5, REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8, HIGH = 8 };
enum { IMMEDIATE_BYTES = 4 };

struct reading {
	struct x86_scan scan;
	enum x86_mode mode;
	const uint8_t *immediate;
	size_t immediate_length;
	struct insn_move *move;
};

static int8_t reg_of(const struct x86_scan *scan)
{
	return (int8_t)(scan->reg + (scan->rex & REX_R ? HIGH : 0U));
}

static int8_t rm_of(const struct x86_scan *scan)
{
	return (int8_t)(scan->rm + (scan->rex & REX_B ? HIGH : 0U));
}

static int8_t low_of(const struct x86_scan *scan)
{
	return (int8_t)((scan->opcode & 7U) + (scan->rex & REX_B ? HIGH : 0U));
}

/* Returns true if the operation is on all bits of a register. */
static bool is_whole(const struct reading *reading)
{
	return reading->mode == X86_MODE_32 || (reading->scan.rex & REX_W);
}

static bool of_registers(const struct reading *reading)
{
	return reading->scan.has_modrm && reading->scan.mod == 3;
}

static bool set(struct reading *reading, enum insn_move_kind kind, int8_t base, int8_t to)
{
	reading->move->kind = (uint8_t)kind;
	reading->move->base = base;
	reading->move->to = to;
	return true;
}

/* A move of a word in memory, or of its address. */
static bool of_memory(struct reading *reading, enum insn_move_kind kind)
{
	const struct x86_scan *scan = &reading->scan;
	int8_t base = rm_of(scan);

	if (!is_whole(reading) || scan->mod == 3)
		return false;
	if (scan->has_sib) {
		if ((scan->sib >> 3 & 7) != NO_INDEX || (scan->rex & REX_X))
			return false;
		base = (int8_t)((scan->sib & 7) + (scan->rex & REX_B ? HIGH : 0U));
		if ((scan->sib & 7) == NO_BASE && !scan->mod)
			base = MOVE_BASE_NONE;
	} else if (scan->rm == NO_BASE && !scan->mod) {
		base = scan->pc_relative ? MOVE_BASE_PC : MOVE_BASE_NONE;
	}
	reading->move->displacement = scan->displacement;
	return set(reading, kind, base, reg_of(scan));
}

static bool number(const struct reading *reading, int32_t *value)
{
	if (reading->immediate_length != IMMEDIATE_BYTES)
		return false;
	memcpy(value, reading->immediate, IMMEDIATE_BYTES);
	return true;
}

/* A constant; in 64-bit code of 32 bits, with the upper ones 0. */
static bool load_constant(struct reading *reading)
{
	int32_t value;

	if ((reading->scan.rex & REX_W) || !number(reading, &value))
		return false;
	reading->move->displacement = (uint32_t)value;
	return set(reading, MOVE_ADDRESS, MOVE_BASE_NONE, low_of(&reading->scan));
}

/* A constant whose sign goes on in all bits above its 32. */
static bool load_signed(struct reading *reading)
{
	int32_t value;

	if (!is_whole(reading) || !of_registers(reading) || reading->scan.reg ||
	    !number(reading, &value))
		return false;
	reading->move->displacement = value;
	return set(reading, MOVE_ADDRESS, MOVE_BASE_NONE, rm_of(&reading->scan));
}

/* In 32-bit code: mov ADDRESS, %eax. */
static bool load_fixed(struct reading *reading)
{
	int32_t value;

	if (reading->mode != X86_MODE_32 || !number(reading, &value))
		return false;
	reading->move->displacement = (uint32_t)value;
	return set(reading, MOVE_LOAD, MOVE_BASE_NONE, REG_AX);
}

/* add, sub and cmp of a register and a constant, selected by the reg field of the ModRM byte. */
static bool of_constant(struct reading *reading)
{
	const bool is_short = reading->scan.opcode == 0x83 && reading->immediate_length == 1;
	const int8_t to = rm_of(&reading->scan);
	int32_t value = is_short ? (int8_t)*reading->immediate : 0;

	if (!is_whole(reading) || !of_registers(reading) || (!is_short && !number(reading, &value)))
		return false;
	reading->move->changes_flags = true;
	if (reading->scan.reg == 7)
		return !value && set(reading, MOVE_TEST, to, -1);
	reading->move->displacement = reading->scan.reg == 5 ? -(int64_t)value : value;
	return (reading->scan.reg == 0 || reading->scan.reg == 5) &&
	       set(reading, MOVE_ADDRESS, to, to);
}

/* In 32-bit code: add $CONSTANT, %eax, a byte shorter than other additions. */
static bool add_short(struct reading *reading)
{
	int32_t value;

	if (!is_whole(reading) || !number(reading, &value))
		return false;
	reading->move->changes_flags = true;
	reading->move->displacement = value;
	return set(reading, MOVE_ADDRESS, REG_AX, REG_AX);
}

/* An operation of a register and itself: xor sets it to 0, test compares it with 0. */
static bool of_itself(struct reading *reading, enum insn_move_kind kind)
{
	const int8_t to = rm_of(&reading->scan);

	if (!of_registers(reading) || to != reg_of(&reading->scan) ||
	    (kind == MOVE_TEST && !is_whole(reading)))
		return false;
	reading->move->changes_flags = true;
	return kind == MOVE_TEST ? set(reading, kind, to, -1)
				 : set(reading, kind, MOVE_BASE_NONE, to);
}

static bool read_opcode(struct reading *reading)
{
	const struct x86_scan *scan = &reading->scan;

	switch (scan->opcode) {
	case 0x05:
		return add_short(reading);
	case 0x31:
	case 0x33:
		return of_itself(reading, MOVE_ADDRESS);
	case 0x50 ... 0x57:
		return set(reading, MOVE_PUSH, low_of(scan), -1);
	case 0x58 ... 0x5f:
		return set(reading, MOVE_POP, MOVE_BASE_NONE, low_of(scan));
	case 0x81:
	case 0x83:
		return of_constant(reading);
	case 0x85:
		return of_itself(reading, MOVE_TEST);
	case 0x89:
		return is_whole(reading) && of_registers(reading) &&
		       set(reading, MOVE_COPY, reg_of(scan), rm_of(scan));
	case 0x8b:
		if (is_whole(reading) && of_registers(reading))
			return set(reading, MOVE_COPY, rm_of(scan), reg_of(scan));
		return of_memory(reading, MOVE_LOAD);
	case 0x8d:
		return of_memory(reading, MOVE_ADDRESS);
	case 0xa1:
		return load_fixed(reading);
	case 0xb8 ... 0xbf:
		return load_constant(reading);
	case 0xc7:
		return load_signed(reading);
	default:
		return false;
	}
}

/* Of the instructions with a segment, a load by the thread pointer is known. */
static bool read_tls(struct reading *reading)
{
	const uint8_t thread = reading->mode == X86_MODE_32 ? 5 : 4; /* gs and fs */

	return reading->scan.segment == thread && reading->scan.opcode == 0x8b &&
	       of_memory(reading, MOVE_LOAD_TLS) && reading->move->base != MOVE_BASE_PC;
}

bool x86_insn_move(enum x86_mode mode, const uint8_t *bytes, size_t length, struct insn_move *move)
{
	struct reading reading = {.mode = mode, .move = move};
	struct x86_scan *scan = &reading.scan;

	*move = (struct insn_move){.base = MOVE_BASE_NONE, .to = -1};
	if (x86_scan(bytes, length, mode, scan))
		return false;
	move->by_segment = scan->segment > 1;
	/* With REX.W, the other prefix for the size of operands says nothing. */
	if (scan->encoding != ENCODING_LEGACY || scan->map != MAP_ONE_BYTE || scan->lock ||
	    scan->rep || scan->repne || scan->address_size ||
	    (scan->operand_size && !(scan->rex & REX_W)))
		return false;
	reading.immediate = bytes + scan->length;
	reading.immediate_length = length - scan->length;
	return scan->segment ? read_tls(&reading) : read_opcode(&reading);
}
