/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What slot_flow.c and slot_places.c share: the instructions of a function, and for each of them
 * the places that may have what is asked for when control gets there, as bits.
 */
#ifndef TRACER_IMAGE_SLOT_FLOW_PRIVATE_H
#define TRACER_IMAGE_SLOT_FLOW_PRIVATE_H

#include "image/slot_flow.h"
#include "image/stack_words.h"

enum { MEMBERS_MAX = 64 };
enum { REGISTERS = 16, REGISTERS_MASK = (1 << REGISTERS) - 1, FIRST_WORD = EFFECT_TOP + 1 };

/* Bits of places: general registers, those of enum EFFECT_…, and words of the stack. */
#define OTHER_WORDS (1ULL << (FIRST_WORD + STACK_WORDS_MAX))
#define WORDS (((1ULL << STACK_WORDS_MAX) - 1) << FIRST_WORD | OTHER_WORDS)
#define ON_THE_STACK (WORDS | 1ULL << EFFECT_STACK)
/* These are others, at each instruction. */
#define ALIASES (1ULL << EFFECT_MEMORY | 1ULL << EFFECT_TOP)

/*
 * What is asked: who has an address on the stack, who has what the slot holds, and which registers
 * have what it was compared with.
 */
enum question { ON_STACK, HOLDS, EQUALS, QUESTIONS };

enum flow_kind { FLOW_ON, FLOW_BRANCH, FLOW_JUMP, FLOW_CALL, FLOW_ANYWHERE, FLOW_END };

struct flow_insn {
	uint64_t address;
	uint64_t target;
	struct insn_effect effect;
	struct stack_access access;
	int64_t member;	  /* of what is in memory: its displacement, or address */
	bool is_constant; /* that is no memory that the program writes to */
	/* The same of what two registers that are joined were loaded from. */
	int64_t origin[2];
	uint8_t origins;
	uint32_t by; /* the register of a call or a jump by one, or those it finds memory by */
	bool by_memory;
	uint8_t kind; /* enum flow_kind */
	bool clobbers;
	bool is_reached_by_jumps;   /* alone: the one before does not go on to it */
	bool is_waiting;	    /* in `work` */
	uint64_t loaded;	    /* places that the slot is loaded to, in this run */
	uint64_t before[QUESTIONS]; /* places that may have it, when control gets here */
};

struct slot_flow {
	const struct arch *arch;
	const struct elf_file *file; /* of the function */
	struct stack_words words;
	bool catches;
	int64_t origin[REGISTERS]; /* members, of registers in has_origin */
	uint32_t has_origin;
	struct vec insns;   /* struct flow_insn, by address */
	struct vec work;    /* size_t: instructions to be looked at */
	struct vec members; /* int64_t: displacements of what it is compared with or stored to */
	enum question question;
	uint64_t anywhere[STACK_FRAMES_MAX];
	size_t budget;	  /* steps that are left */
	bool is_prepared; /* ON_STACK is answered */
	size_t prologue;  /* instructions that only a call gets to */
	bool any_load;
};

static inline uint64_t bit_of(int place)
{
	return place >= 0 ? 1ULL << place : 0;
}

/* Whether it may be in an object's member. */
bool slot_flow_is_member(const struct slot_flow *flow, int64_t member);
/* The places that may be in the operand in memory, or lead there. */
uint64_t slot_flow_read_by(const struct slot_flow *flow, const struct flow_insn *insn);
/* Who has it behind an instruction, going by who has it before. */
uint64_t slot_flow_behind(struct slot_flow *flow, const struct flow_insn *insn);
/*
 * What a function does with an argument: it may give it back, or, if it is one of the same object,
 * store it where another argument says, on the stack.
 */
uint64_t slot_flow_given_back(const struct slot_flow *flow, const struct flow_insn *insn);

#endif
