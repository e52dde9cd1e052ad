/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds instructions that refer to a word on the stack, without decoding all instructions before
 * them. It is not known where instructions begin, but the bytes that encode [%rsp + N] or [%rbp +
 * N] are few, and rarely there by chance for a given N. Such an operand counts if the instruction
 * moves, adds, compares, or takes the address of 8 bytes (REX.W), or pushes them (FF). With REX.B
 * the operand has another register.
 */
#include "sysdeps/x86_64/agent.h"

#include <string.h>

enum { DWARF_BP = 6, DWARF_SP = 7, SIB_SP = 0x24, GROUP_5 = 0xff, ESCAPE = 0x0f };

/* The displacement at `bytes`, as the mod field of the ModRM byte says. */
static int64_t displacement(const uint8_t *bytes, unsigned mod)
{
	int32_t wide;

	if (mod != 2)
		return mod ? (int8_t)bytes[0] : 0;
	memcpy(&wide, bytes, sizeof wide);
	return wide;
}

/* Returns true if the operand at `modrm` is the word at `offset` from the register. */
static bool is_operand(const uint8_t *modrm, uint64_t reg, int64_t offset)
{
	unsigned mod = modrm[0] >> 6, rm = modrm[0] & 7;

	if (reg == DWARF_SP)
		return mod != 3 && rm == 4 && modrm[1] == SIB_SP &&
		       displacement(modrm + 2, mod) == offset;
	return reg == DWARF_BP && (mod == 1 || mod == 2) && rm == 5 &&
	       displacement(modrm + 1, mod) == offset;
}

static bool is_wide(uint8_t rex)
{
	return (rex & 0xf9) == 0x48;
}

bool x86_64_names_word(const struct agent_function *function, size_t from, size_t to, uint64_t reg,
		       int64_t offset)
{
	enum { OPERAND_MAX = 6 };
	const uint8_t *bytes = function->bytes;

	for (size_t i = from + 1; i < to && i + OPERAND_MAX <= function->length; i++) {
		if (!is_operand(bytes + i, reg, offset))
			continue;
		if (bytes[i - 1] == GROUP_5 || (i >= from + 2 && is_wide(bytes[i - 2])) ||
		    (i >= from + 3 && bytes[i - 2] == ESCAPE && is_wide(bytes[i - 3])))
			return true;
	}
	return false;
}
