/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent has to know to tell script lines in the process: see agent_lines.c. */
#ifndef TRACER_TARGET_AGENT_LINES_H
#define TRACER_TARGET_AGENT_LINES_H

#include "sink/stack_table.h"
#include "target/script_stacks.h"

/* These are the machines of the space: struct script_machine *. */
void agent_lines_machines(struct space *space, const struct vec *machines);
/*
 * A frame was named, the innermost of those that are not passed by. `table`: the stacks. Returns
 * true if its line is the one that is shown: frames outside of it have no meaning.
 */
bool agent_lines_frame(struct space *space, const struct raw_frame *raw,
		       const struct stack_frame *named, bool any_line, struct stack_table *table);

#endif
