/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The modules of a process as its mappings show them.
 *
 * To trace a process, the dynamic linker's list is read and watched (modules.c). To look at its
 * stacks once, nothing needs to be watched, and nothing may be changed: each file that is mapped to
 * be executed is a module. That also finds what is loaded without a dynamic linker.
 */
#include "target/mapped_modules.h"

#include "base/cleanup.h"
#include "target/mapped_files.h"
#include "target/module.h"
#include "target/module_list.h"
#include "tracee/maps.h"
#include "tracee/space.h"

#include <elf.h>
#include <stdlib.h>

/* Returns the load bias of a file, of which `mapping` is a part that can be executed. */
static bool find_bias(const struct elf_file *file, const struct mapping *mapping, uint64_t *bias)
{
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);
	const uint64_t offset_end = mapping->offset + (mapping->end - mapping->start);

	for (size_t i = 0; i < count; i++) {
		const struct elf_segment *segment = &segments[i];

		if (!(segment->flags & PF_X) || segment->file_offset >= offset_end ||
		    segment->file_offset + segment->file_size <= mapping->offset)
			continue;
		*bias = mapping->start - mapping->offset + segment->file_offset - segment->address;
		return true;
	}
	return false;
}

static void add_module(struct target *target, struct mapped_files *mapped, struct modules *modules,
		       const struct mapping *mapping, const struct elf_file *program)
{
	struct elf_file *file;
	const char *path;
	uint64_t bias;

	if (modules_find(modules, mapping->start) ||
	    mapped_files_open_at(mapped, mapping->start, &file, &path))
		return;
	if (!find_bias(file, mapping, &bias)) {
		elf_unref(file);
		return;
	}
	struct module *module = module_create(target, file, bias, path, file == program);

	vec_push(&modules->list, &module);
}

static void add_modules(struct target *target, struct mapped_files *mapped, struct space *space,
			const struct elf_file *program)
{
	space->modules = module_list_create();
	mapped->space = space;
	for (size_t i = 0; i < mapped->maps.count; i++)
		if (mapped->maps.mappings[i].executable && mapped->maps.mappings[i].inode)
			add_module(target, mapped, space->modules, &mapped->maps.mappings[i],
				   program);
}

int mapped_modules_read(struct target *target, struct thread *thread)
{
	struct process *process = thread->process;
	_cleanup_free_ char *path = NULL;
	struct mapped_files mapped;
	struct elf_file *program;

	mapped_files_init(&mapped, target->files, thread->tid, NULL);
	mapped_files_take_maps(&mapped, &process->maps_before);
	int error = mapped_files_open_program(&mapped, target->tracees, &program, &path);

	if (error)
		goto out;
	process->space = space_create(thread->tid, elf_arch(program), &error);
	if (process->space) {
		process->space->reader = thread->tid;
		space_bind(process->space, target->tracees);
		add_modules(target, &mapped, process->space, program);
	}
	elf_unref(program);
out:
	mapped_files_deinit(&mapped);
	return error;
}

int mapped_modules_again(struct target *target, struct thread *thread)
{
	struct space *space = thread->process->space;

	module_list_destroy(space->modules);
	space->modules = NULL;
	space_unref(space);
	thread->process->space = NULL;
	return mapped_modules_read(target, thread);
}
