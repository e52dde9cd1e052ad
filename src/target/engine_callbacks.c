/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the engines ask of this folder, or tell it: the events of struct engine_events, and the
 * hooks on the dynamic linker, sigaction() and longjmp() that serve the engines themselves.
 */
#include "target/engine_callbacks.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "code/function_end.h"
#include "code/go_module.h"
#include "code/tail_reach.h"
#include "engine/trap/pending.h"
#include "engine/trap/sigtrap.h"
#include "target/agent_policy.h"
#include "target/hook_gates.h"
#include "target/indirect_calls.h"
#include "target/module.h"
#include "target/modules.h"
#include "target/sigmask_hooks.h"
#include "target/syscalls/syscalls.h"
#include "target/table_functions.h"
#include "target/target_state.h"
#include "tracee/maps.h"
#include "tracee/proc.h"
#include "unwind/extent.h"
#include "unwind/landing_pads.h"

#include <stdio.h>
#include <string.h>

static void take_record(void *context, const struct record *record)
{
	const struct target *target = context;

	target->notify.record(target->notify.context, record);
}

static void linker_changed(struct hook *hook, struct thread *thread)
{
	struct target *target = hook->context;

	modules_update(target, thread);
}

static bool sigaction_called(struct hook *hook, struct thread *thread, const struct regs *regs)
{
	static const struct gate of_sigtrap = {GATE_ARGUMENT, SIGTRAP};
	struct target *target = hook->context;

	if (sigtrap_will_call(thread, regs))
		return true;
	hook_gates_note(target, thread, regs, hook, "sigaction", of_sigtrap);
	return false;
}

static void sigaction_returned(struct hook *hook, struct thread *thread, uint64_t result)
{
	(void)hook;
	sigtrap_called(thread, result);
}

static bool sigaction_answered(struct hook *hook, struct thread *thread, const struct regs *regs,
			       uint64_t *result)
{
	(void)hook;
	*result = 0;
	return sigtrap_answered(thread, regs);
}

static void long_jump_called(struct hook *hook, struct thread *thread)
{
	struct target *target = hook->context;

	trap_long_jump(target->trap, thread, false);
}

static void glibc_long_jump_called(struct hook *hook, struct thread *thread)
{
	static const struct gate of_jumps = {.kind = GATE_JUMP};
	struct target *target = hook->context;
	struct regs regs;

	trap_long_jump(target->trap, thread, true);
	pending_settle(target->tracees, thread->process->space);
	if (regs_load(thread->tid, &regs) == 0)
		hook_gates_note(target, thread, &regs, hook, "longjmp", of_jumps);
}

static void slot_written(void *context, struct thread *thread, uint64_t address)
{
	(void)address;
	table_functions_plant(context, thread);
}

/*
 * makecontext() pushes the beginning of a hand-written function as a return address, without a
 * call. The bytes are read from the file, because the tracer may have patched the code in memory.
 */
static bool is_behind_call(const struct module *module, const struct arch *arch, uint64_t address)
{
	uint8_t before[ARCH_CALL_MAX];

	return elf_read(module->file, address - sizeof before, before, sizeof before) &&
	       arch->ends_with_call(before);
}

static enum return_place return_place(void *context, const struct space *space, uint64_t address)
{
	const struct module *module = modules_find(space->modules, address);

	(void)context;
	uint64_t start, length;

	if (!module)
		return RETURN_ELSEWHERE;
	address -= module->bias;
	/* A call that does not return may be its function's last instruction: look before it. */
	const bool is_described = extent_around(module->file, address - 1, &start, &length);

	if (is_described && landing_pads_has(module->file, address))
		return RETURN_AT_PAD;
	switch (function_end_at(module->file, address)) {
	case FUNCTION_IS_AT_ITS_END:
		if (is_behind_call(module, space->arch, address))
			return is_described ? RETURN_NOWHERE : RETURN_NOWHERE_UNDESCRIBED;
		break;
	case FUNCTION_MAY_GO_ON:
		return RETURN_TO_PART;
	default:
		break;
	}
	return is_described ? RETURN_IN_MODULE : RETURN_UNDESCRIBED;
}

static bool may_jump(void *context, const struct space *space, uint64_t from, uint64_t to)
{
	const struct target *target = context;
	struct module *module = modules_find(space->modules, from);

	if (!module)
		return true;
	const uint64_t start = from - module->bias;
	struct tail_reach *reach = map_get(&module->reaches, start);

	if (!reach) {
		reach = tail_reach_of(module->file, space->arch, trap_decoder(target->trap), start,
				      TAIL_REACH_BYTES);
		map_put(&module->reaches, start, reach);
	}
	return tail_reach_has(reach,
			      modules_find(space->modules, to) == module ? to - module->bias : 0);
}

static bool is_go(void *context, const struct space *space, uint64_t address)
{
	const struct module *module = modules_find(space->modules, address);

	(void)context;
	return module && go_module_uses_registers(module->file) &&
	       go_module_has_code(module->file, address - module->bias);
}

enum { NOWHERE = 0x10000 };

/* Returns true if a word that was taken for a return address points to executable memory. */
static bool is_code(const struct thread *thread, uint64_t address)
{
	struct maps maps;

	if (maps_read(thread->tid, &maps) != 0)
		return true;
	const struct mapping *mapping = maps_find(&maps, address);
	const bool is = mapping && mapping->executable;

	maps_deinit(&maps);
	return is;
}

static void return_lost(void *context, const struct thread *thread, const struct probe_site *site,
			uint64_t address)
{
	struct target *target = context;
	const struct module *caller = modules_find(thread->process->space->modules, address);

	/* Nothing returns to the lowest pages: the word is a number, and there was no call. */
	if (address < NOWHERE || proc_is_exiting(thread->tid))
		return;
	_cleanup_free_ char *reason =
		is_code(thread, address)
			? xasprintf("calls from %s are shown, but how they end cannot be seen: "
				    "there can be no breakpoint",
				    caller ? caller->base_name : "outside of modules")
			: xstrdup("it was also jumped to, without a call: how that ends cannot be "
				  "seen");

	untraced_function(target->untraced, site->info->module, site->info->name, false, reason);
}

void engine_callbacks_init(struct target *target)
{
	target->events = (struct engine_events){.record = take_record,
						.watched = slot_written,
						.return_place = return_place,
						.may_jump = may_jump,
						.return_lost = return_lost,
						.is_go = is_go,
						.show_caller = agent_policy_show_caller,
						.is_chosen = agent_policy_is_chosen,
						.delayed = agent_policy_delayed,
						.masks_matter = sigmask_hooks_matters,
						.system_call_answered = system_calls_answered,
						.context = target};
	target->linker = (struct hook){.context = target, .entered = linker_changed};
	target->long_jump = (struct hook){.context = target, .entered = long_jump_called};
	target->long_jump_glibc = (struct hook){.context = target,
						.entered = glibc_long_jump_called};
	target->sigaction = (struct hook){.context = target,
					  .wants_return = sigaction_called,
					  .returned = sigaction_returned,
					  .intercept = sigaction_answered};
}
