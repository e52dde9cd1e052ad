/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What both x86 ABIs share. Private to sysdeps: the rest of the tracer uses struct arch. `mode` is
 * 64 or 32, the operating mode that the code runs in.
 */
#ifndef TRACER_SYSDEPS_X86_X86_H
#define TRACER_SYSDEPS_X86_X86_H

#include "base/arch.h"

enum x86_mode { X86_MODE_32 = 32, X86_MODE_64 = 64 };

/* The opcode map that an opcode is from (Intel SDM). */
enum x86_map { MAP_ONE_BYTE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_EVEX_5_6, MAP_OTHER };

/* How the opcode map was selected. */
enum x86_encoding { ENCODING_LEGACY, ENCODING_VEX, ENCODING_EVEX };

/*
 * The parts of an instruction that the encoding tells: all but the length of the immediate operand.
 */
struct x86_scan {
	uint8_t encoding; /* enum x86_encoding */
	uint8_t map;	  /* enum x86_map */
	uint8_t opcode;
	bool lock, rep, repne;
	bool operand_size; /* 0x66 */
	bool address_size; /* 0x67 */
	uint8_t segment;   /* 0, or the last segment prefix: 4 fs, 5 gs, 1 any other */
	uint8_t rex;	   /* 0: none */
	bool has_modrm;
	uint8_t mod, reg, rm; /* rm and reg without their REX bits */
	bool has_sib;
	uint8_t sib;
	uint8_t displacement_offset; /* of the displacement, if displacement_length is not 0 */
	uint8_t displacement_length; /* 0, 1, 2, 4 */
	int32_t displacement;	     /* sign-extended */
	bool pc_relative;	     /* the memory operand is relative to the next instruction */
	uint8_t length;		     /* without the immediate */
};

/* Returns 0, or -EILSEQ if `length` bytes (at most 15 are examined) do not hold that much. */
int x86_scan(const uint8_t *bytes, size_t length, enum x86_mode mode, struct x86_scan *scan);

/* Returns the length of the instruction, 1 … 15, or -EILSEQ. */
int x86_decode_length(struct decoder *decoder, enum x86_mode mode, const uint8_t *bytes,
		      size_t length, const struct x86_scan *scan);

/* arch->displace for each mode. */
int x86_displace(struct decoder *decoder, const struct arch *arch, enum x86_mode mode,
		 const uint8_t *bytes, size_t length, uint64_t address, struct displaced *out);

/* mov $imm32 to %eax, %ebx, %edi */
enum { X86_LOAD_AX_OPCODE = 0xb8, X86_LOAD_BX_OPCODE = 0xbb, X86_LOAD_DI_OPCODE = 0xbf };

/* RF: see regs_store(). */
enum { X86_RESUME_FLAG = 0x10000 };

/* arch->ends_with_call. */
bool x86_ends_with_call(const uint8_t bytes[ARCH_CALL_MAX]);

/* arch->is_thunk. */
enum { X86_THUNK_OPCODE = 0x0f };
bool x86_is_thunk(const uint8_t *bytes);
/* arch->insn_effect. */
void x86_insn_effect(enum x86_mode mode, const uint8_t *bytes, size_t length,
		     struct insn_effect *effect);
/* arch->insn_change. */
bool x86_insn_change(enum x86_mode mode, const uint8_t *bytes, size_t length,
		     struct insn_change *change);
/* arch->insn_move. */
bool x86_insn_move(enum x86_mode mode, const uint8_t *bytes, size_t length, struct insn_move *move);
/* arch->slot_call. */
enum { X86_SLOT_CALL_OPCODE = 0xff };
bool x86_slot_call(enum x86_mode mode, const uint8_t *bytes, uint64_t address, uint64_t got,
		   uint64_t *slot);

/* arch->plt_slot; `got` is used only in 32-bit code. */
bool x86_plt_slot(enum x86_mode mode, const uint8_t *bytes, size_t length, uint64_t address,
		  uint64_t got, uint64_t *slot);

/* arch->condition_holds: `condition` is the low half of a jcc's opcode. */
bool x86_condition_holds(const struct regs *regs, uint8_t condition);

/* Writes a jmp rel32, which must be in reach. Returns its length. */
size_t x86_emit_jump_relative(uint64_t from, uint64_t to, uint8_t *out);

#endif
