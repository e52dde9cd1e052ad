/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack of a thread as two kinds of walks find it, which know nothing of each other: one over
 * the frames of compiled code, and one over the script frames of each virtual machine. Nothing is
 * named here: most stacks have been seen before.
 */
#include "target/stacks/raw_stack.h"

#include "base/xalloc.h"
#include "target/stacks/native_stacks.h"
#include "target/stacks/script_stacks.h"

#include <stdlib.h>

void raw_stack_init(struct raw_stack *stack)
{
	for (size_t i = 0; i < RAW_MACHINES_MAX; i++)
		stack->parts[i].frames = xcalloc(RAW_FRAMES_MAX, sizeof(struct raw_frame));
}

void raw_stack_deinit(struct raw_stack *stack)
{
	for (size_t i = 0; i < RAW_MACHINES_MAX; i++)
		free(stack->parts[i].frames);
}

/* Descriptions are for 64 bits: their numbers would lead astray elsewhere. */
bool raw_stack_has_scripts(const struct thread *thread)
{
	return thread->process->space->arch->abi->word == sizeof(uint64_t);
}

void raw_stack_walk_scripts(struct raw_stack *stack, struct target *target,
			    const struct script_library *library, struct thread *thread,
			    const struct regs *regs, size_t room)
{
	stack->part_count = 0;
	if (!library || !raw_stack_has_scripts(thread))
		return;
	const struct vec *machines = script_stacks_machines(target, library, thread);

	for (size_t i = 0; i < machines->count && stack->part_count < RAW_MACHINES_MAX; i++) {
		struct machine_frames *part = &stack->parts[stack->part_count];

		part->machine = *(struct script_machine **)vec_at(machines, i);
		part->count = script_stacks_walk(part->machine, thread, regs, part->frames, room);
		part->next = 0;
		part->learned = SIZE_MAX;
		stack->part_count += part->count > 0;
	}
}

void raw_stack_walk_native(struct raw_stack *stack, struct thread *thread,
			   const struct stack_start *start, size_t room)
{
	stack->native_first = 0;
	stack->native_count = native_stacks_walk(thread, start->entry ? start->entry : start->regs,
						 start->entry != NULL, stack->native, room,
						 &stack->native_end);
	while (stack->native_first < stack->native_count && start->place &&
	       stack->native[stack->native_first].sp <= start->place)
		stack->native_first++;
}
