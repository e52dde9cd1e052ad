/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has the agent walk the native stack of each call that it records (-w).
 *
 * The code in the process walks the stack as the tracer does, by unwind rules. It has the rules of
 * those return addresses only that the tracer has met: a stack with another address is a new one,
 * which the tracer has to see in any case, since only the tracer can name its frames. So the call
 * stops at the breakpoint behind, the tracer walks the stack itself, teaches the process the
 * stack's hash (script_lines_learn_stack()) and the rules of all its return addresses, and sends
 * the thread through again. From then on, a call with this stack does not stop: the process makes
 * the same hash, and the record has the stack's index in the table of hashes.
 *
 * Some code is left to the tracer for good: code without rows, code that only its row describes
 * (unwind_step_by_row()), and signal frames. Calls with such a frame on their stack stop each time.
 *
 * A table holds 8,192 rules. What finds no room in its set is not learned, and calls through it
 * stop.
 *
 * When code is unmapped, its addresses may get other code, which has other rules and names. All
 * rules are taken out then, and the epoch, which is part of all hashes, becomes another one: so no
 * stack that was learned before is found again. The old hashes stay where they are, because records
 * that refer to them may still be in a ring.
 */
#include "engine/agent/stack_rules.h"

#include "base/vec.h"
#include "base/xalloc.h"
#include "engine/agent/agent_state.h"
#include "engine/agent/plans.h"
#include "engine/agent/stacks_abi.h"
#include "tracee/space.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct stack_rules {
	uint64_t place; /* of the struct agent_stacks in the tracee */
	bool is_empty;
	uint64_t keys[STACKS_RULES]; /* what is there */
};

void stack_rules_destroy(struct stack_rules *rules)
{
	free(rules);
}

static size_t count_units(const struct space *space)
{
	return space->agent ? space->agent->units.count : 0;
}

static struct stack_rules *rules_of(const struct space *space, size_t unit)
{
	return (*(struct agent_unit **)vec_at(&space->agent->units, unit))->rules;
}

static void learn_in(struct space *space, struct stack_rules *rules,
		     const struct stacks_rule *learned, uint32_t set)
{
	for (uint32_t i = set; i < set + STACKS_WAYS; i++) {
		if (rules->keys[i] == learned->key)
			return;
		if (rules->keys[i])
			continue;
		if (space_write(space,
				rules->place + offsetof(struct agent_stacks, rules) +
					i * sizeof *learned,
				learned, sizeof *learned) == 0) {
			rules->keys[i] = learned->key;
			rules->is_empty = false;
		}
		return;
	}
}

void stack_rules_learn(struct space *space, uint64_t pc, const struct unwind_rule *rule)
{
	const struct stacks_rule learned = {stacks_key(pc, rule), *rule};

	for (size_t i = 0; i < count_units(space); i++)
		if (rules_of(space, i))
			learn_in(space, rules_of(space, i), &learned, stacks_set(pc));
}

uint64_t stack_rules_epoch(const struct space *space)
{
	return space->agent ? space->agent->stack_epoch : 0;
}

/* The epoch first: what is walked by old rules meanwhile is no stack that anybody knows. */
static void forget_in(struct space *space, struct stack_rules *rules)
{
	static const struct stacks_rule none[STACKS_RULES];
	const uint64_t epoch = stack_rules_epoch(space);

	space_write(space, rules->place + offsetof(struct agent_stacks, epoch), &epoch,
		    sizeof epoch);
	if (rules->is_empty)
		return;
	space_write(space, rules->place + offsetof(struct agent_stacks, rules), none, sizeof none);
	memset(rules->keys, 0, sizeof rules->keys);
	rules->is_empty = true;
}

void stack_rules_forget(struct space *space)
{
	if (space->agent)
		space->agent->stack_epoch++;
	for (size_t i = 0; i < count_units(space); i++)
		if (rules_of(space, i))
			forget_in(space, rules_of(space, i));
}

void stack_rules_tell_units(struct space *space)
{
	const size_t count = count_units(space) < STACKS_UNITS ? count_units(space) : STACKS_UNITS;
	uint64_t words[1 + STACKS_UNITS] = {count};

	for (size_t i = 0; i < count; i++)
		words[1 + i] = (*(struct agent_unit **)vec_at(&space->agent->units, i))->base;
	for (size_t i = 0; i < count_units(space); i++)
		if (rules_of(space, i))
			space_write(space,
				    rules_of(space, i)->place +
					    offsetof(struct agent_stacks, unit_count),
				    words, sizeof words);
}

int stack_rules_begin(struct space *space, struct agent_unit *unit, unsigned native_frames,
		      uint64_t *place)
{
	const uint64_t head[] = {stack_rules_epoch(space), native_frames};
	struct stack_rules *rules;

	_Static_assert(offsetof(struct agent_stacks, unit_count) == sizeof head, "the head");
	*place = plans_take(unit->plans, unit->base, sizeof(struct agent_stacks));
	if (!*place)
		return -ENOSPC;
	/* The memory of a new unit is zero, so there are no rules. */
	const int error = space_write(space, *place, head, sizeof head);

	if (error)
		return error;
	rules = xcalloc(1, sizeof *rules);
	rules->place = *place;
	rules->is_empty = true;
	unit->rules = rules;
	return 0;
}
