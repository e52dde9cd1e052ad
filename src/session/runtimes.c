/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which runtimes walk, copy or move stacks by means of their own, and how a module is recognised
 * that has one. doc/RELIABILITY.md has the list of all runtimes that were looked at, and what was
 * run of each.
 *
 * The agent replaces return addresses. Unwinders that go by .eh_frame are given the true ones
 * (unwinders.c); a runtime that looks at the stack by itself is not.
 *
 * - Where the runtime walks frames of its own functions (Go, OCaml), or all frames by frame
 *   pointers (sanitizers), nothing of the process is caught inside.
 * - Where it generates code and looks for the frame that called a function of the runtime (V8,
 *   HotSpot, JavaScriptCore, CoreCLR), functions of that module are not.
 * - Any other is safe as well, recognised or not, as long as code that it walks has no rows in
 *   .eh_frame: no return address in such code is replaced (RETURN_UNDESCRIBED), and none in code
 *   that was generated (RETURN_ELSEWHERE).
 */
#include "session/runtimes.h"

#include "engine/trap/goroutines.h"
#include "engine/trap/sigtrap_go.h"
#include "image/go_module.h"

#define BY_TABLES "the program's runtime walks stacks by itself"
#define BY_FRAME_POINTERS "a sanitizer walks the program's stacks by frame pointers"

/*
 * Functions that only such a runtime has. OCaml exports them, so strip(1) leaves them; where they
 * are hidden in a library, no function of OCaml's can be named, and so none is caught.
 */
static const struct {
	const char *symbol, *reason;
} runtimes[] = {
	{"caml_start_program", BY_TABLES},    {"caml_init_frame_descriptors", BY_TABLES},
	{"__asan_init", BY_FRAME_POINTERS},   {"__tsan_init", BY_FRAME_POINTERS},
	{"__msan_init", BY_FRAME_POINTERS},   {"__lsan_init", BY_FRAME_POINTERS},
	{"__hwasan_init", BY_FRAME_POINTERS},
};

/* What is exported by the library of a virtual machine of which generated code calls functions. */
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

void runtimes_init(struct session *session)
{
	session->stack_growth.entered = stack_grows;
	session->go_sigaction.wants_return = wants_go_sigaction;
	session->go_sigaction.returned = go_sigaction_returned;
}

void runtimes_watch_go(struct session *session, struct thread *thread, const struct module *module,
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
		plant_hook(session, thread, module, "runtime.rt_sigaction.abi0",
			   &session->go_sigaction);
		plant_hook(session, thread, module, "runtime.morestack.abi0",
			   &session->stack_growth);
	}
}
