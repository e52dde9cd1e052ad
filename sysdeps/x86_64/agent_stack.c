/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack of a call, found in the process: see engine/agent/stack_rules.c.
 *
 * The stack is walked as the tracer walks it, and all that tells its frames goes into a hash: the
 * script frames of all machines, and the return addresses of the native frames. The table of the
 * tracer tells whether the tracer knows a stack with this hash. The two walks have to agree, or the
 * hash is one that the tracer does not know, and the call stops each time: both have the same
 * limits (STACKS_FRAMES), and each step is made by the tracer's own code (rule_step.h).
 */
#include "x86_64/agent_stack.h"

#include "engine/agent/stacks_abi.h"
#include "unwind/stack_hash.h"
#include "x86_64/agent_memory.h"

enum { BP = 5, WORD = 8, CHAIN_MAX = 64 };

/* A stack whose frames are being hashed. */
struct hashed {
	uint64_t hash;
	struct memo *memo;
	uint32_t left; /* how many more frames of a machine are looked at */
};

/* ------------------------------------------------------------------ script frames */

/* The `visit` function of the walk. */
static bool add_script_frame(void *visitor, const struct raw_frame *frame)
{
	struct hashed *stack = visitor;

	stack->hash = stack_hash_script(stack->hash, frame);
	return --stack->left;
}

/* Returns true if a script runs. */
static bool add_scripts(const struct agent_scripts *scripts, struct hashed *stack)
{
	struct script_run run;
	bool is_one = false;

	agent_begin_walk(&run, add_script_frame, stack, stack->memo);
	for (uint64_t i = 0; i < scripts->count && i < SCRIPTS_MACHINES; i++) {
		const uint64_t before = stack->hash;

		/* As in script_stacks.c: others may have changed the list of threads. */
		for (unsigned tries = 0; tries < SCRIPTS_WALKS; tries++) {
			stack->hash = before;
			stack->left = STACKS_FRAMES;
			const enum script_end end = agent_walk_scripts(&run, &scripts->machines[i]);

			if (end != SCRIPT_UNREADABLE && run.frame_count)
				break;
		}
		is_one |= run.frame_count > 0;
	}
	return is_one;
}

/* ------------------------------------------------------------------ native frames */

static bool read_stack(void *context, uint64_t address, uint64_t *word)
{
	return memo_read(context, address, UINT64_MAX, word);
}

/* Finds the rule for the code at a return address. */
static bool find_rule(const struct agent_stacks *stacks, uint64_t pc, struct unwind_rule *rule)
{
	const struct stacks_rule *set = &stacks->rules[stacks_set(pc)];

	for (unsigned i = 0; i < STACKS_WAYS; i++) {
		const uint64_t key = __atomic_load_n(&set[i].key, __ATOMIC_RELAXED);

		*rule = set[i].rule;
		if (stacks_key(pc, rule) == key)
			return true;
	}
	return false;
}

/* The record of a return trampoline, if `word` is one; else NULL. */
static const struct return_trampoline *find_trampoline(const struct agent_stacks *stacks,
						       uint64_t word)
{
	for (uint64_t i = 0; i < stacks->unit_count && i < STACKS_UNITS; i++) {
		const uint64_t unit = stacks->units[i];
		const uint64_t number = (word - (unit + AGENT_RETURN_STUBS)) / AGENT_RETURN_STUB;
		const struct return_trampoline *slots = (const void *)(unit + AGENT_TRAMPOLINES);

		if (number < AGENT_TRAMPOLINE_COUNT)
			return &slots[number];
	}
	return NULL;
}

/* The program's own return address, where the word at `place` may be a return trampoline. */
static uint64_t program_pc(const struct agent_stacks *stacks, uint64_t word, uint64_t place,
			   struct memo *memo)
{
	for (unsigned i = 0; i < CHAIN_MAX; i++) {
		const struct return_trampoline *slot = find_trampoline(stacks, word);

		if (!slot)
			break;
		memo_note(memo, (uint64_t)&slot->place, slot->place, UINT64_MAX);
		memo_note(memo, (uint64_t)&slot->return_address, slot->return_address, UINT64_MAX);
		if (slot->place != place)
			break;
		word = slot->return_address;
	}
	return word;
}

/* Returns false if there is a frame that the tracer has to see. */
static bool add_natives(const struct agent_stacks *stacks, const struct frame *frame, uint64_t most,
			struct hashed *stack)
{
	const struct rule_memory memory = {read_stack, stack->memo, WORD};
	uint64_t place = (uint64_t)&frame->return_address;
	struct rule_frame now = {.pc = frame->return_address,
				 .sp = place + WORD,
				 .bp = frame->gpr[BP],
				 .has_bp = true};

	for (uint64_t count = 0; count < most; count++) {
		struct unwind_rule rule;
		const uint64_t sp = now.sp;

		now.pc = program_pc(stacks, now.pc, place, stack->memo);
		if (!now.pc && count)
			return true;
		stack->hash = stack_hash_native(stack->hash, now.pc);
		if (count + 1 == most)
			return true;
		if (!find_rule(stacks, now.pc, &rule))
			return false;
		if (rule.cfa == UNWIND_OUTER)
			return true;
		if (rule_step(&rule, &memory, &now, &place) != 0 || now.sp <= sp)
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------ the table */

void agent_add_stack_key(const struct line_search *search, struct memo_key *key)
{
	const struct agent_stacks *stacks = (const void *)search->scripts->stacks;

	key->place = (uint64_t)&search->frame->return_address;
	key->pc = search->frame->return_address;
	key->bp = search->frame->gpr[BP];
	key->generation |= stacks->epoch << 8;
}

void agent_find_stack(struct line_search *search)
{
	const struct agent_scripts *scripts = search->scripts;
	const struct agent_stacks *stacks = (const void *)scripts->stacks;
	struct hashed stack = {stack_hash_begin(stacks->epoch), search->memo, 0};
	uint64_t most = stacks->native_frames;

	if (add_scripts(scripts, &stack) && most)
		most = STACKS_FRAMES;
	search->is_unknown = true;
	if (!add_natives(stacks, search->frame, most, &stack))
		return;
	const uint32_t set = scripts_set(stack.hash);

	for (uint32_t i = set; i < set + SCRIPTS_WAYS; i++)
		if (__atomic_load_n(&scripts->frames[i], __ATOMIC_RELAXED) == (stack.hash | 1)) {
			search->is_unknown = false;
			search->line = i + 1;
			return;
		}
}
