/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent's code in a tracee needs to tell the whole stack of a call (-w), in the plans of
 * each unit; its address is in the struct agent_scripts. See stack_rules.c.
 */
#ifndef TRACER_ENGINE_AGENT_STACKS_ABI_H
#define TRACER_ENGINE_AGENT_STACKS_ABI_H

#include "unwind/rule_step.h"

#include <assert.h>

enum { STACKS_SETS = 2048, STACKS_WAYS = 4, STACKS_UNITS = 12 };
enum {
	STACKS_RULES = STACKS_SETS * STACKS_WAYS,
	STACKS_FRAMES = 1024 /* of each kind; the tracer's walks have the same limit */
};

/*
 * The rule for the code that a return address leads to. The key is the address combined with a hash
 * of the rule: of an entry that the tracer is just writing, it fits no address.
 */
struct stacks_rule {
	uint64_t key; /* 0: free */
	struct unwind_rule rule;
};
static_assert(sizeof(struct stacks_rule) == 16, "no cache line is shared by two sets");

struct agent_stacks {
	uint64_t epoch; /* of stack_hash_begin(): grows when rules are taken out */
	/* Native frames that are wanted where no script runs; 0: none are wanted at all. */
	uint64_t native_frames;
	uint64_t unit_count;
	uint64_t units[STACKS_UNITS]; /* base addresses: their trampolines are on the stack */
	struct stacks_rule rules[STACKS_RULES];
};

static inline uint64_t stacks_key(uint64_t pc, const struct unwind_rule *rule)
{
	uint64_t word;

	__builtin_memcpy(&word, rule, sizeof word);
	return pc ^ word * UINT64_C(0x9e3779b97f4a7c15);
}

/* The first entry of the set of an address. */
static inline uint32_t stacks_set(uint64_t pc)
{
	return (uint32_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 53) * STACKS_WAYS;
}

#endif
