/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mappings that the tracer makes in a tracee, by remote calls. A mapping is in the journal before
 * it is made, and in the snapshot of the mappings afterwards (maps_snapshot.h).
 */
#include "tracee/remote_map.h"

#include "tracee/journal.h"
#include "tracee/limits.h"
#include "tracee/maps_snapshot.h"
#include "tracee/remote.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { POPULATED_MAX = 512 << 10 };

/* mmap(2) with these arguments: 0 with the address, or -errno. */
static int map_by(struct thread *thread, const uint64_t arguments[6], uint64_t *mapped)
{
	const struct arch *arch = thread->process->space->arch;
	int64_t result = 0;
	int error = remote_syscall(thread, arch->sys_mmap, arguments, &result);

	if (arch->abi->word == 4 && !error && (result > -1 || result < -4095))
		result = (int64_t)(uint32_t)result;
	*mapped = (uint64_t)result;
	if (!error && result < 0 && result >= -4095)
		error = (int)result;
	if (!error && arguments[0] && (uint64_t)result != arguments[0]) {
		/* A kernel without MAP_FIXED_NOREPLACE took the address for a hint. */
		remote_unmap(thread, (uint64_t)result, arguments[1]);
		error = -EEXIST;
	}
	if (!error)
		maps_snapshot_add(thread->process->space, *mapped, arguments[1], (int)arguments[2]);
	return error;
}

int remote_map_by(struct thread *thread, const uint64_t arguments[6], uint64_t *mapped)
{
	const struct process *process = thread->process;
	uint64_t raised[LIMITS_COUNT];
	int error = map_by(thread, arguments, mapped);

	if ((error != -ENOMEM && error != -EAGAIN) ||
	    !limits_raise(process->space, process->pid, arguments[1], raised))
		return error;
	error = map_by(thread, arguments, mapped);
	if (error)
		limits_lower(process->space, process->pid, arguments[1], raised);
	return error;
}

int remote_map(struct thread *thread, uint64_t address, uint64_t length, int protection,
	       uint64_t *mapped)
{
	struct journal *journal = thread->process->space->journal;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (address ? MAP_FIXED_NOREPLACE : 0) |
		    (length <= POPULATED_MAX ? MAP_POPULATE : 0);
	uint64_t arguments[6] = {address,	  length,	(uint64_t)protection,
				 (uint64_t)flags, (uint64_t)-1, 0};
	size_t entry = journal_mapping(journal, address, length);
	int error = remote_map_by(thread, arguments, mapped);

	if (error || !address)
		journal_forget(journal, entry);
	if (!error && !address)
		journal_mapping(journal, *mapped, length);
	return error;
}

void remote_forget_mapping(struct thread *thread, uint64_t address)
{
	struct journal *journal = thread->process->space->journal;

	for (size_t i = 0; i < journal_count(journal); i++) {
		const struct journal_entry *entry = journal_entry(journal, i);

		if (entry && entry->kind == JOURNAL_MAPPING && entry->address == address)
			journal_forget(journal, i);
	}
}

int remote_unmap(struct thread *thread, uint64_t address, uint64_t length)
{
	uint64_t arguments[6] = {address, length};
	int64_t result;
	int error = remote_syscall(thread, thread->process->space->arch->sys_munmap, arguments,
				   &result);

	if (error || result) {
		maps_snapshot_outdated(thread->process->space);
		return error ? error : (int)result;
	}
	maps_snapshot_remove(thread->process->space, address, length);
	remote_forget_mapping(thread, address);
	return 0;
}
