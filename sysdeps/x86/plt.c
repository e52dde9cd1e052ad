/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PLT stubs: an optional endbr, then a jump through a GOT slot. Linkers write these:
 *
 *	ff 25 disp32		jmp *slot(%rip), on i386 jmp *slot	all of them
 *	f2 ff 25 disp32		bnd jmp					GNU ld, -z ibtplt
 *	48 ff 25, 67 ff 25	padded with a REX or address-size prefix, notrack (3e)
 *	ff a3 disp32		jmp *slot-got(%ebx)			i386 PIC
 *	41 bb imm32, ff 25	mov $index,%r11d first			mold
 *	b9 imm32, ff 25 | a3	mov $index,%ecx first			mold, i386
 *	4c 8b 1d disp32		mov slot(%rip),%r11, jumped to later	lld's retpolines
 *	50, a1 addr32		push %eax; mov slot,%eax, then a jump	lld's, i386
 *	50, 8b 83 disp32	push %eax; mov slot-got(%ebx),%eax	lld's, i386 PIC
 *
 * The lazy half of a split PLT (endbr, push, jmp) jumps to PLT0. It is not such a stub: its address
 * is what the GOT slot holds before binding.
 */
#include "x86/x86.h"

#include <string.h>

/* The length of what may precede the jump in 64-bit code: endbr, mov $imm32,%r11d. */
static size_t skip_64(const uint8_t *bytes, size_t length)
{
	static const uint8_t endbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa}, mov_r11d[2] = {0x41, 0xbb};
	size_t at = 0;

	if (length >= 4 && !memcmp(bytes, endbr64, sizeof endbr64))
		at = 4;
	if (length >= at + 6 && !memcmp(bytes + at, mov_r11d, sizeof mov_r11d))
		at += 6;
	return at;
}

/* The length of what may precede it in 32-bit code: endbr, mov $imm32,%ecx or push %eax. */
static size_t skip_32(const uint8_t *bytes, size_t length, bool *pushed)
{
	static const uint8_t endbr32[4] = {0xf3, 0x0f, 0x1e, 0xfb};
	size_t at = 0;

	if (length >= 4 && !memcmp(bytes, endbr32, sizeof endbr32))
		at = 4;
	*pushed = length > at && bytes[at] == 0x50;
	if (*pushed)
		at++;
	else if (length >= at + 5 && bytes[at] == 0xb9)
		at += 5;
	return at;
}

/* A one-byte-map instruction with a 32-bit displacement, and no prefix that changes its meaning. */
static bool has_plain_displacement(const struct x86_scan *scan)
{
	return scan->encoding == ENCODING_LEGACY && scan->map == MAP_ONE_BYTE && scan->has_modrm &&
	       scan->displacement_length == 4 && !scan->has_sib && !scan->operand_size &&
	       !scan->lock && scan->segment <= 1;
}

static bool is_jump(const struct x86_scan *scan)
{
	return scan->opcode == 0xff && scan->reg == 4;
}

static bool plt_slot_64(const uint8_t *bytes, size_t length, uint64_t address, uint64_t *slot)
{
	struct x86_scan scan;
	size_t skip = skip_64(bytes, length);

	if (x86_scan(bytes + skip, length - skip, X86_MODE_64, &scan) ||
	    !has_plain_displacement(&scan) || !scan.pc_relative)
		return false;
	/* A load of %r11, with REX.W and REX.R, and nothing before it. */
	bool is_load = !skip && scan.opcode == 0x8b && scan.reg == 3 && (scan.rex & 0xc) == 0xc;

	if (!is_jump(&scan) && !is_load)
		return false;
	*slot = address + skip + scan.length + (uint64_t)(int64_t)scan.displacement;
	if (scan.address_size)
		*slot = (uint32_t)*slot;
	return true;
}

/* mov slot,%eax in its short form, which has no ModRM. */
static bool short_load_32(const uint8_t *bytes, size_t length, uint64_t *slot)
{
	uint32_t address;

	if (length < 5 || bytes[0] != 0xa1)
		return false;
	memcpy(&address, bytes + 1, sizeof address);
	*slot = address;
	return true;
}

static bool plt_slot_32(const uint8_t *bytes, size_t length, uint64_t got, uint64_t *slot)
{
	struct x86_scan scan;
	bool pushed;
	size_t skip = skip_32(bytes, length, &pushed);

	if (pushed && short_load_32(bytes + skip, length - skip, slot))
		return true;
	if (x86_scan(bytes + skip, length - skip, X86_MODE_32, &scan) ||
	    !has_plain_displacement(&scan) || scan.address_size)
		return false;
	bool is_load = pushed && scan.opcode == 0x8b && scan.reg == REG_AX;

	if (pushed ? !is_load : !is_jump(&scan))
		return false;
	if (scan.mod == 2 && scan.rm == REG_BX)
		*slot = (uint32_t)(got + (uint32_t)scan.displacement);
	else if (scan.mod == 0)
		*slot = (uint32_t)scan.displacement;
	else
		return false;
	return true;
}

bool x86_plt_slot(enum x86_mode mode, const uint8_t *bytes, size_t length, uint64_t address,
		  uint64_t got, uint64_t *slot)
{
	if (mode == X86_MODE_64)
		return plt_slot_64(bytes, length, address, slot);
	return plt_slot_32(bytes, length, got, slot);
}

/*
 * ff /2 (call) and ff /4 (jmp): slot(%rip) in 64-bit code, slot or slot-got(%register) in 32-bit.
 */
bool x86_slot_call(enum x86_mode mode, const uint8_t *bytes, uint64_t address, uint64_t got,
		   uint64_t *slot)
{
	unsigned mod = bytes[1] >> 6, reg = bytes[1] >> 3 & 7, rm = bytes[1] & 7;
	int32_t displacement;

	if (reg != 2 && reg != 4)
		return false;
	memcpy(&displacement, bytes + 2, sizeof displacement);
	if (mod == 0 && rm == 5)
		*slot = mode == X86_MODE_64 ? address + 6 + (uint64_t)(int64_t)displacement
					    : (uint32_t)displacement;
	else if (mode == X86_MODE_32 && mod == 2 && rm != REG_SP)
		*slot = (uint32_t)(got + (uint32_t)displacement);
	else
		return false;
	return true;
}

/* lfence, then a jump: back to the pause before it, or by a register. */
bool x86_is_thunk(const uint8_t *bytes)
{
	static const uint8_t lfence[] = {0x0f, 0xae, 0xe8};
	const uint8_t *jump = bytes + sizeof lfence;

	if (memcmp(bytes, lfence, sizeof lfence) != 0)
		return false;
	return jump[0] == 0xeb || (jump[0] == 0xff && (jump[1] & 0xf8) == 0xe0) ||
	       (jump[0] == 0x41 && jump[1] == 0xff && (jump[2] & 0xf8) == 0xe0);
}
