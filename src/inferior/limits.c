/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inferior/limits.h"

#include "inferior/inferior.h"
#include "inferior/journal.h"

#include <string.h>
#include <sys/resource.h>

static const int limited[] = {RLIMIT_AS, RLIMIT_MEMLOCK};

static bool raise_one(struct journal *journal, pid_t pid, int resource, uint64_t length)
{
	struct rlimit64 limit;

	if (prlimit64(pid, (enum __rlimit_resource)resource, NULL, &limit) != 0 ||
	    limit.rlim_cur > RLIM64_INFINITY - length - 1)
		return false;
	struct rlimit64 raised = {limit.rlim_cur + length, limit.rlim_max};

	if (raised.rlim_max < raised.rlim_cur)
		raised.rlim_max = raised.rlim_cur;
	size_t entry = journal_limit(journal, resource, limit.rlim_cur, raised.rlim_cur,
				     limit.rlim_max);

	if (prlimit64(pid, (enum __rlimit_resource)resource, &raised, NULL) == 0)
		return true;
	journal_forget(journal, entry);
	return false;
}

bool limits_raise(struct space *space, pid_t pid, uint64_t length)
{
	bool raised = false;

	for (size_t i = 0; i < sizeof limited / sizeof *limited; i++)
		raised |= raise_one(space->journal, pid, limited[i], length);
	return raised;
}

/* What the program has set meanwhile stays. */
static void restore(const struct journal_entry *entry, pid_t pid)
{
	enum __rlimit_resource resource = (enum __rlimit_resource)entry->address;
	struct rlimit64 limit;
	uint64_t before;
	uint64_t after;

	memcpy(&before, entry->before, sizeof before);
	memcpy(&after, entry->after, sizeof after);
	if (prlimit64(pid, resource, NULL, &limit) != 0 || limit.rlim_cur != after)
		return;
	limit.rlim_cur = before;
	if (limit.rlim_max == after)
		limit.rlim_max = entry->slot;
	prlimit64(pid, resource, &limit, NULL);
}

void limits_restore(const struct space *space, pid_t pid)
{
	for (size_t i = journal_count(space->journal); i-- > 0;) {
		const struct journal_entry *entry = journal_entry(space->journal, i);

		if (entry && entry->kind == JOURNAL_LIMIT)
			restore(entry, pid);
	}
}
