/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hooks at unwinders, and at functions that look up their caller, in a process in which calls are
 * caught inside. There return addresses lead to return trampolines, and the hooks first put the
 * true ones back.
 *
 * Unwinders that use tables must find these first, by dl_iterate_phdr() or _dl_find_object(), which
 * may be linked statically. At these functions, and at the entries of unwinders, the true addresses
 * are put on the thread's stack. The entries of libgcc_s.so.1 have symbols, and one stop at the
 * entry suffices for a whole exception. So _dl_find_object(), which libgcc calls twice for each
 * frame, is not hooked as long as no other unwinder calls it.
 */
#include "target/unwinders.h"

#include "engine/agent/agent.h"
#include "engine/agent/return_addresses.h"
#include "engine/agent/unwinding.h"
#include "object/elf_got_slots.h"
#include "object/elf_symbols.h"
#include "target/hooks.h"
#include "target/target_state.h"
#include "target/task_state.h"

#include <string.h>

/* The function by which libgcc finds the tables of each frame. */
static const char TABLES[] = "_dl_find_object";

static const char *const unwinders[] = {
	"_Unwind_RaiseException",
	/*
	 * Called at the end of a landing pad: calls that destructors made are recorded as over
	 * before the frame of the pad is left (engine/core/callstack.c). Also, its own return
	 * address may lead to a return trampoline.
	 */
	"_Unwind_Resume",
	"_Unwind_Resume_or_Rethrow",
	"_Unwind_ForcedUnwind",
	"dl_iterate_phdr",
	/*
	 * Functions of libunwind by which a walk begins. The libunwind of nongnu.org caches the
	 * tables that it has found, and calls no function to find them again.
	 */
	"_ULx86_64_init_local",
	"_ULx86_64_init_local2",
	"_Ux86_64_init_local",
	"_Ux86_64_init_local2",
	"unw_backtrace",
	"unw_backtrace2",
	"unw_init_local",
};

/* Functions that look up their caller. Functions that are caught inside may jump to them. */
static const char *const asking[] = {"dlsym", "dlvsym", "dlopen", "dlmopen"};

static bool is_libgcc(const struct module *module)
{
	const char *soname = elf_soname(module->file);

	return soname && !strcmp(soname, "libgcc_s.so.1");
}

/*
 * Returns true if the module's unwinder finds tables by TABLES, and may be entered by functions
 * that are not hooked.
 */
static bool is_other_unwinder(const struct module *module)
{
	if (is_libgcc(module))
		return false;
	return elf_has_got_slot(module->file, TABLES) ||
	       (module->is_main && !elf_interpreter(module->file));
}

static void watch_tables(struct target *target, struct thread *thread, const struct module *module)
{
	struct modules *modules = thread->process->space->modules;
	bool were_watched = modules->tables_watched;

	modules->tables_watched |= is_other_unwinder(module);
	for (size_t i = 0; !were_watched && modules->tables_watched && i < modules->list.count; i++)
		hooks_plant(target, thread, *(struct module **)vec_at(&modules->list, i), TABLES,
			    &target->unwinder);
	if (modules->tables_watched)
		hooks_plant(target, thread, module, TABLES, &target->unwinder);
}

/*
 * Makes the entries of libgcc_s.so.1 patch candidates: the agent takes over the hooks there, so
 * that an exception needs no stop.
 */
static void candidate_unwinder(struct target *target, struct thread *thread,
			       const struct module *module)
{
	static const char *const names[UNWINDER_FUNCTIONS] = {
		[UNWINDER_RAISE] = "_Unwind_RaiseException",
		[UNWINDER_RESUME] = "_Unwind_Resume",
		[UNWINDER_RETHROW] = "_Unwind_Resume_or_Rethrow",
		[UNWINDER_SET_IP] = "_Unwind_SetIP",
	};
	const struct elf_symbol *symbol = elf_find_symbol(module->file, "_Unwind_GetCFA");
	struct agent_unwinder unwinder = {.get_cfa = 0};

	if (!is_libgcc(module) || !symbol || !symbol->value || !agent_may_unwind(target->agent))
		return;
	unwinder.get_cfa = symbol->value + module->bias;
	for (int i = 0; i < UNWINDER_FUNCTIONS; i++) {
		symbol = elf_find_symbol(module->file, names[i]);
		if (!symbol || !symbol->value)
			return;
		unwinder.functions[i].address = symbol->value + module->bias;
		unwinder.functions[i].length = symbol->size;
		unwinder.functions[i].hook = i == UNWINDER_SET_IP ? &target->landing
								  : &target->unwinder;
	}
	agent_add_unwinder_candidate(target->agent, thread, &unwinder);
}

