/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operands of an instruction; for change.c (opcodes of one byte) and change_0f.c (all others). */
#ifndef TRACER_SYSDEPS_X86_CHANGE_PRIVATE_H
#define TRACER_SYSDEPS_X86_CHANGE_PRIVATE_H

#include "x86/x86.h"

enum { CHANGE_REX_B = 1, CHANGE_REX_X = 2, CHANGE_REX_R = 4, CHANGE_REX_W = 8, CHANGE_HIGH = 8 };
/* All general registers but sp. */
enum { CHANGE_ALL = 0xffff & ~(1 << REG_SP) };
/* Bytes of memory operands: general ones, two of them, vectors, the x87 state (fnsave). */
enum { CHANGE_WORD = 8, CHANGE_PAIR = 16, CHANGE_VECTOR = 64, CHANGE_X87 = 108 };

struct change_insn {
	enum x86_mode mode;
	struct x86_scan scan;
	const uint8_t *bytes;
	size_t length;
	uint8_t rex;	/* or the bits of VEX and EVEX that mean the same */
	unsigned word;	/* bytes of a general register */
	unsigned width; /* bytes of an operand that is no byte */
	struct insn_change *change;
};

/* Adds what the instruction changes. Returns false if that is not known. */
typedef bool change_rule(struct change_insn *insn);

/* Opcodes behind 0f, in legacy encoding; and all of VEX and EVEX. */
change_rule change_0f, change_0f38, change_0f3a, change_vex;

static inline bool change_has_memory(const struct change_insn *insn)
{
	return insn->scan.has_modrm && insn->scan.mod != 3;
}

static inline unsigned change_reg(const struct change_insn *insn)
{
	return insn->scan.reg + (insn->rex & CHANGE_REX_R ? CHANGE_HIGH : 0U);
}

static inline unsigned change_rm(const struct change_insn *insn)
{
	return insn->scan.rm + (insn->rex & CHANGE_REX_B ? CHANGE_HIGH : 0U);
}

/* The register in the low bits of the opcode. */
static inline unsigned change_low(const struct change_insn *insn)
{
	return (insn->scan.opcode & 7U) + (insn->rex & CHANGE_REX_B ? CHANGE_HIGH : 0U);
}

/* Returns true if the number of a byte register stands for the second byte of one (ah … bh). */
static inline bool change_is_second_byte(const struct change_insn *insn, unsigned number)
{
	return !insn->scan.rex && number >= 4 && number < CHANGE_HIGH;
}

/* The register that a byte register is a part of. */
static inline unsigned change_byte(const struct change_insn *insn, unsigned number)
{
	return change_is_second_byte(insn, number) ? number - 4 : number;
}

/* The bytes of the operand of an opcode whose lowest bit tells whether it is a byte. */
static inline unsigned change_width(const struct change_insn *insn)
{
	return insn->scan.opcode & 1 ? insn->width : 1;
}

static inline bool change_writes(struct change_insn *insn, unsigned number)
{
	insn->change->written |= 1U << number;
	return true;
}

static inline void change_reads(struct change_insn *insn, unsigned number)
{
	insn->change->read |= 1U << number;
}

/* The r/m operand is read, if it is a register. */
static inline void change_reads_rm(struct change_insn *insn)
{
	if (!change_has_memory(insn))
		change_reads(insn, change_rm(insn));
}

/* Only a memory operand is written: a register would be no general one. */
static inline bool change_writes_memory(struct change_insn *insn, unsigned width)
{
	if (change_has_memory(insn))
		insn->change->stored = (uint16_t)width;
	return true;
}

/* The r/m operand is written. */
static inline bool change_writes_rm(struct change_insn *insn, unsigned width)
{
	if (change_has_memory(insn))
		return change_writes_memory(insn, width);
	return change_writes(insn,
			     width == 1 ? change_byte(insn, change_rm(insn)) : change_rm(insn));
}

static inline void change_becomes(struct change_insn *insn, enum insn_change_kind kind, unsigned to,
				  unsigned from, unsigned width)
{
	struct insn_change *change = insn->change;

	change->kind = (uint8_t)kind;
	change->to = (int8_t)to;
	change->from = (int8_t)from;
	change->width = (uint8_t)width;
}

/* reg = r/m, of `width` bytes */
bool change_loads(struct change_insn *insn, unsigned width);
/* xchg, xadd */
bool change_exchanges(struct change_insn *insn);
/* The memory at an implied pointer is written, from there on. */
bool change_writes_at(struct change_insn *insn, unsigned pointer, unsigned width);

/* Nothing is changed, but what is no general register. */
static inline bool change_nothing(struct change_insn *insn)
{
	(void)insn;
	return true;
}

/* A register is made of the r/m operand, which need not be a general register. */
static inline bool change_writes_reg(struct change_insn *insn)
{
	change_reads_rm(insn);
	return change_writes(insn, change_reg(insn));
}

/* An opcode with a table of rules; NULL: it is not known. */
static inline bool change_by(change_rule *const rules[256], struct change_insn *insn)
{
	change_rule *rule = rules[insn->scan.opcode];

	return rule && rule(insn);
}

#endif
