/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that use their return address. They must find the true one, so they are not caught
 * inside the process.
 *
 * Some are known by name: functions that return twice or on another stack, that ask the dynamic
 * linker about their caller, or that unwind. Others read the stack word themselves
 * (__builtin_return_address()): allocators that record their callers, checks of the caller, and the
 * entry functions of an unwinder, which is in the program itself if libgcc is linked statically.
 * These are found by their code: .eh_frame tells where the return address is at each instruction,
 * and an instruction rarely accesses that word for another reason. In a function without .eh_frame,
 * the agent checks the code up to the first instruction that moves the stack pointer
 * (agent_arch.h).
 */
#include "target/return_address_readers.h"

#include "base/xalloc.h"
#include "engine/agent/agent_arch.h"
#include "engine/agent/patch_candidates.h"
#include "engine/agent/unwinding.h"
#include "object/elf_got_slots.h"
#include "object/elf_symbols.h"
#include "target/prefetched.h"
#include "target/target_state.h"
#include "unwind/eh_frame.h"
#include "unwind/eh_rows.h"
#include "unwind/extent.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_MAX = 1 << 20 };

static const char *const left_alone[] = {
	"__sigsetjmp",
	"_setjmp",
	"setjmp",
	"sigsetjmp",
	"__setjmp",
	"getcontext",
	"setcontext",
	"swapcontext",
	"makecontext",
	"vfork",
	"__vfork",
	"clone",
	"__clone",
	"clone3",
	"__clone3",
	"longjmp",
	"_longjmp",
	"siglongjmp",
	"__longjmp_chk",
	"__libc_longjmp",
	"__libc_siglongjmp",
	"dlopen",
	"dlmopen",
	"dlsym",
	"dlvsym",
	"dlclose",
	"dladdr",
	"dlinfo",
	"dl_iterate_phdr",
	"backtrace",
	"__backtrace",
	"_start",
	"__libc_start_main",
	"__restore_rt",
	"__morestack",
	"_Unwind_RaiseException",
	"_Unwind_Resume",
	"_Unwind_Resume_or_Rethrow",
	"_Unwind_ForcedUnwind",
	"_Unwind_Backtrace",
	"__cxa_throw",
	"__cxa_rethrow",
	"pthread_exit",
	"_mcount",
	"mcount",
	"__fentry__",
	"__gxx_personality_v0",
};

/*
 * Returns true for functions of libunwind, whose walks begin in the caller of the function
 * (nongnu.org's; LLVM's has the first two prefixes).
 */
static bool is_of_libunwind(const char *name)
{
	static const char *const prefixes[] = {"unw_", "__unw_", "_ULx86_64_", "_Ux86_64_"};

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/*
 * Functions that throw, and the functions of libgcc that they call in the end. Where calls are
 * counted, hooks at these functions put true return addresses on the stack, their own included
 * (unwinders.c). So a function that is caught inside may call them.
 */
static const char *const throwing[] = {
	"__cxa_throw",
	"__cxa_rethrow",
	"_Unwind_RaiseException",
	"_Unwind_Resume",
	"_Unwind_Resume_or_Rethrow",
};

bool readers_are_put_right(const struct target *target, const char *name)
{
	if (!agent_may_unwind(target->agent))
		return false;
	for (size_t i = 0; i < sizeof throwing / sizeof *throwing; i++)
		if (name[0] == throwing[i][0] && !strcmp(name, throwing[i]))
			return true;
	return false;
}

/* A library may call thousands of functions: comparing first letters skips most of the table. */
bool readers_are_asked_for(const char *name)
{
	for (size_t i = 0; i < sizeof left_alone / sizeof *left_alone; i++)
		if (name[0] == left_alone[i][0] && !strcmp(name, left_alone[i]))
			return true;
	/*
	 * Functions of the linker count, except the one that only looks up tables. So do outlined
	 * parts of functions, which are jumped to.
	 */
	return elf_is_part_of_function(name) || is_of_libunwind(name) ||
	       (!strncmp(name, "_dl_", 4) && strcmp(name, "_dl_find_object"));
}

/* One function whose code is searched. */
struct looking {
	const struct agent_arch *arch;
	unsigned word;
	struct agent_function function;
	bool found;
};

static void look_in_row(void *context, const struct eh_row *row)
{
	struct looking *looking = context;
	const struct agent_function *function = &looking->function;

	looking->found |= looking->arch->names_word(function, row->from - function->address,
						    row->to - function->address, row->reg,
						    row->offset - (int64_t)looking->word);
}

bool readers_are_read(const struct arch *arch, struct elf_file *file, uint64_t address)
{
	struct eh_function frames;
	bool known;

	if (!arch->agent)
		return false;
	if (extent_recall(file, address, &known))
		return known;
	uint64_t entry = extent_entry(file, address);

	if (!entry || !eh_frame_at(file, entry, &frames) || frames.size > CODE_MAX)
		return false;
	uint8_t *code = xmalloc(frames.size ? frames.size : 1);
	struct looking looking = {
		.arch = arch->agent,
		.word = arch->abi->word,
		.function = {.address = frames.start, .bytes = code, .length = frames.size}};

	if (elf_read(file, frames.start, code, frames.size))
		eh_rows_for_each(file, &frames, look_in_row, &looking);
	free(code);
	extent_remember(file, address, looking.found);
	return looking.found;
}

bool readers_are_read_by(const struct space *space, const char *name)
{
	const struct modules *modules = space->modules;

	for (size_t i = 0; modules && i < modules->list.count; i++) {
		const struct module *module = *(struct module **)vec_at(&modules->list, i);
		const struct elf_symbol *symbol = elf_find_symbol(module->file, name);

		if (symbol && symbol->dynamic && symbol->value && symbol->bind != STB_LOCAL)
			return symbol->type == STT_FUNC &&
			       readers_are_read(space->arch, module->file, symbol->value);
	}
	return false;
}

void readers_find(const struct target *target, struct elf_file *file, struct vec *found)
{
	size_t count;
	const struct got_slot *slots = elf_got_slots(file, &count);

	for (size_t i = 0; i < sizeof left_alone / sizeof *left_alone; i++) {
		const struct elf_symbol *symbol = elf_find_symbol(file, left_alone[i]);

		if (symbol && symbol->value)
			vec_push(found, &symbol->value);
	}
	for (size_t i = 0; i < count; i++) {
		if (!slots[i].name || !readers_are_asked_for(slots[i].name) ||
		    readers_are_put_right(target, slots[i].name))
			continue;
		vec_push(found, &slots[i].address);
		if (slots[i].stub)
			vec_push(found, &slots[i].stub);
	}
}

void readers_note(const struct target *target, struct space *space, const struct module *module)
{
	const struct vec *known = prefetched_callers(target, module->file);
	struct vec found = VEC_OF(uint64_t);

	if (!known)
		readers_find(target, module->file, &found);
	for (size_t i = 0; i < (known ? known : &found)->count; i++)
		agent_asks_caller(space, *(const uint64_t *)vec_at(known ? known : &found, i) +
						 module->bias);
	vec_deinit(&found);
}
