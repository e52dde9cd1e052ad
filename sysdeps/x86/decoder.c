/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The length of an instruction. scan.c reads from the encoding where a pc-relative displacement is,
 * and what a branch refers to; the length of the immediate operand is left.
 *
 * In the two oldest opcode maps the immediate depends on the single opcode, and libcapstone tells.
 * Its handles are opened without details, which makes decoding several times faster. A decoder
 * keeps a handle for each mode, and memory for one instruction, so decoding allocates nothing.
 *
 * In the newer maps and groups (SSSE3 and later, VEX, EVEX) the length follows from the encoding:
 * one immediate byte or none, by rule. It is computed here, because no release of a disassembler
 * knows all the instructions that today's libraries select at run time: libcapstone 4.0.2 lacks
 * some of AVX-512, GFNI and CET. So an instruction that does not exist is accepted there: it raises
 * SIGILL in its XOL slot as it would in its place.
 */
#include "base/xalloc.h"
#include "x86/x86.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdlib.h>

struct decoder {
	csh handle_64, handle_32; /* 0: not opened */
	cs_insn *insn;
};

void decoder_destroy(struct decoder *decoder)
{
	if (!decoder)
		return;
	if (decoder->insn)
		cs_free(decoder->insn, 1);
	if (decoder->handle_64)
		cs_close(&decoder->handle_64);
	if (decoder->handle_32)
		cs_close(&decoder->handle_32);
	free(decoder);
}

struct decoder *decoder_create(void)
{
	struct decoder *decoder = xcalloc(1, sizeof *decoder);

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder->handle_64) != CS_ERR_OK ||
	    cs_open(CS_ARCH_X86, CS_MODE_32, &decoder->handle_32) != CS_ERR_OK)
		goto fail;
	decoder->insn = cs_malloc(decoder->handle_64);
	if (!decoder->insn)
		goto fail;
	return decoder;
fail:
	decoder_destroy(decoder);
	return NULL;
}

/*
 * Two-byte opcodes without a prefix that new instructions are still added to: groups 6, 7, 15 and
 * 9, and the hints (18 … 1f), which are no-ops until a processor defines them. None has an
 * immediate.
 */
static bool is_growing_group(uint8_t opcode)
{
	return opcode == 0x00 || opcode == 0x01 || opcode == 0xae || opcode == 0xc7 ||
	       (opcode >= 0x18 && opcode <= 0x1f);
}

/* VEX and EVEX opcodes of the 0f map with an immediate byte: shifts, compares, shuffles. */
static bool has_vex_immediate(uint8_t opcode)
{
	return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
	       (opcode >= 0xc4 && opcode <= 0xc6);
}

/* Bytes of immediate behind the scanned part, if a rule tells; else -1. */
static int regular_immediate(const struct x86_scan *scan)
{
	switch (scan->map) {
	case MAP_0F38:
	case MAP_EVEX_5_6: /* half-precision arithmetic */
		return 0;
	case MAP_0F3A:
		return 1;
	case MAP_0F:
		if (scan->encoding == ENCODING_LEGACY)
			return is_growing_group(scan->opcode) ? 0 : -1;
		return has_vex_immediate(scan->opcode) ? 1 : 0;
	default:
		return -1;
	}
}

int x86_decode_length(struct decoder *decoder, enum x86_mode mode, const uint8_t *bytes,
		      size_t length, const struct x86_scan *scan)
{
	csh handle = mode == X86_MODE_64 ? decoder->handle_64 : decoder->handle_32;
	int immediate = regular_immediate(scan);
	uint64_t address = 0;
	size_t left = length, decoded;

	if (immediate >= 0) {
		decoded = (size_t)scan->length + (size_t)immediate;
		return decoded <= length && decoded <= 15 ? (int)decoded : -EILSEQ;
	}
	if (!cs_disasm_iter(handle, &bytes, &left, &address, decoder->insn))
		return -EILSEQ;
	decoded = decoder->insn->size;
	return decoded >= scan->length && decoded <= 15 ? (int)decoded : -EILSEQ;
}
