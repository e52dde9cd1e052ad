/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which word of its stack frame an instruction reads or writes: told by how far away it is from the
 * CFA, which call-frame information gives at each instruction.
 */
#ifndef TRACER_IMAGE_STACK_WORDS_H
#define TRACER_IMAGE_STACK_WORDS_H

#include "base/vec.h"
#include "image/eh_frame.h"

enum {
	STACK_WORDS_MAX = 40,
	STACK_FRAMES_MAX = 64,
	STACK_WORDS_WIDTH = 64 /* bytes of the widest operand */
};

/* Where an instruction finds its operand in memory, and what it pushes or pops. */
struct stack_access {
	int64_t operand, top; /* their addresses, relative to the CFA */
	bool has_operand, has_top;
	unsigned frame; /* a number of how the CFA is found, below STACK_FRAMES_MAX; 0: not known */
};

/* To be zeroed before stack_words_init(). */
struct stack_words {
	const struct arch *arch;
	struct vec rows; /* struct eh_row */
	size_t row;	 /* the one of the instruction before, or those after it */
	/* What that instruction has changed and the CFA was known by; 0: nothing. */
	uint64_t register_before;
	int64_t expected; /* the offset of the CFA behind it */
	bool is_sound;	  /* the code does what is said of it */
	int64_t exposed;  /* the lowest address in the frame that the function computes */
	struct eh_row frames[STACK_FRAMES_MAX]; /* those that differ, by their numbers */
	unsigned frame_count;
	/* The words that something is known of, which are numbered in the order they come in. */
	int64_t offsets[STACK_WORDS_MAX];
	unsigned count;
};

void stack_words_init(struct stack_words *words, const struct arch *arch);
void stack_words_deinit(struct stack_words *words);
/* Forgets the function before; one that call-frame information does not know has no words. */
void stack_words_begin(struct stack_words *words, const struct elf_file *file,
		       const struct eh_function *function);
/*
 * To be asked of each instruction, by ascending addresses. `goes_on`: the next one may come behind
 * it, with the stack pointer where it leaves it. When `is_sound` is false after the last one, all
 * that was told is void.
 */
void stack_words_locate(struct stack_words *words, uint64_t address,
			const struct insn_effect *effect, bool goes_on,
			struct stack_access *access);

/* Forgets all words. */
void stack_words_clear(struct stack_words *words);
/* The word there, a new one if need be; or -1, there are too many. */
int stack_words_number(struct stack_words *words, int64_t offset);
/* Its bit, or 0: it is not there. */
uint64_t stack_words_at(const struct stack_words *words, int64_t offset);
/* Whether `width` bytes there may be found by an address that is computed. */
bool stack_words_exposes(const struct stack_words *words, int64_t offset, unsigned width);
/* Bits of the words that are there already and are exposed. */
uint64_t stack_words_exposed(const struct stack_words *words);
/* Bits of those that have to do with `width` bytes. */
uint64_t stack_words_within(const struct stack_words *words, int64_t offset, unsigned width);

#endif
