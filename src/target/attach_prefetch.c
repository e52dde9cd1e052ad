/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work done for a process before it is attached to.
 *
 * While a tracer that has attached finds out what to plant, one of the program's threads is
 * stopped. Most of that time is spent on files: modules are opened and mapped, their symbols,
 * relocations and unwind tables are read, the prototypes of their libraries parsed. None of that
 * needs a stopped program. So it is done once before, for the code that the process has mapped by
 * then, and the results are dropped except for what the caches hold (elf_file, elf_cache,
 * proto_search). After the attach everything is looked up again, in what is mapped then, and hardly
 * anything has to be read. A file that was opened, and compared with the memory, stays the right
 * one as long as the mapping is the same.
 *
 * The filters are matched as well, as their matches decide what is read of a file. They are parsed
 * separately for this, because filters remember what they have matched.
 */
#include "target/attach_prefetch.h"

#include "base/cleanup.h"
#include "object/elf_got_slots.h"
#include "probe/match.h"
#include "target/filters.h"
#include "target/ifuncs.h"
#include "target/mapped_files.h"
#include "target/matching.h"
#include "target/module.h"
#include "target/module_list.h"
#include "target/prefetched.h"
#include "target/return_address_readers.h"
#include "target/runtimes.h"
#include "target/sites.h"
#include "target/target_state.h"
#include "tracee/space.h"
#include "unwind/extent.h"

#include <elf.h>

/* The process that is being read. */
struct preparing {
	struct target *target;
	struct match_filters filters;
	struct mapped_files mapped;
	struct space *space; /* its modules are only read */
};

/* ------------------------------------------------------------------ its modules */

/* Returns the load bias of the file whose executable segment is mapped there, or 0. */
static uint64_t load_bias(const struct elf_file *file, const struct mapping *mapping)
{
	static const uint64_t page = ~UINT64_C(4095);
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);

	for (size_t i = 0; i < count; i++)
		if ((segments[i].flags & PF_X) &&
		    (segments[i].file_offset & page) == mapping->offset)
			return mapping->start - (segments[i].address & page);
	return 0;
}

/* Takes over the reference to `file`. */
static void add_module(const struct preparing *preparing, struct elf_file *file,
		       const struct mapping *mapping, const char *path, bool is_main)
{
	const struct mapping *header = mapped_files_header(&preparing->mapped, mapping);
	struct modules *modules = preparing->space->modules;
	struct prefetched prefetched = {.pid = preparing->space->reader,
					.header = header ? header->start : 0,
					.callers = VEC_OF(uint64_t)};
	struct module *module;

	for (size_t i = 0; i < modules->list.count; i++)
		if ((*(struct module **)vec_at(&modules->list, i))->file == file) {
			elf_unref(file);
			return;
		}
	module = module_create(preparing->target, file, load_bias(file, mapping), path, is_main);
	module->device = mapping->device;
	module->inode = mapping->inode;
	module->references++;
	prefetched.module = module;
	if (preparing->target->agent)
		readers_find(preparing->target, file, &prefetched.callers);
	vec_push(&modules->list, &module);
	vec_push(&preparing->target->prefetched, &prefetched);
}

static void add_modules(struct preparing *preparing, const struct elf_file *program)
{
	struct mapped_files *mapped = &preparing->mapped;

	for (size_t i = 0; i < mapped->maps.count; i++) {
		const struct mapping *mapping = &mapped->maps.mappings[i];
		const char *path;
		struct elf_file *file;

		if (mapping->executable && mapping->inode &&
		    mapped_files_open_at(mapped, mapping->start, &file, &path) == 0)
			add_module(preparing, file, mapping, path, file == program);
	}
}

/* ------------------------------------------------------------------ reading modules */

/* Reads what agent_policy_add() and sites_get() will ask for. */
static void read_match(const struct preparing *preparing, struct module *module,
		       const struct match *match)
{
	uint64_t address = match->address;

	if (match->kind == MATCH_IFUNC) {
		uint64_t bound = ifuncs_find_bound(preparing->space, module, match);

		if (!bound)
			return;
		address = bound - module->bias;
		extent_of_function(module->file, address);
	} else if (match->kind == MATCH_ENTRY) {
		extent_to_next_symbol(module->file, address);
		readers_are_read(preparing->space->arch, module->file, address);
	}
	if (match->kind == MATCH_CALL)
		readers_are_read_by(preparing->space, match->name);
	sites_prepare(preparing->target, preparing->space,
		      match->kind == MATCH_CALL || match->kind == MATCH_POINTER ? PROBE_CALL
										: PROBE_ENTRY,
		      address + module->bias, match->name, module);
}

static void read_module(struct preparing *preparing, struct module *module)
{
	struct vec found = VEC_OF(struct match);
	size_t count;

	matching_module(preparing->target, preparing->space, module, &preparing->filters, &found);
	for (size_t i = 0; i < found.count; i++)
		read_match(preparing, module, vec_at(&found, i));
	vec_deinit(&found);
	elf_got_slots(module->file, &count);
	if (preparing->target->agent)
		runtimes_walk_stacks(module);
}

/* `program`: the program of the process. */
static void prefetch_modules(struct preparing *preparing, const struct elf_file *program)
{
	struct space *space = preparing->space;

	space->modules = module_list_create();
	preparing->mapped.space = space;
	add_modules(preparing, program);
	preparing->mapped.space = NULL;
	for (size_t i = 0; i < space->modules->list.count; i++)
		read_module(preparing, *(struct module **)vec_at(&space->modules->list, i));
	module_list_destroy(space->modules);
	space->modules = NULL;
}

void prefetch_process(struct target *target, pid_t pid)
{
	struct preparing preparing = {.target = target};
	struct elf_file *program;
	_cleanup_free_ char *path = NULL;
	int error;

	mapped_files_init(&preparing.mapped, target->files, pid, NULL);
	if (mapped_files_open_program(&preparing.mapped, target->tracees, &program, &path) != 0)
		goto out;
	preparing.space = space_create(pid, elf_arch(program), &error);
	if (preparing.space) {
		preparing.space->reader = pid;
		space_bind(preparing.space, target->tracees);
		filters_parse(target, &preparing.filters);
		prefetch_modules(&preparing, program);
		filters_free(&preparing.filters);
		space_unref(preparing.space);
	}
	elf_unref(program);
out:
	mapped_files_deinit(&preparing.mapped);
}
