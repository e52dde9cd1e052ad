/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the native stacks of threads (unwind/unwind_walk.h), and names the frames.
 *
 * Code is in modules, in the vDSO, or in memory of no file, such as that of a compiler in the
 * process. What is executable outside of modules is read from /proc/PID/maps and kept. The mappings
 * are read again when an address is met that they do not have, which is a new library's that is not
 * in the list of modules yet, a new code area's, or no code at all. Reading takes as long as
 * hundreds of walks, and a damaged stack leads to many such addresses. So reading may take a
 * hundredth of the time; until then, such an address is taken for no code.
 *
 * A name is looked up once for each address, as a traced function is called from few places. Where
 * a module was unloaded, another one may be at the same address: a name is used for the same file
 * at the same place only.
 */
#include "target/stacks/native_stacks.h"

#include "base/xalloc.h"
#include "engine/agent/return_addresses.h"
#include "engine/trap/breakpoint_takeover.h"
#include "object/elf_address.h"
#include "object/elf_memory.h"
#include "target/module.h"
#include "target/shown_names.h"
#include "target/stacks/jit_names.h"
#include "tracee/clock.h"
#include "tracee/maps.h"
#include "tracee/maps_snapshot.h"
#include "unwind/unwind_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 1 << 16, VDSO_MAX = 1 << 20, REREAD_FACTOR = 100 };

#define VDSO "[vdso]"

struct native_stacks {
	struct space *space;
	pid_t tid; /* a thread of the space */
	struct unwind_process process;
	struct unwinder *unwinder;
	struct maps maps;
	uint64_t maps_read_at, maps_cost; /* clock_now(), ns; 0: they were never read */
	struct elf_file *vdso;		  /* NULL: there is none */
	struct jit_names *jit;
	struct map names; /* address → struct named_code */
};

/* The name of an address. */
struct named_code {
	struct elf_file *file; /* with a reference */
	uint64_t bias;
	char *module, *function; /* each owned, or NULL */
	uint64_t offset;
};

/* ------------------------------------------------------------------ names */

static void forget_names(struct native_stacks *native)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&native->names, &cursor, NULL, &value)) {
		struct named_code *named = value;

		elf_unref(named->file);
		free(named->module);
		free(named->function);
		free(named);
	}
	map_deinit(&native->names);
}

/*
 * Finds the symbol around an address of the file's address space; in the separate debug file or in
 * a compressed table, where the file itself was stripped.
 */
static const char *find_symbol(const struct module *module, struct elf_file *file, pid_t pid,
			       uint64_t address, uint64_t *offset)
{
	struct elf_file *debug = module && module->debug ? debug_source_file(module->debug, pid)
							 : NULL;
	const char *symbol = debug ? elf_name_of_code(debug, address, offset) : NULL;

	if (!symbol)
		symbol = elf_name_of_code(file, address, offset);
	return symbol || !module || !module->debug
		       ? symbol
		       : debug_source_symbol(module->debug, pid, address, offset);
}

static struct named_code *name_code(const struct target *target, struct native_stacks *native,
				    const struct unwind_frame *frame)
{
	const struct module *module = modules_find(native->space->modules,
						   frame->pc - frame->is_call);
	struct named_code *named = xcalloc(1, sizeof *named);
	const uint64_t address = frame->pc - frame->module.bias;
	const char *symbol = find_symbol(module, frame->module.file, native->tid,
					 address - frame->is_call, &named->offset);

	named->file = elf_ref(frame->module.file);
	named->bias = frame->module.bias;
	named->module = xstrdup(module ? module->base_name : VDSO);
	if (symbol)
		named->function = module ? shown_names_function(target, module, symbol)
					 : xstrdup(symbol);
	named->offset = symbol ? named->offset + frame->is_call : 0;
	return named;
}

/* Returns the name of the frame's address, whose module has a file. */
static const struct named_code *find_name(const struct target *target, struct native_stacks *native,
					  const struct unwind_frame *frame)
{
	/* The address behind a call may be the first of another function. */
	const uint64_t key = frame->pc * 2 + frame->is_call;
	struct named_code *named = map_get(&native->names, key);

	if (named && named->file == frame->module.file && named->bias == frame->module.bias)
		return named;
	if (named || native->names.count == NAMES_MAX)
		forget_names(native);
	named = name_code(target, native, frame);
	map_put(&native->names, key, named);
	return named;
}

struct stack_frame native_stacks_name(const struct target *target, struct thread *thread,
				      const struct unwind_frame *frame)
{
	struct native_stacks *native = thread->process->space->modules->native;
	struct stack_frame named = {
		.kind = STACK_NATIVE, .is_guessed = frame->is_guessed, .address = frame->pc};

	native->tid = thread->tid;
	if (!frame->module.file) {
		/* A JIT may replace its code: such a name is looked up each time. */
		named.function = jit_names_find(native->jit, thread->tid,
						frame->pc - frame->is_call, &named.offset);
		named.offset += frame->is_call;
		return named;
	}
	const struct named_code *code = find_name(target, native, frame);

	named.module = code->module;
	named.function = code->function;
	named.offset = code->offset;
	named.address = frame->pc - frame->module.bias;
	return named;
}

/* ------------------------------------------------------------------ code of the space */

