/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See mend.h.
 *
 * In a process that may not open its own memory the handler that takes breakpoints out makes their
 * pages writable and takes that back (sysdeps/x86/rescue.c). The kernel cuts the mapping for it,
 * and does not join the pieces again: a private mapping that has been writable is accounted for
 * ever (VM_ACCOUNT in mm/mprotect.c), its neighbours are not. Hundreds of pieces are nothing that
 * works less well, but there is a limit to them (sysctl vm.max_map_count).
 *
 * So all the pieces are made what one of them was: writable, and back. They are executable
 * meanwhile, as who makes these calls runs in some of them; it is the only one that runs.
 */
#include "inferior/mend.h"

#include "inferior/maps.h"
#include "inferior/remote.h"

#include <errno.h>
#include <sys/mman.h>

enum { TRIES = 3 };

/* Whether a mapping of code goes on in the next one. */
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

	/* Also if it has come half of the way. */
	for (int i = 0; i < TRIES && protect(thread, start, end, PROT_READ | PROT_EXEC) != 0; i++)
		;
	return error;
}

int mappings_mend(struct thread *thread)
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
