/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The regular part of the x86 instruction encoding: prefixes, opcode map, ModRM, SIB and
 * displacement (Intel SDM volume 2, chapter 2 and appendix A). Two results must be right for every
 * instruction: where a pc-relative displacement is, and what an indirect branch refers to. So they
 * are not left to a disassembler's idea of operands.
 *
 * This file does not know which opcodes exist, nor how long an immediate is; decoder.c does.
 */
#include "x86/x86.h"

#include <errno.h>
#include <string.h>

enum { INSN_MAX = 15 };

struct cursor {
	const uint8_t *bytes;
	size_t length;
	size_t at;
};

/* One bit for each opcode; the lowest bit of the first row is opcode 0. */
static bool opcode_in(const uint16_t rows[16], uint8_t opcode)
{
	return rows[opcode >> 4] >> (opcode & 15) & 1;
}

/* Opcodes of the one-byte map with a ModRM byte. */
static const uint16_t modrm_one_byte[16] = {
	0x0f0f, 0x0f0f, 0x0f0f, 0x0f0f, /* arithmetic: four of each eight */
	0x0000, 0x0000, 0x0a0c, 0x0000, /* 62 63, 69 6b */
	0xffff, 0x0000, 0x0000, 0x0000, /* 80 - 8f */
	0x00f3, 0xff0f, 0x0000, 0xc0c0, /* c0 c1 c4-c7, d0-d3 d8-df, f6 f7 fe ff */
};

/* Opcodes of the two-byte map, 0f xx, with a ModRM byte. */
static const uint16_t modrm_0f[16] = {
	0xa00f, 0xffff, 0xff0f, 0x0000, /* 00-03 0d 0f, 10-1f, 20-23 28-2f */
	0xffff, 0xffff, 0xffff, 0xff7f, /* all but 77 */
	0x0000, 0xffff, 0xf838, 0xffff, /* 90-9f, a3-a5 ab-af, b0-bf */
	0x00ff, 0xffff, 0xffff, 0xffff, /* c0-c7, d0-ff */
};

static bool next_byte(struct cursor *cursor, uint8_t *byte)
{
	if (cursor->at >= cursor->length)
		return false;
	*byte = cursor->bytes[cursor->at++];
	return true;
}

/* Notes a legacy prefix; false if the byte is none. */
static bool take_prefix(uint8_t byte, struct x86_scan *scan)
{
	switch (byte) {
	case 0xf0:
		scan->lock = true;
		return true;
	case 0xf2:
		scan->repne = true;
		return true;
	case 0xf3:
		scan->rep = true;
		return true;
	case 0x66:
		scan->operand_size = true;
		return true;
	case 0x67:
		scan->address_size = true;
		return true;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
		/* In 64-bit code these are ignored, and do not cancel an fs or gs. */
		if (!scan->segment)
			scan->segment = 1;
		return true;
	case 0x64:
	case 0x65:
		scan->segment = byte == 0x64 ? 4 : 5;
		return true;
	default:
		return false;
	}
}

/* Prefixes, and the byte behind them. A REX counts only right before the opcode. */
static int scan_prefixes(struct cursor *cursor, enum x86_mode mode, struct x86_scan *scan,
			 uint8_t *byte)
{
	for (;;) {
		if (!next_byte(cursor, byte))
			return -EILSEQ;
		if (take_prefix(*byte, scan))
			scan->rex = 0;
		else if (mode == X86_MODE_64 && (*byte & 0xf0) == 0x40)
			scan->rex = *byte;
		else
			return 0;
	}
}

/*
 * c4, c5 and 62 begin VEX and EVEX; in 32-bit code only if the next byte would be a register
 * operand, which the old instructions (les, lds, bound) cannot have. 8f begins XOP (AMD) if its map
 * number is 8 or more; else it is pop.
 */
static uint8_t vex_payload(const struct cursor *cursor, enum x86_mode mode, uint8_t byte)
{
	uint8_t following;

	if (cursor->at >= cursor->length)
		return 0;
	following = cursor->bytes[cursor->at];
	if (byte == 0x8f)
		return (following & 0x1f) >= 8 ? 2 : 0;
	if (mode == X86_MODE_32 && (following & 0xc0) != 0xc0)
		return 0;
	return byte == 0xc5 ? 1 : byte == 0xc4 ? 2 : byte == 0x62 ? 3 : 0;
}

/* The opcode of a VEX, EVEX or XOP instruction whose prefix has `payload` more bytes. */
static int scan_vex(struct cursor *cursor, uint8_t first, uint8_t payload, struct x86_scan *scan)
{
	uint8_t bytes[3] = {0}, map;

	for (uint8_t i = 0; i < payload; i++)
		if (!next_byte(cursor, &bytes[i]))
			return -EILSEQ;
	map = payload == 1 ? 1 : payload == 2 ? bytes[0] & 0x1f : bytes[0] & 7;
	if (payload == 3 && (map == 5 || map == 6))
		map = MAP_EVEX_5_6;
	else if (first == 0x8f || map == 0 || map > 3)
		map = MAP_OTHER;
	scan->encoding = payload == 3 ? ENCODING_EVEX : ENCODING_VEX;
	scan->map = map;
	if (!next_byte(cursor, &scan->opcode))
		return -EILSEQ;
	/* vzeroupper and vzeroall have no ModRM. */
	scan->has_modrm = !(map == MAP_0F && scan->opcode == 0x77);
	return 0;
}

