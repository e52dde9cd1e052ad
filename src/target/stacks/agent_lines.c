/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent has to know to tell script lines in the process (engine/agent/script_lines.h): the
 * machines of the space, and which frames have been named. It stops at the innermost frame whose
 * line is shown, which is the application's, or with --any-line any one.
 *
 * For whole stacks (engine/agent/stack_rules.h) it needs the unwind rules of the native frames.
 */
#include "target/stacks/agent_lines.h"

#include "engine/agent/script_lines.h"
#include "engine/agent/scripts_abi.h"
#include "engine/agent/stack_rules.h"
#include "unwind/script/frame_hash.h"
#include "unwind/unwind_table.h"

void agent_lines_machines(struct space *space, const struct vec *machines)
{
	struct line_machine found[SCRIPTS_MACHINES];
	size_t count = 0;

	for (size_t i = 0; i < machines->count && count < SCRIPTS_MACHINES; i++) {
		const struct script_machine *machine = *(void **)vec_at(machines, i);
		struct line_machine *line = &found[count++];

		line->program = script_vm_program(machine->vm);
		line->values = script_vm_values(machine->vm, &line->value_count);
	}
	script_lines_set(space, found, count);
}

bool agent_lines_frame(struct space *space, const struct raw_frame *raw,
		       const struct stack_frame *named, bool is_shown, struct stack_table *table)
{
	const uint32_t stack = is_shown ? stack_table_add(table, named, 1) : 0;

	return is_shown == (stack != 0) && script_lines_learn(space, script_frame_hash(raw), stack);
}

/* Returns false if the agent cannot make the step from the frame to its caller. */
static bool teach_rule(struct space *space, const struct unwind_frame *frame)
{
	if (!frame->module.file || !frame->is_call || frame->is_guessed || frame->is_signal_frame)
		return false;
	const struct unwind_rule rule = unwind_table_rule(unwind_table(frame->module.file),
							  frame->pc - 1 - frame->module.bias);

	if (rule.cfa < UNWIND_OUTER || rule.is_signal_frame)
		return false;
	stack_rules_learn(space, frame->pc, &rule);
	return true;
}

bool agent_lines_rules(struct space *space, const struct unwind_frame *frames, size_t count,
		       enum unwind_end end)
{
	const bool is_limited = end == UNWIND_END_LIMIT;
	bool is_known = end == UNWIND_END_OUTER || is_limited;

	for (size_t i = 0; i < count; i++)
		/* The walk does not leave the last frame that is wanted. */
		is_known &= teach_rule(space, &frames[i]) || (is_limited && i + 1 == count);
	return is_known;
}
