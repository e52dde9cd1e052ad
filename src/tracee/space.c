/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces: begin, end, and what is in the memory of a forked child. A write goes to the
 * space's memory batch, if there is one, or directly to the memory (space_memory.c).
 */
#include "tracee/space.h"

#include "base/xalloc.h"
#include "tracee/arena.h"
#include "tracee/journal.h"
#include "tracee/maps.h"
#include "tracee/maps_snapshot.h"
#include "tracee/memory_batch.h"
#include "tracee/proc.h"
#include "tracee/resident.h"
#include "tracee/space_memory.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct space *space_create(pid_t pid, const struct arch *arch, int *error)
{
	struct space *space = xcalloc(1, sizeof *space);
	pid_t task = proc_living_task(pid);
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/mem", (int)task);
	space->memory_fd = open(path, O_RDWR | O_CLOEXEC);
	if (space->memory_fd < 0) {
		*error = -errno;
		free(space);
		return NULL;
	}
	space->references = 1;
	space->arch = arch;
	space->reader = task;
	space_memory_begin(space);
	space->resident = resident_create(task, space->memory_fd);
	space->journal = journal_create((pid_t)proc_status_number(pid, "Tgid"));
	space->arena = arena_create();
	return space;
}

struct space *space_create_dumped(const struct arch *arch, const struct memory_source *memory,
				  struct maps *maps)
{
	struct space *space = xcalloc(1, sizeof *space);

	space->references = 1;
	space->arch = arch;
	space->is_dumped = true;
	space->memory_fd = -1;
	space->memory = space->readable = *memory;
	space->arena = arena_create();
	maps_snapshot_begin(space, maps);
	return space;
}

void space_bind(struct space *space, const struct tracees *tracees)
{
	resident_set_prefault(space->resident, tracees->prefault);
	space->watchdog = tracees->watchdog;
}

void space_forget_reader(struct space *space, pid_t tid)
{
	if (space && space->reader == tid)
		space->reader = 0; /* reads use memory_fd until the next stop */
}

struct space *space_ref(struct space *space)
{
	space->references++;
	return space;
}

void space_unref(struct space *space)
{
	if (!space || --space->references)
		return;
	if (space->guardian_forget)
		space->guardian_forget(space->guardian, space->guardian_number);
	journal_destroy(space->journal);
	arena_destroy(space->arena);
	if (space->resident)
		resident_destroy(space->resident);
	if (space->rescue)
		space->rescue_ops->destroy(space->rescue);
	maps_snapshot_end(space);
	if (space->memory_fd >= 0)
		close(space->memory_fd);
	free(space);
}

bool space_find_kernel_code(struct space *space, pid_t tid)
{
	struct maps maps;

	if (space->kernel_code.high)
		return true;
	if (maps_snapshot_read(space, tid, &maps) != 0)
		return false;
	const struct mapping *vdso = maps_find_path(&maps, "[vdso]");

	if (vdso) {
		space->kernel_code.low = vdso->start;
		space->kernel_code.high = vdso->end;
	}
	maps_deinit(&maps);
	return vdso != NULL;
}

int space_write(struct space *space, uint64_t address, const void *bytes, size_t length)
{
	return memory_batch_is_on(space) ? memory_batch_write(space, address, bytes, length)
					 : space_write_through(space, address, bytes, length);
}

void space_write_words(struct space *space, struct memory_range *ranges, size_t count)
{
	for (size_t i = 0; memory_batch_is_on(space) && i < count; i++)
		space_write(space, ranges[i].address, ranges[i].buffer, ranges[i].length);
	if (!memory_batch_is_on(space))
		space_write_words_through(space, ranges, count);
}

bool space_has_only(const struct thread *thread)
{
	return thread->state == THREAD_STOPPED && thread->process->threads == 1 &&
	       thread->process->space->references == 1;
}

void space_forget_missing(struct space *space)
{
	uint8_t byte;

	arena_forget_missing(space->arena, &space->memory);
	if (space->rescue)
		space->rescue_ops->forget_missing(space);
	for (size_t i = 0; i < journal_count(space->journal); i++) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (entry && (entry->kind == JOURNAL_MAPPING || entry->kind == JOURNAL_AGENT) &&
		    !memory_read_exact(&space->memory, entry->address, &byte, 1))
			journal_forget(space->journal, i);
	}
}

bool same_space(pid_t one, pid_t other, bool guess)
{
	long result = syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0);

	return result < 0 ? guess : result == 0;
}
