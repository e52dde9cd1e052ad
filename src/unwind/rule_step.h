/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind rules: what most rows of call-frame information say, in 8 bytes, so that the thousands of
 * rows of a file share some hundred rules; and one step of a walk by a rule. Freestanding: the
 * agent has this, too.
 */
#ifndef TRACER_UNWIND_RULE_STEP_H
#define TRACER_UNWIND_RULE_STEP_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* How the CFA is computed. sp, bp: the frame's stack pointer and frame pointer. */
enum unwind_cfa {
	UNWIND_NONE,  /* no row describes the code */
	UNWIND_EXACT, /* the rule says too little: only the row itself tells */
	UNWIND_OUTER, /* no caller: the return address is undefined */
	UNWIND_BY_SP, /* sp + offset */
	UNWIND_BY_BP, /* bp + offset */
	UNWIND_AT_BP, /* *(bp + offset): a function that aligns its stack */
	UNWIND_AT_SP, /* *(sp + offset) + addend */
	/* sp + offset, and a word more from byte `addend` of each 16 bytes of code: a PLT */
	UNWIND_BY_STUB
};

/* How the caller's frame pointer is found. */
enum unwind_bp {
	UNWIND_BP_SAME,
	UNWIND_BP_AT_CFA, /* in memory at CFA + bp_offset */
	UNWIND_BP_AT_BP	  /* in memory at bp + bp_offset */
};

/*
 * The return address is the word below the CFA, and the CFA is the caller's stack pointer. A rule
 * does not say where other registers are.
 */
struct unwind_rule {
	uint8_t cfa : 4;	     /* enum unwind_cfa */
	uint8_t bp : 2;		     /* enum unwind_bp */
	uint8_t is_signal_frame : 1; /* the frame was made by the kernel: see struct eh_function */
	uint8_t addend;
	int16_t bp_offset;
	int32_t offset;
};

/* What a rule needs of a frame, and tells of its caller. */
struct rule_frame {
	uint64_t pc, sp, bp;
	bool has_bp; /* bp is known */
};

struct rule_memory {
	/* Reads a word, zero-extended; returns false if it cannot be read. */
	bool (*read)(void *context, uint64_t address, uint64_t *word);
	void *context;
	unsigned word; /* bytes: 4 or 8 */
};

static inline uint64_t rule_address(const struct rule_memory *memory, uint64_t base, int64_t offset)
{
	const uint64_t address = base + (uint64_t)offset;

	return memory->word == 4 ? (uint32_t)address : address;
}

static inline int rule_find_cfa(const struct unwind_rule *rule, const struct rule_memory *memory,
				const struct rule_frame *frame, uint64_t *cfa)
{
	const bool by_bp = rule->cfa == UNWIND_BY_BP || rule->cfa == UNWIND_AT_BP;

	if (by_bp && !frame->has_bp)
		return -ENODATA;
	*cfa = rule_address(memory, by_bp ? frame->bp : frame->sp, rule->offset);
	if (rule->cfa == UNWIND_BY_STUB && (frame->pc & 15) >= rule->addend)
		*cfa = rule_address(memory, *cfa, memory->word);
	if (rule->cfa != UNWIND_AT_BP && rule->cfa != UNWIND_AT_SP)
		return 0;
	if (!memory->read(memory->context, *cfa, cfa))
		return -EFAULT;
	*cfa = rule_address(memory, *cfa, rule->addend);
	return 0;
}

/*
 * GCC describes a register that a stack-aligning function has saved as in memory near bp up to the
 * function's end, also behind the instructions that pop it and bp. A place that is no longer in the
 * frame tells that the register already has the caller's value.
 */
static inline bool rule_is_popped(uint64_t sp, uint64_t cfa, uint64_t place)
{
	return sp < cfa && (place < sp || place >= cfa);
}

static inline int rule_find_bp(const struct unwind_rule *rule, const struct rule_memory *memory,
			       struct rule_frame *frame, uint64_t cfa)
{
	const bool at_bp = rule->bp == UNWIND_BP_AT_BP;

	if (rule->bp == UNWIND_BP_SAME)
		return 0;
	if (at_bp && !frame->has_bp)
		return -ENODATA;
	const uint64_t place = rule_address(memory, at_bp ? frame->bp : cfa, rule->bp_offset);

	if (at_bp && rule_is_popped(frame->sp, cfa, place))
		return 0;
	if (!memory->read(memory->context, place, &frame->bp))
		return -EFAULT;
	frame->has_bp = true;
	return 0;
}

/*
 * Makes a frame its caller. Sets *place to where on the stack the return address was. Returns 0, or
 * an error, with the frame unchanged, as unwind_step_by_rule() does.
 */
static inline int rule_step(const struct unwind_rule *rule, const struct rule_memory *memory,
			    struct rule_frame *frame, uint64_t *place)
{
	uint64_t cfa = 0, pc;

	if (rule->cfa == UNWIND_OUTER)
		return -ECHILD;
	if (rule->cfa < UNWIND_BY_SP)
		return -ENOENT;
	int error = rule_find_cfa(rule, memory, frame, &cfa);

	if (error)
		return error;
	*place = rule_address(memory, cfa, -(int64_t)memory->word);
	if (!memory->read(memory->context, *place, &pc))
		return -EFAULT;
	error = rule_find_bp(rule, memory, frame, cfa);
	if (error)
		return error;
	frame->sp = cfa;
	frame->pc = pc;
	return 0;
}

#endif
