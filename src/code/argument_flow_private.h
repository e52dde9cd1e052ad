/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by argument_flow.c (the way of control) and argument_values.c (what instructions do). */
#ifndef TRACER_CODE_ARGUMENT_FLOW_PRIVATE_H
#define TRACER_CODE_ARGUMENT_FLOW_PRIVATE_H

#include "code/argument_code.h"
#include "code/argument_flow.h"

enum { FLOW_WORDS_MAX = 64 };

/* What is known of the contents of a register. */
enum value_is {
	VALUE_IS_UNKNOWN,
	/*
	 * number + what register `origin` had behind the instruction at `base` when that was run
	 * last, or at the entry (base 0); the low `width` bytes of it.
	 */
	VALUE_IS_NAMED,
	VALUE_IS_NUMBER,  /* number */
	VALUE_IS_FRAME,	  /* the CFA + number */
	VALUE_IS_CONSTANT /* an address of the file: number */
};

struct flow_value {
	uint8_t is; /* enum value_is */
	int8_t origin;
	uint8_t width;
	int64_t number, base;
};

/* What is known when control gets to an instruction. */
struct flow_state {
	bool is_reached;
	bool is_waiting;
	uint64_t stored; /* set of words that hold their value by now, by number */
	struct flow_value registers[REG_COUNT];
};

/*
 * A word of the frame to which a value with a name was stored. Once another value may have been
 * stored there, anywhere in the function, it is dead: this does not depend on the way of control.
 */
struct frame_word {
	int64_t offset; /* from the CFA */
	struct flow_value value;
	bool is_dead;
	bool is_read; /* the function loads it */
	bool is_own;  /* it is no callee's argument: it was addressed by another register than sp */
};

/* Bytes of the frame to which other values are stored. */
struct frame_store {
	int64_t offset;
	int64_t length;
};

struct argument_flow {
	struct argument_code code;
	int64_t word;	   /* bytes of a word */
	struct vec states; /* struct flow_state, for the instructions of `code` by number */
	struct vec work;   /* int: numbers of instructions */
	struct frame_word words[FLOW_WORDS_MAX];
	unsigned word_count;
	struct vec stores; /* struct frame_store */
	/* A pointer may exist to something below the return address; among the stack arguments. */
	bool is_exposed, are_arguments_exposed;
	bool has_news;	 /* one of the members above says more than at the beginning of the round */
	bool is_lost;	 /* control may get somewhere that is not known */
	bool leaves_too; /* it calls other functions in its own place, which may call it again */
	size_t steps;	 /* that are left */
};

/* Changes the state to that behind the instruction. Calls: see argument_values_call(). */
void argument_values_apply(struct argument_flow *flow, const struct code_insn *insn,
			   struct flow_state *state);
/* Forgets words of the frame that do not belong to it while it is interrupted, or in a call. */
void argument_values_pass(const struct argument_flow *flow, struct flow_state *state);
/* Changes the state to that while the callee runs, and behind the call. */
void argument_values_call(struct argument_flow *flow, const struct code_insn *insn,
			  struct flow_state *state);
/* Returns true if both have the same name: their difference is that of their numbers. */
static inline bool flow_value_is_of(const struct flow_value *one, const struct flow_value *other)
{
	return one->is == VALUE_IS_NAMED && other->is == VALUE_IS_NAMED &&
	       one->origin == other->origin && one->base == other->base;
}
/* Keeps in `state` what is known in `other`, too. Returns true if it says less than before. */
bool argument_values_join(struct argument_flow *flow, struct flow_state *state,
			  const struct flow_state *other);
/* Marks the words as dead that may hold something else. Returns true if one has become so. */
bool argument_values_bury(struct argument_flow *flow);
/* Returns true if nothing was ever stored to these bytes of the frame. */
bool argument_values_are_intact(const struct argument_flow *flow, int64_t offset, int64_t length);

#endif
