/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which runtimes walk, copy or move stacks by their own means, and how a module with such a runtime
 * is recognized. doc/RELIABILITY.md lists all runtimes that were examined, and what was run of
 * each.
 *
 * The agent replaces return addresses. Unwinders that use .eh_frame get the true ones
 * (unwinders.c); a runtime that reads the stack by itself does not.
 *
 * - If the runtime walks frames of its own functions (Go, OCaml), or all frames by frame pointers
 * (sanitizers), nothing in the process is caught inside.
 *
 * - If it generates code and searches the stack for the frame that called a function of the runtime
 * (V8, HotSpot, JavaScriptCore, CoreCLR), functions of that module are not caught inside.
 *
 * - All other runtimes are safe, recognized or not, as long as the code that they walk has no rows
 * in .eh_frame: return addresses in such code are not replaced (RETURN_UNDESCRIBED), nor are those
 * in generated code (RETURN_ELSEWHERE).
 */
#include "target/runtimes.h"

#include "code/go_module.h"
#include "engine/trap/goroutines.h"
#include "engine/trap/sigtrap_go.h"
#include "object/elf_symbols.h"
#include "target/hooks.h"

#define BY_TABLES "the program's runtime walks stacks by itself"
#define BY_FRAME_POINTERS "a sanitizer walks the program's stacks by frame pointers"

/*
 * Functions that only such a runtime has. OCaml exports them, so strip(1) leaves them. Where a
 * library hides them, no function of OCaml's has a symbol, so none is caught.
 */
static const struct {
	const char *symbol, *reason;
} runtimes[] = {
	{"caml_start_program", BY_TABLES},    {"caml_init_frame_descriptors", BY_TABLES},
	{"__asan_init", BY_FRAME_POINTERS},   {"__tsan_init", BY_FRAME_POINTERS},
	{"__msan_init", BY_FRAME_POINTERS},   {"__lsan_init", BY_FRAME_POINTERS},
	{"__hwasan_init", BY_FRAME_POINTERS},
};

/*
 * Functions exported by the libraries of virtual machines whose generated code calls the library.
 */
static const char *const machines[] = {"_ZN2v87Isolate10GetCurrentEv", "JNI_CreateJavaVM",
				       "JSGlobalContextCreate", "coreclr_initialize"};

const char *runtimes_walk_stacks(const struct module *module)
{
	if (go_module_is(module->file))
		return BY_TABLES;
	for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
		if (elf_find_symbol(module->file, runtimes[i].symbol))
			return runtimes[i].reason;
	return NULL;
}

bool runtimes_generate_code(const struct module *module)
{
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		if (elf_find_exported(module->file, machines[i]))
			return true;
	return false;
}

/* ------------------------------------------------------------------ Go */

static void stack_grows(struct hook *hook, struct thread *thread)
{
	(void)hook;
	goroutine_restarts(thread);
}

static bool wants_go_sigaction(struct hook *hook, struct thread *thread, const struct regs *regs)
{
	(void)hook;
	return sigtrap_go_will_call(thread, regs);
}

static void go_sigaction_returned(struct hook *hook, struct thread *thread, uint64_t result)
{
	(void)hook;
	sigtrap_go_called(thread, result);
}

void runtimes_init(struct target *target)
{
	target->stack_growth.entered = stack_grows;
	target->go_sigaction.wants_return = wants_go_sigaction;
	target->go_sigaction.returned = go_sigaction_returned;
}

void runtimes_watch_go(struct target *target, struct thread *thread, const struct module *module,
		       const struct vec *found)
{
	bool has_go = false;

	if (!go_module_uses_registers(module->file))
		return;
	for (size_t i = 0; i < found->count && !has_go; i++) {
		const struct match *match = vec_at(found, i);

		has_go = match->kind == MATCH_ENTRY &&
			 go_module_has_code(module->file, match->address);
	}
	if (has_go) {
		hooks_plant(target, thread, module, "runtime.rt_sigaction.abi0",
			    &target->go_sigaction);
		hooks_plant(target, thread, module, "runtime.morestack.abi0",
			    &target->stack_growth);
	}
}
