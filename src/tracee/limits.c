/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raises and restores RLIMIT_AS and RLIMIT_MEMLOCK of a tracee. The journal has one entry for each
 * raised limit, so the guardian can restore it.
 */
#include "tracee/limits.h"

#include "tracee/journal.h"
#include "tracee/tracee.h"

#include <string.h>
#include <sys/resource.h>

static const int limited[LIMITS_COUNT] = {RLIMIT_AS, RLIMIT_MEMLOCK};

static uint64_t value_of(const uint8_t bytes[8])
{
	uint64_t value;

	memcpy(&value, bytes, sizeof value);
	return value;
}

/* Returns true if the entry is that of `resource`, raised to `now`. */
static bool is_raised(const struct journal_entry *entry, int resource, uint64_t now)
{
	return entry && entry->kind == JOURNAL_LIMIT && entry->address == (uint64_t)resource &&
	       value_of(entry->after) == now;
}

/*
 * If the tracer has raised the limit, sets *limit to the original values and returns the number of
 * the journal entry. Otherwise returns journal_count().
 */
static size_t find_origin(const struct journal *journal, int resource, struct rlimit64 *limit)
{
	size_t i = 0;

	while (i < journal_count(journal) &&
	       !is_raised(journal_entry(journal, i), resource, limit->rlim_cur))
		i++;
	if (i == journal_count(journal))
		return i;
	const struct journal_entry *entry = journal_entry(journal, i);

	if (limit->rlim_max == limit->rlim_cur)
		limit->rlim_max = entry->xol_slot;
	limit->rlim_cur = value_of(entry->before);
	return i;
}

/*
 * Changes one limit from `from` to `to`. There is always at most one entry that matches the current
 * limit, however many changes were made: the new entry is added before the change, and the old one
 * removed after it.
 */
static bool change_one(struct journal *journal, pid_t pid, int resource, uint64_t from, uint64_t to)
{
	struct rlimit64 origin;

	if (prlimit64(pid, (enum __rlimit_resource)resource, NULL, &origin) != 0 ||
	    origin.rlim_cur != from)
		return false;
	size_t old = find_origin(journal, resource, &origin);
	bool again = old < journal_count(journal);
	struct rlimit64 changed = {to, origin.rlim_max > to ? origin.rlim_max : to};
	size_t entry = journal_limit(journal, resource, origin.rlim_cur, to, origin.rlim_max);
	bool done = prlimit64(pid, (enum __rlimit_resource)resource, &changed, NULL) == 0;

	if (!done)
		journal_forget(journal, entry);
	else if (again)
		journal_forget(journal, old);
	return done;
}

bool limits_raise(struct space *space, pid_t pid, uint64_t length, uint64_t raised[LIMITS_COUNT])
{
	struct rlimit64 limit;
	bool any = false;

	for (size_t i = 0; i < LIMITS_COUNT; i++) {
		raised[i] = 0;
		if (prlimit64(pid, (enum __rlimit_resource)limited[i], NULL, &limit) != 0 ||
		    limit.rlim_cur > RLIM64_INFINITY - length - 1 ||
		    !change_one(space->journal, pid, limited[i], limit.rlim_cur,
				limit.rlim_cur + length))
			continue;
		raised[i] = limit.rlim_cur + length;
		any = true;
	}
	return any;
}

void limits_lower(struct space *space, pid_t pid, uint64_t length,
		  const uint64_t raised[LIMITS_COUNT])
{
	for (size_t i = 0; i < LIMITS_COUNT; i++)
		if (raised[i])
			change_one(space->journal, pid, limited[i], raised[i], raised[i] - length);
}

/* A limit that the program has set meanwhile stays as it is. */
static void restore(const struct journal_entry *entry, pid_t pid)
{
	enum __rlimit_resource resource = (enum __rlimit_resource)entry->address;
	struct rlimit64 limit;
	uint64_t after = value_of(entry->after);

	if (prlimit64(pid, resource, NULL, &limit) != 0 || limit.rlim_cur != after)
		return;
	limit.rlim_cur = value_of(entry->before);
	if (limit.rlim_max == after)
		limit.rlim_max = entry->xol_slot;
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
