/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by slot_flow.c and slot_places.c: the instructions of a function. Each has sets of places,
 * as bits, that may hold the value in question when control reaches it.
 */
#ifndef TRACER_CODE_SLOT_FLOW_PRIVATE_H
#define TRACER_CODE_SLOT_FLOW_PRIVATE_H

#include "code/slot_flow.h"
#include "code/stack_words.h"

enum { MEMBERS_MAX = 64 };
enum { REGISTERS = 16, REGISTERS_MASK = (1 << REGISTERS) - 1, FIRST_WORD = EFFECT_TOP + 1 };

/* Bits of places: general registers, those of enum EFFECT_…, and words of the stack. */
#define OTHER_WORDS (1ULL << (FIRST_WORD + STACK_WORDS_MAX))
#define WORDS (((1ULL << STACK_WORDS_MAX) - 1) << FIRST_WORD | OTHER_WORDS)
#define ON_THE_STACK (WORDS | 1ULL << EFFECT_STACK)
/* Bits that stand for a different place at each instruction. */
#define ALIASES (1ULL << EFFECT_MEMORY | 1ULL << EFFECT_TOP)

/*
 * The questions of the analysis: which places hold an address on the stack, which hold the value of
 * the GOT slot, and which registers hold a value that it was compared with.
 */
enum question { ON_STACK, HOLDS, EQUALS, QUESTIONS };

enum flow_kind { FLOW_ON, FLOW_BRANCH, FLOW_JUMP, FLOW_CALL, FLOW_ANYWHERE, FLOW_END };

struct flow_insn {
	uint64_t address;
	uint64_t target;
	struct insn_effect effect;
	struct stack_access access;
	int64_t member;	  /* displacement of the memory operand; its address if it is pc-relative */
	bool is_constant; /* the program cannot write to the memory operand */
	/* The member that each of two joined registers was loaded from. */
	int64_t origin[2];
	uint8_t origins;
	/* registers by which an indirect call or jump gets its target, or the address of it */
	uint32_t by;
	bool by_memory;
	uint8_t kind; /* enum flow_kind */
	bool clobbers;
	bool is_reached_by_jumps;   /* the instruction in front of it does not fall through to it */
	bool is_waiting;	    /* it is in `work` */
	uint64_t loaded;	    /* places that it loads the GOT slot to, in this run */
	uint64_t before[QUESTIONS]; /* places that may hold the value when control gets here */
};

struct slot_flow {
	const struct arch *arch;
	const struct elf_file *file; /* the file that contains the function */
	struct stack_words words;
	bool catches;
	int64_t origin[REGISTERS]; /* the member that each register of has_origin was loaded from */
	uint32_t has_origin;
	struct vec insns;   /* struct flow_insn, by address */
	struct vec work;    /* size_t: indexes of instructions to be processed */
	struct vec members; /* int64_t: members that the value is compared with or stored to */
	enum question question;
	uint64_t anywhere[STACK_FRAMES_MAX];
	size_t budget;	  /* remaining steps */
	bool is_prepared; /* the question ON_STACK has been answered */
	size_t prologue;  /* number of instructions that only a call of the function reaches */
	bool any_load;
};

static inline uint64_t bit_of(int place)
{
	return place >= 0 ? 1ULL << place : 0;
}

#endif
