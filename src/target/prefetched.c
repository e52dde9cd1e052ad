/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was read of processes before they are attached to: attach_prefetch.c fills it.
 *
 * The files are held until prefetched_done(), as the cache drops files without users.
 */
#include "target/prefetched.h"

#include "object/elf_memory.h"
#include "target/module.h"
#include "target/target_state.h"

void prefetched_init(struct target *target)
{
	vec_init(&target->prefetched, sizeof(struct prefetched));
}

static struct prefetched *entry_at(const struct target *target, size_t i)
{
	return vec_at(&target->prefetched, i);
}

static void drop(struct prefetched *prefetched)
{
	module_unref(prefetched->module);
	vec_deinit(&prefetched->callers);
}

void prefetched_deinit(struct target *target)
{
	for (size_t i = 0; i < target->prefetched.count; i++)
		drop(entry_at(target, i));
	vec_deinit(&target->prefetched);
}

struct elf_file *prefetched_file(const struct target *target, pid_t pid,
				 const struct mapping *header)
{
	for (size_t i = 0; i < target->prefetched.count; i++) {
		const struct prefetched *prefetched = entry_at(target, i);

		/* What was read from memory may have been about to be unmapped. */
		if (prefetched->pid == pid && !elf_is_from_memory(prefetched->module->file) &&
		    prefetched->header == header->start &&
		    prefetched->module->device == header->device &&
		    prefetched->module->inode == header->inode)
			return prefetched->module->file;
	}
	return NULL;
}

const struct vec *prefetched_callers(const struct target *target, const struct elf_file *file)
{
	for (size_t i = 0; i < target->prefetched.count; i++)
		if (entry_at(target, i)->module->file == file)
			return &entry_at(target, i)->callers;
	return NULL;
}

void prefetched_done(struct target *target, pid_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < target->prefetched.count; i++) {
		struct prefetched prefetched = *entry_at(target, i);

		if (prefetched.pid == pid)
			drop(&prefetched);
		else
			*entry_at(target, kept++) = prefetched;
	}
	target->prefetched.count = kept;
}
