/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See vma_merge.h.
 *
 * In a process that may not open its own memory, the SIGTRAP handler (sysdeps/x86/rescue.c) removes
 * a breakpoint by making its page writable and read-only again. The kernel splits the mapping for
 * that and does not merge it again: a private mapping that was writable once stays accounted
 * (VM_ACCOUNT in mm/mprotect.c), its neighbours are not. Hundreds of mappings do no harm by
 * themselves, but there is a limit (sysctl vm.max_map_count).
 *
 * So all pieces get the same history: they are made writable, and read-only again. They stay
 * executable, as the thread that makes these calls runs in one of them; all other threads are
 * stopped.
 */
#include "recovery/vma_merge.h"

#include "tracee/maps.h"
#include "tracee/remote.h"

#include <errno.h>
#include <sys/mman.h>

enum { TRIES = 3 };

/* Returns true if `next` continues the same file mapping of code. */
static bool goes_on(const struct mapping *one, const struct mapping *next)
{
	return one->end == next->start && one->inode && one->inode == next->inode &&
	       one->device == next->device &&
	       one->offset + (one->end - one->start) == next->offset && one->readable &&
	       next->readable && one->executable && next->executable && !one->writable &&
	       !next->writable && !one->shared && !next->shared;
}

static int protect(struct thread *thread, uint64_t start, uint64_t end, int protection)
{
	const struct arch *arch = thread->process->space->arch;
	const uint64_t arguments[6] = {start, end - start, (uint64_t)protection};
	int64_t result;
	int error = remote_syscall(thread, arch->rescue_calls[RESCUE_MPROTECT], arguments, &result);

	return error ? error : (int)result;
}

static int mend(struct thread *thread, uint64_t start, uint64_t end)
{
	int error = protect(thread, start, end, PROT_READ | PROT_WRITE | PROT_EXEC);

	/* Also if the first call has failed halfway. */
	for (int i = 0; i < TRIES && protect(thread, start, end, PROT_READ | PROT_EXEC) != 0; i++)
		;
	return error;
}

int vma_merge(struct thread *thread)
{
	struct maps maps;
	int error = maps_read(thread->tid, &maps);

	if (error)
		return error;
	for (size_t i = 0, last; i < maps.count && !error; i = last + 1) {
		for (last = i; last + 1 < maps.count &&
			       goes_on(&maps.mappings[last], &maps.mappings[last + 1]);)
			last++;
		if (last > i &&
		    mend(thread, maps.mappings[i].start, maps.mappings[last].end) == -EBUSY)
			error = -EBUSY;
	}
	maps_deinit(&maps);
	return error;
}