static int scan_opcode(struct cursor *cursor, enum x86_mode mode, uint8_t byte,
		       struct x86_scan *scan)
{
	uint8_t payload = vex_payload(cursor, mode, byte);

	if (payload)
		return scan_vex(cursor, byte, payload, scan);
	scan->map = MAP_ONE_BYTE;
	scan->opcode = byte;
	scan->has_modrm = opcode_in(modrm_one_byte, byte);
	if (byte != 0x0f)
		return 0;
	if (!next_byte(cursor, &scan->opcode))
		return -EILSEQ;
	scan->map = scan->opcode == 0x38 ? MAP_0F38 : scan->opcode == 0x3a ? MAP_0F3A : MAP_0F;
	scan->has_modrm = scan->map != MAP_0F || opcode_in(modrm_0f, scan->opcode);
	if (scan->map != MAP_0F && !next_byte(cursor, &scan->opcode))
		return -EILSEQ;
	return 0;
}

/* Sets *length to the bytes of displacement that follow; also reads the SIB byte. */
static int displacement_length(struct cursor *cursor, enum x86_mode mode, struct x86_scan *scan,
			       uint8_t *length)
{
	bool is_16bit = mode == X86_MODE_32 && scan->address_size;

	*length = 0;
	if (scan->mod == 3)
		return 0;
	if (is_16bit) {
		*length = scan->mod == 0 ? (scan->rm == 6 ? 2 : 0) : scan->mod;
		return 0;
	}
	scan->has_sib = scan->rm == 4;
	if (scan->has_sib && !next_byte(cursor, &scan->sib))
		return -EILSEQ;
	if (scan->mod == 1)
		*length = 1;
	else if (scan->mod == 2 || scan->rm == 5 || (scan->has_sib && (scan->sib & 7) == 5))
		*length = 4;
	scan->pc_relative = mode == X86_MODE_64 && scan->mod == 0 && scan->rm == 5;
	return 0;
}

static int scan_modrm(struct cursor *cursor, enum x86_mode mode, struct x86_scan *scan)
{
	uint8_t modrm, length, byte;
	uint32_t value = 0;
	int err;

	if (!next_byte(cursor, &modrm))
		return -EILSEQ;
	scan->mod = modrm >> 6;
	scan->reg = modrm >> 3 & 7;
	scan->rm = modrm & 7;
	err = displacement_length(cursor, mode, scan, &length);
	if (err)
		return err;
	scan->displacement_offset = (uint8_t)cursor->at;
	scan->displacement_length = length;
	for (uint8_t i = 0; i < length; i++) {
		if (!next_byte(cursor, &byte))
			return -EILSEQ;
		value |= (uint32_t)byte << (8 * i);
	}
	if (length == 1)
		scan->displacement = (int8_t)value;
	else if (length == 2)
		scan->displacement = (int16_t)value;
	else
		scan->displacement = (int32_t)value;
	return 0;
}

int x86_scan(const uint8_t *bytes, size_t length, enum x86_mode mode, struct x86_scan *scan)
{
	struct cursor cursor = {.bytes = bytes, .length = length < INSN_MAX ? length : INSN_MAX};
	uint8_t byte;
	int err;

	memset(scan, 0, sizeof *scan);
	err = scan_prefixes(&cursor, mode, scan, &byte);
	if (err)
		return err;
	err = scan_opcode(&cursor, mode, byte, scan);
	if (err)
		return err;
	if (scan->has_modrm) {
		err = scan_modrm(&cursor, mode, scan);
		if (err)
			return err;
	}
	scan->length = (uint8_t)cursor.at;
	return 0;
}

/* Bytes of a memory or register operand, from its ModRM byte on. */
static unsigned operand_length(const uint8_t *modrm)
{
	unsigned mod = modrm[0] >> 6;
	unsigned rm = modrm[0] & 7;
	unsigned length = mod != 3 && rm == 4 ? 2 : 1;

	if (mod == 1)
		return length + 1;
	if (mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (modrm[1] & 7) == 5))))
		return length + 4;
	return length;
}

bool x86_ends_with_call(const uint8_t bytes[ARCH_CALL_MAX])
{
	if (bytes[ARCH_CALL_MAX - 5] == 0xe8)
		return true;
	for (unsigned back = 2; back <= 7; back++) {
		const uint8_t *place = bytes + ARCH_CALL_MAX - back;

		/* A SIB byte would be the third: *%rax and *(%rax) have two bytes. */
		if (place[0] == 0xff && (place[1] >> 3 & 7) == 2 &&
		    (back > 2 || place[1] >> 6 == 3 || (place[1] & 7) != 4) &&
		    1 + operand_length(place + 1) == back)
			return true;
	}
	return false;
}
