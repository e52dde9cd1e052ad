/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Displaced instructions: what stood where a breakpoint now stands, in a form that can take effect
 * without taking the breakpoint away. Made by arch->displace() with
 * a decoder from decoder_create().
 *
 * Two ways exist. Most instructions are *copied* into an out-of-line slot in the tracee, followed
 * by a jump back to the next instruction. Those that only move the pc (nop, endbr, relative
 * branches, calls, returns, indirect jumps) are *emulated* on the stopped thread's registers: that
 * needs no slot and leaves no state half-way where a signal could land.
 */
#ifndef TRACER_IMAGE_RELOCATE_H
#define TRACER_IMAGE_RELOCATE_H

#include "base/arch.h"
#include "base/memory.h"

enum displaced_kind {
	DISPLACED_COPY,	  /* runs in a slot: displaced_emit() */
	DISPLACED_EMULATE /* runs in the tracer: displaced_emulate() */
};

enum displaced_action {
	ACTION_SKIP,	     /* nop, endbr: nothing but the next pc */
	ACTION_JUMP,	     /* jmp rel */
	ACTION_JUMP_IF,	     /* jcc rel: `condition` */
	ACTION_LOOP,	     /* loop, loope, loopne: `condition`; counter of operand.address_size */
	ACTION_JUMP_CXZ,     /* jcxz, jecxz, jrcxz: counter of operand.address_size */
	ACTION_CALL,	     /* call rel */
	ACTION_CALL_OPERAND, /* call reg or memory */
	ACTION_JUMP_OPERAND, /* jmp reg or memory: PLT stubs */
	ACTION_RETURN	     /* ret, ret imm16 */
};

/* `base` and `index` of an operand that are no register. */
enum { OPERAND_NONE = -1, OPERAND_PC = -2 };

/* A register or memory operand of an indirect jump or call. */
struct displaced_operand {
	bool memory;
	int8_t base;  /* register number, OPERAND_NONE, OPERAND_PC: pc of the next instruction */
	int8_t index; /* register number, or OPERAND_NONE */
	uint8_t scale;
	uint8_t segment;      /* 0: none, 4: fs, 5: gs */
	uint8_t address_size; /* bytes: 4 or 8 (counters: 2 too); the sum is cut to it */
	int64_t displacement;
};

enum {
	DISPLACED_CODE_MAX = 32,
	CONDITION_ALWAYS = 16 /* `condition` of a plain loop; others are the architecture's */
};

struct displaced {
	const struct arch *arch;
	uint64_t address; /* where the instruction stands */
	uint8_t kind;	  /* enum displaced_kind */
	uint8_t action;	  /* enum displaced_action, for DISPLACED_EMULATE */
	uint8_t length;	  /* bytes of the original instruction */
	uint8_t condition;
	uint8_t code[DISPLACED_CODE_MAX]; /* the original bytes */
	int8_t rip_offset;		  /* offset of a rip-relative disp32 in code, or -1 */
	bool at_once;	 /* a copy that one single-step runs: no system call, nothing repeated, and
			 the step does not show in what it gives */
	uint16_t pop;	 /* ACTION_RETURN: bytes taken off besides the address */
	uint64_t target; /* relative branches */
	struct displaced_operand operand;
};

/*
 * Writes the slot's code for the slot at `slot_address` (in the tracee) to `out`,
 * DISPLACED_CODE_MAX bytes long, and its length to *out_length. -ERANGE when an operand or the way
 * back is out of the reach of 32 bits from there.
 */
int displaced_emit(const struct displaced *displaced, uint64_t slot_address, uint8_t *out,
		   size_t *out_length);

/* Writes `length` bytes into the tracee: 0 or -errno. */
typedef int displaced_write(void *context, uint64_t address, const void *bytes, size_t length);

/*
 * Applies an emulated instruction to `regs`. Reads through `memory`; a call pushes its return
 * address through `write`. -EFAULT when memory is not there: the registers are then unchanged and
 * the instruction has to fault where it stands.
 */
int displaced_emulate(const struct displaced *displaced, struct regs *regs,
		      const struct memory_source *memory, displaced_write *write, void *context);

/*
 * Translates a pc inside the slot at `slot_address` into the program's own: the instruction's
 * address while it has not run, the next instruction's after it. A pc outside the slot comes back
 * unchanged.
 */
uint64_t displaced_program_pc(const struct displaced *displaced, uint64_t slot_address,
			      uint64_t pc);

#endif