/*
 * The hooks stop every thread that unwinds a stack, so they are planted only where calls may be
 * caught inside: other programs that unwind all the time must not be slowed down.
 */
void unwinders_hook(struct target *target, struct thread *thread, struct module *module)
{
	for (size_t i = 0; i < sizeof unwinders / sizeof *unwinders; i++)
		hooks_plant(target, thread, module, unwinders[i], &target->unwinder);
	watch_tables(target, thread, module);
	candidate_unwinder(target, thread, module);
	hooks_plant(target, thread, module, "_Unwind_Backtrace", &target->backtrace);
	for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
		hooks_plant(target, thread, module, asking[i], &target->asking);
}

bool unwinders_hook_all(struct target *target, struct thread *thread)
{
	struct modules *modules = thread->process->space->modules;

	if (modules->is_hooked)
		return false;
	modules->is_hooked = true;
	for (size_t i = 0; i < modules->list.count; i++)
		unwinders_hook(target, thread, *(struct module **)vec_at(&modules->list, i));
	return true;
}

/*
 * Returns true if the thread is inside _Unwind_Backtrace(). At its entry the hook has put true
 * return addresses on the stack, and calls made since have returned, so nothing has to be done. The
 * check fails if _Unwind_Backtrace() was left by a jump: its return address is not there any more.
 */
static bool is_backtracing(const struct thread *thread)
{
	const struct space *space = thread->process->space;
	struct regs regs;
	uint64_t word;

	return thread->session->backtrace_place && regs_load(thread->tid, &regs) == 0 &&
	       regs.r[REG_SP] < thread->session->backtrace_place &&
	       memory_read_word(&space->memory, thread->session->backtrace_place, sizeof word,
				&word) &&
	       word == thread->session->backtrace_return;
}

static void unwinder_called(struct hook *hook, struct thread *thread)
{
	struct agent *agent = hook->context;

	if (!is_backtracing(thread))
		agent_hand_over(agent, thread);
}

/* Handles a stop at a hook that the agent has taken over. */
static bool unwinds_by_itself(struct hook *hook, struct thread *thread, struct regs *regs)
{
	(void)hook;
	return agent_bind_stack(thread, regs);
}

static void backtrace_called(struct hook *hook, struct thread *thread)
{
	struct agent *agent = hook->context;
	struct regs regs;

	agent_hand_over(agent, thread);
	thread->session->backtrace_place = 0;
	if (regs_load(thread->tid, &regs) == 0 &&
	    memory_read_word(&thread->process->space->memory, regs.r[REG_SP], sizeof(uint64_t),
			     &thread->session->backtrace_return))
		thread->session->backtrace_place = regs.r[REG_SP];
}

static void backtrace_returned(struct hook *hook, struct thread *thread, uint64_t result)
{
	(void)hook;
	(void)result;
	thread->session->backtrace_place = 0;
}

static void asked(struct hook *hook, struct thread *thread)
{
	struct agent *agent = hook->context;
	struct regs regs;
	uint64_t word;

	if (regs_load(thread->tid, &regs) == 0 &&
	    memory_read_word(&thread->process->space->memory, regs.r[REG_SP], sizeof word, &word))
		agent_show_caller(agent, thread, regs.r[REG_SP], word);
}

void unwinders_init(struct target *target)
{
	target->unwinder = (struct hook){.context = target->agent,
					 .entered = unwinder_called,
					 .redirect = unwinds_by_itself,
					 .when = JOURNAL_STAYS};
	target->backtrace = (struct hook){.context = target->agent,
					  .entered = backtrace_called,
					  .returned = backtrace_returned,
					  .when = JOURNAL_STAYS};
	target->asking =
		(struct hook){.context = target->agent, .entered = asked, .when = JOURNAL_STAYS};
}
