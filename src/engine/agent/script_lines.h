/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Has the agent tell the script line, or the stack, of each call that it records. */
#ifndef TRACER_ENGINE_AGENT_SCRIPT_LINES_H
#define TRACER_ENGINE_AGENT_SCRIPT_LINES_H

#include "engine/agent/agent.h"
#include "tracee/tracee.h"
#include "unwind/script/program.h"

struct agent_unit;
struct script_lines; /* of a unit */

/* A virtual machine of the space: its walk, and the values that the walk needs. */
struct line_machine {
	const struct script_program *program;
	const uint64_t *values;
	unsigned value_count;
};

/*
 * Modules were loaded that may be machines: until script_lines_set() the next calls of the space
 * stop at a breakpoint. Does nothing where no calls are recorded in the process.
 */
void script_lines_ask(struct space *space);
/* These are the machines of the space. More than SCRIPTS_MACHINES are left out. */
void script_lines_set(struct space *space, const struct line_machine *machines, size_t count);
/*
 * A frame with this hash (script_frame_hash()) was named. `stack`: the number of the stack that has
 * it alone, if its line is shown; 0: it is passed by. Returns false if there is no room for it.
 */
bool script_lines_learn(struct space *space, uint64_t hash, uint32_t stack);
/* With agent_options.stacks: the stack with this hash (stack_hash.h) has this number, or 0. */
bool script_lines_learn_stack(struct space *space, uint64_t hash, uint32_t stack);

/* A unit was made: it gets what the others have. 0 or -errno. */
int script_lines_begin(const struct agent *agent, struct space *space, struct agent_unit *unit);
/* Returns the number of the stack for a ring_record.line; 0: there is none. */
uint32_t script_lines_stack(const struct agent_unit *unit, uint16_t line);
void script_lines_destroy(struct script_lines *lines); /* NULL is allowed */

#endif
