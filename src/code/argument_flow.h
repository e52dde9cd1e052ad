/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data flow in one function: where the arguments still are with which it was called, and those that
 * it has passed to the callee it is in. See argument_flow.c.
 */
#ifndef TRACER_CODE_ARGUMENT_FLOW_H
#define TRACER_CODE_ARGUMENT_FLOW_H

#include "code/relocate.h"
#include "object/elf.h"

enum { HELD_COPIES_MAX = 2 };

enum held_place {
	HELD_IN_REGISTER, /* the general register `at` */
	HELD_IN_FRAME,	  /* the word at the CFA + at */
	HELD_IS_NUMBER,	  /* it is `at` */
	HELD_IS_ADDRESS,  /* it is the address `at` of the file */
	HELD_IS_FRAME	  /* it is the CFA + at */
};

/* A place from which a value can be told. */
struct held_copy {
	uint8_t place; /* enum held_place */
	uint8_t width; /* the low bytes that are right */
	int64_t at;
	int64_t addend; /* to be added to what is there */
	/*
	 * The value was loaded from a word of the frame that others may have a pointer to, though
	 * not the callee: it is there unless somebody has kept such a pointer and has used it.
	 */
	bool is_guess;
};

/* All of them tell the same value. */
struct held_value {
	unsigned count; /* 0: it is not known */
	struct held_copy copies[HELD_COPIES_MAX];
};

struct argument_places {
	/* What argument registers had at the function's entry, by the number of the register. */
	struct held_value entry[REG_COUNT];
	/* What they have at the entry of the callee, if the frame is in a call. */
	struct held_value passed[REG_COUNT];
	/* Bit i: stack argument word i, at the CFA plus i words, is as it was at the entry. */
	uint64_t intact;
	/* Other functions are called in its place, and may call it again in theirs. */
	bool leaves_too;
	bool has_sp;
	int64_t sp; /* distance of the stack pointer from the CFA */
};

/*
 * Finds out where the arguments are in a frame of the function that begins at `start`, whose pc is
 * `pc`, both in the file's own address space. `is_call`: the pc is a return address; the function
 * has made the call in front of it, and may rely on what callees preserve. Registers are those of
 * the frame, as its callee would give them back. What is stored is right if the code keeps to the
 * psABI and does not write out of bounds; what cannot be told is not held.
 * *budget: how many steps may be made; those that were are taken off. Returns false if nothing can
 * be told.
 */
bool argument_flow_find(struct elf_file *file, struct decoder *decoder, uint64_t start, uint64_t pc,
			bool is_call, size_t *budget, struct argument_places *places);

#endif
