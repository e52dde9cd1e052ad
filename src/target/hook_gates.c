/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the needless stops of hooks, and gives busy ones a gate.
 *
 * PHP calls sigaction() eight times in each request and Perl four times, and none of these calls
 * matters to the tracer: it watches the function for the disposition of SIGTRAP only. A few stops
 * do not matter to a process; if one goes on calling the function, that gets a gate. No gates are
 * prepared at attach, which keeps attaching quick.
 */
#include "target/hook_gates.h"

#include "engine/agent/patch_candidates.h"
#include "object/elf_symbols.h"
#include "target/module.h"
#include "target/target_state.h"
#include "unwind/extent.h"

#include <elf.h>

enum { STOPS_BEFORE = 8 };

/* A function with a hook, in one space. */
struct gate_place {
	uint64_t address;
	unsigned stops; /* needless stops */
};

void hook_gates_init(struct modules *modules)
{
	vec_init(&modules->gates, sizeof(struct gate_place));
}

void hook_gates_deinit(struct modules *modules)
{
	vec_deinit(&modules->gates);
}

void hook_gates_clone(struct modules *modules, const struct modules *from)
{
	for (size_t i = 0; i < from->gates.count; i++)
		vec_push(&modules->gates, vec_at(&from->gates, i));
}

static struct gate_place *find_place(struct modules *modules, uint64_t address)
{
	const struct gate_place made = {.address = address};

	for (size_t i = 0; i < modules->gates.count; i++) {
		struct gate_place *place = vec_at(&modules->gates, i);

		if (place->address == address)
			return place;
	}
	return vec_push(&modules->gates, &made);
}

/*
 * The symbol is found quickly; .eh_frame would have to be read as a whole, while the thread is
 * stopped.
 */
static uint64_t length_of(const struct module *module, const char *name, uint64_t address)
{
	const struct elf_symbol *symbol = elf_find_symbol(module->file, name);

	if (symbol && symbol->type == STT_FUNC && symbol->value == address - module->bias)
		return symbol->size;
	return extent_of_function(module->file, address - module->bias);
}

void hook_gates_note(struct target *target, struct thread *thread, const struct regs *regs,
		     struct hook *hook, const char *name, struct gate gate)
{
	struct space *space = thread->process->space;
	const uint64_t address = regs->pc - space->arch->breakpoint_pc_offset;
	const struct module *module = modules_find(space->modules, address);

	/* No module: the thread has stopped in the gate itself, whose condition is met. */
	if (!target->agent || !space->arch->agent || !module || target->leaving ||
	    thread->process->silent)
		return;
	struct gate_place *place = find_place(space->modules, address);

	if (++place->stops != STOPS_BEFORE)
		return;
	const struct patch_candidate candidate = {.address = address,
						  .length = length_of(module, name, address),
						  .hook = hook,
						  .gate = gate};

	if (!agent_add_candidate(space, &candidate))
		deferred_work_want(&target->work, &space->modules->work, WORK_PATCHING);
}
