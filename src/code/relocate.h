/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Displaced instructions: the decoded form of an instruction that a breakpoint has overwritten. It
 * can take effect while the breakpoint stays in place. arch->displace() makes it, with a decoder
 * from decoder_create().
 *
 * There are two ways to make it take effect. Most instructions are *copied* into an XOL slot in the
 * tracee, followed by a jump back to the next instruction. Instructions that only move the pc (nop,
 * endbr, relative branches, calls, returns, indirect jumps) are *emulated* on the stopped thread's
 * registers: emulation needs no XOL slot, and no signal can arrive halfway through it.
 */
#ifndef TRACER_CODE_RELOCATE_H
#define TRACER_CODE_RELOCATE_H

#include "base/arch.h"
#include "base/memory.h"

enum displaced_kind {
	DISPLACED_COPY,	  /* runs in an XOL slot: displaced_emit() */
	DISPLACED_EMULATE /* is applied by the tracer: displaced_emulate() */
};

enum displaced_action {
	ACTION_SKIP,	/* nop, endbr: only moves the pc on */
	ACTION_JUMP,	/* jmp rel */
	ACTION_JUMP_IF, /* jcc rel, with `condition` */
	/* loop, loope, loopne, with `condition`; the counter has operand.address_size */
	ACTION_LOOP,
	ACTION_JUMP_CXZ,     /* jcxz, jecxz, jrcxz; the counter has operand.address_size */
	ACTION_CALL,	     /* call rel */
	ACTION_CALL_OPERAND, /* call reg or memory */
	ACTION_JUMP_OPERAND, /* jmp reg or memory: PLT stubs */
	ACTION_RETURN	     /* ret, ret imm16 */
};

/* Values of an operand's `base` and `index` that are not registers. */
enum { OPERAND_NONE = -1, OPERAND_PC = -2 };

/* A register or memory operand of an indirect jump or call. */
struct displaced_operand {
	bool memory;
	/* register number, OPERAND_NONE, or OPERAND_PC: address of the next instruction */
	int8_t base;
	int8_t index; /* register number, or OPERAND_NONE */
	uint8_t scale;
	uint8_t segment;      /* 0: none, 4: fs, 5: gs */
	uint8_t address_size; /* in bytes: 4 or 8 (counters: also 2); the sum is truncated to it */
	int64_t displacement;
};

enum {
	DISPLACED_CODE_MAX = 32,
	CONDITION_ALWAYS = 16 /* for a plain `loop`; other values are defined by the architecture */
};

struct displaced {
	const struct arch *arch;
	uint64_t address; /* of the instruction in the program */
	uint8_t kind;	  /* enum displaced_kind */
	uint8_t action;	  /* enum displaced_action, for DISPLACED_EMULATE */
	uint8_t length;	  /* bytes of the original instruction */
	uint8_t condition;
	uint8_t code[DISPLACED_CODE_MAX]; /* the original bytes */
	int8_t rip_offset;		  /* offset in `code` of a rip-relative disp32, or -1 */
	/*
	 * For a copied instruction: one single-step runs it completely. It makes no system call,
	 * has no repeat prefix, and its result does not depend on being single-stepped.
	 */
	bool at_once;
	uint16_t pop;	 /* ACTION_RETURN: bytes popped in addition to the return address */
	uint64_t target; /* of a relative branch */
	struct displaced_operand operand;
};

/*
 * Writes the code for an XOL slot at `slot_address` in the tracee to `out`, which has
 * DISPLACED_CODE_MAX bytes, and its length to *out_length. Returns 0, or -ERANGE if a pc-relative
 * operand is out of 32-bit reach from the slot, or if instruction and jump back do not fit.
 */
int displaced_emit(const struct displaced *displaced, uint64_t slot_address, uint8_t *out,
		   size_t *out_length);

/* Writes `length` bytes into the tracee. Returns 0 or -errno. */
typedef int displaced_write(void *context, uint64_t address, const void *bytes, size_t length);

/*
 * Applies an emulated instruction to `regs`. Memory is read through `memory`; a call pushes its
 * return address through `write`. Returns 0, -EFAULT if memory cannot be accessed or the target is
 * no valid address (`regs` is unchanged then, and the instruction has to fault at its own address),
 * -ESRCH if `write` says so, or -EINVAL if the instruction is not one to emulate.
 */
int displaced_emulate(const struct displaced *displaced, struct regs *regs,
		      const struct memory_source *memory, displaced_write *write, void *context);

/*
 * Translates a pc inside the XOL slot at `slot_address` to the program's pc: to the instruction's
 * address while it has not run yet, and to the next instruction's address after it has. A pc
 * outside the slot is returned unchanged.
 */
uint64_t displaced_program_pc(const struct displaced *displaced, uint64_t slot_address,
			      uint64_t pc);

#endif
