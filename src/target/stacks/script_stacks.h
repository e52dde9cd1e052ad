/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The script frames on the stacks of a space's threads: see script_stacks.c. */
#ifndef TRACER_TARGET_STACKS_SCRIPT_STACKS_H
#define TRACER_TARGET_STACKS_SCRIPT_STACKS_H

#include "sink/stacks/stack_table.h"
#include "target/target_state.h"
#include "unwind/script/vm.h"

/* A virtual machine (VM) in a space. Owned by modules->machines. */
struct script_machine {
	struct script_vm *vm;
	struct vec code; /* struct code_range: the C functions that run script frames */
};

/*
 * Returns the machines of the thread's space: struct script_machine *. Modules that were loaded
 * since the last call are looked at. `library`: the frame descriptions. For a VM of a version
 * without a description this is said once.
 */
const struct vec *script_stacks_machines(const struct target *target,
					 const struct script_library *library,
					 struct thread *thread);

/* Returns false if a machine of the space was not set up when it was looked at. */
bool script_stacks_are_ready(const struct space *space);

/* Stores the frames of a stopped thread in `frames`, the innermost first. Returns how many. */
size_t script_stacks_walk(struct script_machine *machine, const struct thread *thread,
			  const struct regs *regs, struct raw_frame *frames, size_t room);

/* Returns true if the code at `pc` is known to run script frames of the machine. */
bool script_stacks_runs(const struct script_machine *machine, uint64_t pc);
/* Makes the function known that runs this script frame, if the machine's description tells it. */
void script_stacks_learn_code(struct script_machine *machine, struct thread *thread,
			      const struct raw_frame *frame);

/* Names a frame. The texts are valid until the next call. Its line may be 0, for not known. */
struct stack_frame script_stacks_name(struct script_machine *machine, const struct raw_frame *raw);

/* Frees the machines of a space. */
void script_stacks_forget(struct modules *modules);

#endif
