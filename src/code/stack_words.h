/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells which word of its stack frame an instruction reads or writes. A word is identified by its
 * distance from the CFA, which call-frame information gives for each instruction.
 */
#ifndef TRACER_CODE_STACK_WORDS_H
#define TRACER_CODE_STACK_WORDS_H

#include "base/vec.h"
#include "unwind/eh_frame.h"

enum {
	STACK_WORDS_MAX = 40,
	STACK_FRAMES_MAX = 64,
	STACK_WORDS_WIDTH = 64 /* bytes of the widest operand */
};

/* Where an instruction's memory operand is, and where it pushes or pops. */
struct stack_access {
	int64_t operand, top; /* addresses relative to the CFA */
	bool has_operand, has_top;
	unsigned frame; /* number of the CFA rule, below STACK_FRAMES_MAX; 0: not known */
};

/* Has to be zeroed before stack_words_init(). */
struct stack_words {
	const struct arch *arch;
	struct vec rows; /* struct eh_row */
	/* index in `rows` at which the search for the next instruction's row begins */
	size_t row;
	/* The register of the CFA rule, if the last instruction changed it; otherwise 0. */
	uint64_t register_before;
	int64_t expected; /* offset of the CFA in the row after the last instruction */
	bool is_sound;	  /* so far the code agrees with the call-frame information */
	/* the lowest address in the frame that the function computes, relative to the CFA */
	int64_t exposed;
	struct eh_row frames[STACK_FRAMES_MAX]; /* the distinct CFA rules, by number */
	unsigned frame_count;
	/* Offsets from the CFA of the known words. A word's number is its index here. */
	int64_t offsets[STACK_WORDS_MAX];
	unsigned count;
};

void stack_words_init(struct stack_words *words, const struct arch *arch);
void stack_words_deinit(struct stack_words *words);
/* Forgets the previous function. A function that has no call-frame information has no words. */
void stack_words_begin(struct stack_words *words, const struct elf_file *file,
		       const struct eh_function *function);
/*
 * Stores in *access where the instruction at `address` accesses the frame. Has to be called for
 * each instruction, by ascending addresses. `goes_on`: the next instruction may run after this one,
 * with the stack pointer as this one leaves it. If `is_sound` is false after the last instruction,
 * all results for the function are invalid.
 */
void stack_words_locate(struct stack_words *words, uint64_t address,
			const struct insn_effect *effect, bool goes_on,
			struct stack_access *access);

void stack_words_clear(struct stack_words *words);
/*
 * Returns the number of the word at `offset`, a new one if need be, or -1 if there are too many
 * words.
 */
int stack_words_number(struct stack_words *words, int64_t offset);
/* Returns the bit of the word at `offset`, or 0 if it is not known. */
uint64_t stack_words_at(const struct stack_words *words, int64_t offset);
/* Returns true if a computed address may lead to the `width` bytes at `offset`. */
bool stack_words_exposes(const struct stack_words *words, int64_t offset, unsigned width);
/* Returns the bits of the known words that are exposed: a computed address may lead to them. */
uint64_t stack_words_exposed(const struct stack_words *words);
/* Returns the bits of the known words that overlap the `width` bytes at `offset`. */
uint64_t stack_words_within(const struct stack_words *words, int64_t offset, unsigned width);

#endif
