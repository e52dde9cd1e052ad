/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that make something of their return address: they must find the true one, so they are
 * not caught inside the process.
 *
 * Some are known by their names: what returns twice, or on another stack, asks the dynamic linker
 * who called it, or unwinds. Others read the word themselves (__builtin_return_address()):
 * allocators that note their callers, checks of who calls, and what an unwinder begins with, which
 * is in the program itself when libgcc is linked statically. These are found by their code: where
 * the return address is at each instruction is what .eh_frame tells, and an instruction that names
 * that word is rarely there by chance. A function that has no .eh_frame is looked at by the agent
 * as far as the stack pointer does not move (agent_arch.h).
 */
#include "session/private.h"

#include "base/xalloc.h"
#include "engine/agent/agent_arch.h"
#include "image/eh_frame.h"
#include "image/extent.h"

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

/* Its walks begin in the caller of its functions (nongnu.org's; LLVM's has the first two). */
static bool is_of_libunwind(const char *name)
{
	static const char *const prefixes[] = {"unw_", "__unw_", "_ULx86_64_", "_Ux86_64_"};

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/*
 * What throws, and libgcc's functions that it ends in. Where calls are counted, these put true
 * return addresses on the stack when they are entered, their own included (unwinders.c); so they
 * may be called by what is caught inside.
 */
static const char *const throwing[] = {
	"__cxa_throw",
	"__cxa_rethrow",
	"_Unwind_RaiseException",
	"_Unwind_Resume",
	"_Unwind_Resume_or_Rethrow",
};

bool callers_are_put_right(const struct session *session, const char *name)
{
	if (!agent_may_unwind(session->agent))
		return false;
	for (size_t i = 0; i < sizeof throwing / sizeof *throwing; i++)
		if (name[0] == throwing[i][0] && !strcmp(name, throwing[i]))
			return true;
	return false;
}

/* A library may call thousands: most of the table is passed over by first letters. */
bool callers_are_asked_for(const char *name)
{
	for (size_t i = 0; i < sizeof left_alone / sizeof *left_alone; i++)
		if (name[0] == left_alone[i][0] && !strcmp(name, left_alone[i]))
			return true;
	/*
	 * The linker's, but for what only looks up tables; and the outlined parts of functions,
	 * which are jumped to.
	 */
	return elf_is_part_of_function(name) || is_of_libunwind(name) ||
	       (!strncmp(name, "_dl_", 4) && strcmp(name, "_dl_find_object"));
}

/* One function that is looked through. */
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

bool callers_are_read(const struct arch *arch, struct elf_file *file, uint64_t address)
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

bool callers_are_read_by(const struct space *space, const char *name)
{
	const struct modules *modules = space->modules;

	for (size_t i = 0; modules && i < modules->list.count; i++) {
		const struct module *module = *(struct module **)vec_at(&modules->list, i);
		const struct elf_symbol *symbol = elf_find_symbol(module->file, name);

		if (symbol && symbol->dynamic && symbol->value && symbol->bind != STB_LOCAL)
			return symbol->type == STT_FUNC &&
			       callers_are_read(space->arch, module->file, symbol->value);
	}
	return false;
}

void callers_find(const struct session *session, struct elf_file *file, struct vec *found)
{
	size_t count;
	const struct elf_slot *slots = elf_slots(file, &count);

	for (size_t i = 0; i < sizeof left_alone / sizeof *left_alone; i++) {
		const struct elf_symbol *symbol = elf_find_symbol(file, left_alone[i]);

		if (symbol && symbol->value)
			vec_push(found, &symbol->value);
	}
	for (size_t i = 0; i < count; i++) {
		if (!slots[i].name || !callers_are_asked_for(slots[i].name) ||
		    callers_are_put_right(session, slots[i].name))
			continue;
		vec_push(found, &slots[i].address);
		if (slots[i].stub)
			vec_push(found, &slots[i].stub);
	}
}

void callers_note(const struct session *session, struct space *space, const struct module *module)
{
	const struct vec *known = prepare_callers(session, module->file);
	struct vec found = VEC_OF(uint64_t);

	if (!known)
		callers_find(session, module->file, &found);
	for (size_t i = 0; i < (known ? known : &found)->count; i++)
		agent_asks_caller(space, *(const uint64_t *)vec_at(known ? known : &found, i) +
						 module->bias);
	vec_deinit(&found);
}
