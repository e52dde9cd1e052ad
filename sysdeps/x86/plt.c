/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PLT stubs: an optional endbr, then a jump through a GOT slot. What linkers write:
 *
 *	ff 25 disp32		jmp *slot(%rip), or *slot on i386	GNU ld, gold, lld, mold
 *	f2 ff 25 disp32		with bnd				-z ibtplt of older GNU ld
 *	48 ff 25, 67 ff 25	padded with a REX or address-size prefix, notrack (3e)
 *	ff a3 disp32		jmp *slot-got(%ebx)			i386 PIC
 *	4c 8b 1d disp32		mov slot(%rip),%r11, and a jump later	lld's retpoline PLT, mold
 *	8b 0d disp32		mov slot,%ecx, and a jump later		mold on i386
 *	8b 8b disp32		mov slot-got(%ebx),%ecx			the same, PIC
 */
#include "x86/x86.h"

#include <string.h>

static bool starts_with_endbr(const uint8_t *bytes, size_t length)
{
	static const uint8_t endbr[3] = {0xf3, 0x0f, 0x1e};

	return length >= 4 && !memcmp(bytes, endbr, sizeof endbr) &&
	       (bytes[3] == 0xfa || bytes[3] == 0xfb);
}

/* Whether the instruction reads a word from memory to go there, now or one instruction later. */
static bool is_slot_access(const struct x86_scan *scan, enum x86_mode mode)
{
	if (scan->encoding != ENCODING_LEGACY || scan->map != MAP_ONE_BYTE || scan->operand_size ||
	    scan->lock || !scan->has_modrm || scan->displacement_length != 4 || scan->has_sib)
		return false;
	if (scan->opcode == 0xff)
		return scan->reg == 4;
	if (scan->opcode != 0x8b)
		return false;
	/* mov to r11 (REX.W and REX.R) or ecx, the scratch registers of a PLT */
	return mode == X86_MODE_64 ? scan->reg == 3 && (scan->rex & 0xc) == 0xc : scan->reg == 1;
}

bool x86_plt_slot(enum x86_mode mode, const uint8_t *bytes, size_t length, uint64_t address,
		  uint64_t got, uint64_t *slot)
{
	struct x86_scan scan;
	size_t skip = starts_with_endbr(bytes, length) ? 4 : 0;

	if (x86_scan(bytes + skip, length - skip, mode, &scan) || !is_slot_access(&scan, mode))
		return false;

	uint64_t sum = (uint64_t)(int64_t)scan.displacement;

	if (mode == X86_MODE_64) {
		if (!scan.pc_relative || scan.segment > 1)
			return false;
		*slot = sum + address + skip + scan.length;
		return true;
	}
	if (scan.address_size || scan.segment > 1)
		return false;
	if (scan.mod == 2 && scan.rm == REG_BX)
		sum += got;
	else if (scan.mod != 0)
		return false;
	*slot = (uint32_t)sum;
	return true;
}
