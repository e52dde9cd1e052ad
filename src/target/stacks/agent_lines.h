/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent has to know to tell script lines and stacks: see agent_lines.c. */
#ifndef TRACER_TARGET_STACKS_AGENT_LINES_H
#define TRACER_TARGET_STACKS_AGENT_LINES_H

#include "sink/stacks/stack_table.h"
#include "target/stacks/script_stacks.h"
#include "unwind/unwind_walk.h"

/* These are the machines of the space: struct script_machine *. */
void agent_lines_machines(struct space *space, const struct vec *machines);
/*
 * A frame was named, the innermost of those that are not passed by. `is_shown`: its line is the one
 * that is shown, and frames outside of it have no meaning. `table`: the stacks. Returns false if
 * there was no room for it in the process.
 */
bool agent_lines_frame(struct space *space, const struct raw_frame *raw,
		       const struct stack_frame *named, bool is_shown, struct stack_table *table);
/*
 * These are the native frames of a call's stack, from its caller outward. Returns true if the agent
 * can walk them all by the rules that it knows now.
 */
bool agent_lines_rules(struct space *space, const struct unwind_frame *frames, size_t count,
		       enum unwind_end end);

#endif
