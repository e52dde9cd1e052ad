/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Has the agent walk the native stack of each call that it records: see stack_rules.c. */
#ifndef TRACER_ENGINE_AGENT_STACK_RULES_H
#define TRACER_ENGINE_AGENT_STACK_RULES_H

#include "tracee/tracee.h"
#include "unwind/rule_step.h"

struct agent_unit;
struct stack_rules; /* of a unit */

/*
 * The rule by which a walk leaves the function that the return address `pc` leads into. Does
 * nothing where no stacks are walked in the process, or where there is no room.
 */
void stack_rules_learn(struct space *space, uint64_t pc, const struct unwind_rule *rule);
/* What stack_hash_begin() gets for the stacks of the space. */
uint64_t stack_rules_epoch(const struct space *space);
/* Code was unmapped: other code may come in its place, so nothing that was learned holds. */
void stack_rules_forget(struct space *space);

/*
 * A unit was made, as the last of the space's: it gets a table, with `native_frames` as in struct
 * agent_stacks. Sets *place to the table's address in the tracee. Returns 0 or -errno.
 */
int stack_rules_begin(struct space *space, struct agent_unit *unit, unsigned native_frames,
		      uint64_t *place);
/* The units of the space are complete: the tables of all are told where these are. */
void stack_rules_tell_units(struct space *space);
void stack_rules_destroy(struct stack_rules *rules); /* NULL is allowed */

#endif
