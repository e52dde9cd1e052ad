/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hooks at functions that are known by name. */
#include "target/hooks.h"

#include "engine/agent/gates.h"
#include "object/elf_symbols.h"
#include "target/target_state.h"

#include <elf.h>

void hooks_plant(struct target *target, struct thread *thread, const struct module *module,
		 const char *name, struct hook *hook)
{
	const struct elf_symbol *symbol = elf_find_symbol(module->file, name);

	if (!symbol || !symbol->value || symbol->type != STT_FUNC)
		return;
	const uint64_t address = symbol->value + module->bias;

	if (agent_has_gate(thread->process->space, address, hook))
		return;
	if (agent_has(thread->process->space, address))
		agent_refuse(target->agent, thread, "one of its functions has to be watched");
	trap_plant(target->trap, thread, address, NULL, hook);
}
