/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hooks where stacks are unwound, and callers asked for, in a process in which calls are caught
 * inside: their return addresses are stubs of ours, and the true ones are put back first.
 *
 * Unwinders that go by tables must find them first: through dl_iterate_phdr() or _dl_find_object(),
 * linked statically or not. There, and where the unwinder is entered, the true addresses are put
 * back on that thread's stack. libgcc_s.so.1 is entered by functions that have symbols, and once is
 * enough for a whole exception: as long as nobody else asks for _dl_find_object(), which it calls
 * twice for each frame, that is left alone.
 */
#include "session/private.h"

#include "engine/agent/agent.h"

#include <string.h>

/* What libgcc asks for the tables of each frame. */
static const char TABLES[] = "_dl_find_object";

static const char *const unwinders[] = {
	"_Unwind_RaiseException",
	/*
	 * What destructors have called is told before what they are called from is left: see
	 * engine/trap/callstack.c. And it has a return address of its own.
	 */
	"_Unwind_Resume",
	"_Unwind_Resume_or_Rethrow",
	"_Unwind_ForcedUnwind",
	"dl_iterate_phdr",
	/*
	 * libunwind's, by which a walk begins: nongnu.org's keeps the tables that it has found
	 * once, and asks nobody for them again.
	 */
	"_ULx86_64_init_local",
	"_ULx86_64_init_local2",
	"_Ux86_64_init_local",
	"_Ux86_64_init_local2",
	"unw_backtrace",
	"unw_backtrace2",
	"unw_init_local",
};

/* They ask who called them, and may have been jumped to by what is counted. */
static const char *const asking[] = {"dlsym", "dlvsym", "dlopen", "dlmopen"};

static bool is_libgcc(const struct module *module)
{
	const char *soname = elf_soname(module->file);

	return soname && !strcmp(soname, "libgcc_s.so.1");
}

/* Whether it looks for tables by TABLES, and may not have been entered by what is hooked. */
static bool is_other_unwinder(const struct module *module)
{
	if (is_libgcc(module))
		return false;
	return elf_has_slot(module->file, TABLES) ||
	       (module->is_main && !elf_interpreter(module->file));
}

static void watch_tables(struct session *session, struct thread *thread,
			 const struct module *module)
{
	struct modules *modules = thread->process->space->modules;
	bool were_watched = modules->tables_watched;

	modules->tables_watched |= is_other_unwinder(module);
	for (size_t i = 0; !were_watched && modules->tables_watched && i < modules->list.count; i++)
		plant_hook(session, thread, *(struct module **)vec_at(&modules->list, i), TABLES,
			   &session->unwinder.hook);
	if (modules->tables_watched)
		plant_hook(session, thread, module, TABLES, &session->unwinder.hook);
}

/*
 * Exceptions by libgcc_s.so.1 are to need no stop, where that can be done: the agent takes over
 * what is hooked there.
 */
static void wish_unwinder(struct session *session, struct thread *thread,
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

	if (!is_libgcc(module) || !symbol || !symbol->value || !agent_may_unwind(session->agent))
		return;
	unwinder.get_cfa = symbol->value + module->bias;
	for (int i = 0; i < UNWINDER_FUNCTIONS; i++) {
		symbol = elf_find_symbol(module->file, names[i]);
		if (!symbol || !symbol->value)
			return;
		unwinder.functions[i].address = symbol->value + module->bias;
		unwinder.functions[i].length = symbol->size;
		unwinder.functions[i].hook = i == UNWINDER_SET_IP ? &session->landing
								  : &session->unwinder.hook;
	}
	agent_wish_unwinder(session->agent, thread, &unwinder);
}

/*
 * They stop whoever unwinds a stack, so they are planted only where something may be caught inside:
 * a program that unwinds all the time, and is not, is not to be slowed down.
 */
void unwinders_hook(struct session *session, struct thread *thread, struct module *module)
{
	for (size_t i = 0; i < sizeof unwinders / sizeof *unwinders; i++)
		plant_hook(session, thread, module, unwinders[i], &session->unwinder.hook);
	watch_tables(session, thread, module);
	wish_unwinder(session, thread, module);
	plant_hook(session, thread, module, "_Unwind_Backtrace", &session->backtrace.hook);
	for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
		plant_hook(session, thread, module, asking[i], &session->asking.hook);
}

bool unwinders_hook_all(struct session *session, struct thread *thread)
{
	struct modules *modules = thread->process->space->modules;

	if (modules->is_hooked)
		return false;
	modules->is_hooked = true;
	for (size_t i = 0; i < modules->list.count; i++)
		unwinders_hook(session, thread, *(struct module **)vec_at(&modules->list, i));
	return true;
}

/*
 * It has a backtrace made, which has been given true addresses when it began, and looks for the
 * tables of each frame: all that was called since has returned. Unless that was left by a jump;
 * then its return address is not where it was.
 */
static bool is_backtracing(const struct thread *thread)
{
	const struct space *space = thread->process->space;
	struct regs regs;
	uint64_t word;

	return thread->backtrace_place && regs_load(thread->tid, &regs) == 0 &&
	       regs.r[REG_SP] < thread->backtrace_place &&
	       memory_read_word(&space->memory, thread->backtrace_place, sizeof word, &word) &&
	       word == thread->backtrace_return;
}

static void unwinder_called(struct hook *hook, struct thread *thread)
{
	struct agent *agent = ((struct agent_hook *)(void *)hook)->agent;

	if (!is_backtracing(thread))
		agent_hand_over(agent, thread);
}

/* Where the agent has taken the hook over. */
static bool unwinds_by_itself(struct hook *hook, struct thread *thread, struct regs *regs)
{
	(void)hook;
	return agent_bind_stack(thread, regs);
}

static void backtrace_called(struct hook *hook, struct thread *thread)
{
	struct agent *agent = ((struct agent_hook *)(void *)hook)->agent;
	struct regs regs;

	agent_hand_over(agent, thread);
	thread->backtrace_place = 0;
	if (regs_load(thread->tid, &regs) == 0 &&
	    memory_read_word(&thread->process->space->memory, regs.r[REG_SP], sizeof(uint64_t),
			     &thread->backtrace_return))
		thread->backtrace_place = regs.r[REG_SP];
}

static void backtrace_returned(struct hook *hook, struct thread *thread, uint64_t result)
{
	(void)hook;
	(void)result;
	thread->backtrace_place = 0;
}

static void asked(struct hook *hook, struct thread *thread)
{
	struct agent *agent = ((struct agent_hook *)(void *)hook)->agent;
	struct regs regs;
	uint64_t word;

	if (regs_load(thread->tid, &regs) == 0 &&
	    memory_read_word(&thread->process->space->memory, regs.r[REG_SP], sizeof word, &word))
		agent_show_caller(agent, thread, regs.r[REG_SP], word);
}

void unwinders_init(struct session *session)
{
	session->unwinder = (struct agent_hook){
		{.entered = unwinder_called, .redirect = unwinds_by_itself, .when = JOURNAL_STAYS},
		session->agent};
	session->backtrace = (struct agent_hook){{.entered = backtrace_called,
						  .returned = backtrace_returned,
						  .when = JOURNAL_STAYS},
						 session->agent};
	session->asking = (struct agent_hook){{.entered = asked, .when = JOURNAL_STAYS},
					      session->agent};
}