/* Finds the executable segment of the module. */
static bool find_in_module(const struct module *module, uint64_t pc, struct unwind_module *found)
{
	size_t count;
	const struct elf_segment *segments = elf_segments(module->file, &count);

	for (size_t i = 0; i < count; i++) {
		const uint64_t start = segments[i].address + module->bias;
		const uint64_t end = start + segments[i].memory_size;

		if (!(segments[i].flags & PF_X) || pc < start || pc >= end)
			continue;
		*found = (struct unwind_module){start, end, module->file, module->bias};
		return true;
	}
	return false;
}

static void read_maps(struct native_stacks *native)
{
	const uint64_t now = clock_now();
	struct maps maps;

	if (native->maps_read_at && now - native->maps_read_at < native->maps_cost * REREAD_FACTOR)
		return;
	const int error = native->space->is_dumped
				  ? maps_snapshot_read(native->space, native->tid, &maps)
				  : maps_read(native->tid, &maps);

	if (!error) {
		maps_deinit(&native->maps);
		native->maps = maps;
	}
	native->maps_read_at = clock_now();
	native->maps_cost = native->maps_read_at - now;
}

/* Finds executable memory that is in no module. */
static bool find_elsewhere(struct native_stacks *native, uint64_t pc, struct unwind_module *found)
{
	const struct mapping *mapping = maps_find(&native->maps, pc);

	if (!mapping) {
		read_maps(native);
		mapping = maps_find(&native->maps, pc);
	}
	if (!mapping || !mapping->executable)
		return false;
	*found = (struct unwind_module){.start = mapping->start, .end = mapping->end};
	if (strcmp(mapping->path, VDSO) != 0)
		return true;
	if (!native->vdso &&
	    elf_open_memory(&native->space->readable, mapping->start, VDSO_MAX, &native->vdso) != 0)
		native->vdso = NULL;
	found->file = native->vdso;
	found->bias = mapping->start;
	return true;
}

/* The find_module function of the space's struct unwind_process. */
static bool find_module(void *context, uint64_t pc, struct unwind_module *found)
{
	struct native_stacks *native = context;
	const struct module *module = modules_find(native->space->modules, pc);

	return module ? find_in_module(module, pc, found) : find_elsewhere(native, pc, found);
}

/*
 * The find_program_pc function. A thread may stand in an XOL slot. Return addresses are the
 * program's own where breakpoints catch returns, as these are written into the code; the agent
 * replaces them by return trampolines.
 */
static bool find_program_pc(void *context, uint64_t pc, uint64_t place, uint64_t *program_pc)
{
	const struct native_stacks *native = context;

	return place ? agent_find_return(native->space, place, pc, program_pc)
		     : trap_program_pc(native->space, pc, program_pc);
}

static struct native_stacks *native_of(struct thread *thread)
{
	struct space *space = thread->process->space;
	struct native_stacks *native = space->modules->native;

	if (!native) {
		native = space->modules->native = xcalloc(1, sizeof *native);
		native->space = space;
		native->process = (struct unwind_process){.arch = space->arch,
							  .memory = &space->readable,
							  .find_module = find_module,
							  .find_program_pc = find_program_pc,
							  .context = native};
		native->jit = jit_names_create();
		native->unwinder = unwinder_create(&native->process);
	}
	native->tid = thread->tid;
	return native;
}

void native_stacks_keep_jit(struct thread *thread, struct perf_map *map)
{
	jit_names_keep(native_of(thread)->jit, map);
}

void native_stacks_forget(struct modules *modules)
{
	struct native_stacks *native = modules->native;

	if (!native)
		return;
	modules->native = NULL;
	unwinder_destroy(native->unwinder);
	jit_names_destroy(native->jit);
	forget_names(native);
	elf_unref(native->vdso);
	maps_deinit(&native->maps);
	free(native);
}

/* ------------------------------------------------------------------ walks */

size_t native_stacks_walk(struct thread *thread, const struct regs *regs, bool is_entry,
			  struct unwind_frame *frames, size_t room, enum unwind_end *end)
{
	struct native_stacks *native = native_of(thread);
	const unsigned word = native->space->arch->abi->word;
	struct regs start = *regs;

	*end = UNWIND_END_UNREADABLE;
	if (is_entry && !memory_read_word(&native->space->memory, regs->r[REG_SP], word, &start.pc))
		return 0;
	if (is_entry) {
		agent_find_return(native->space, regs->r[REG_SP], start.pc, &start.pc);
		start.r[REG_SP] += word;
	}
	return unwinder_walk(native->unwinder, &start, is_entry, frames, room, end);
}

bool native_stacks_registers(struct thread *thread, const struct unwind_frame *frames, size_t index,
			     struct unwind_registers *registers)
{
	return unwinder_registers(native_of(thread)->unwinder, frames, index, registers);
}

bool native_stacks_function(struct thread *thread, uint64_t address, uint64_t *start, uint64_t *end)
{
	struct unwind_module module;
	struct eh_unwind_row row;
	struct eh_function function;

	if (!find_module(native_of(thread), address, &module) || !module.file ||
	    !unwind_table_row(unwind_table(module.file), address - module.bias, &row, &function))
		return false;
	*start = function.start + module.bias;
	*end = *start + function.size;
	return true;
}
