/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tracer's copy of a space's mappings: see maps_snapshot.h. It is changed by remote.c only. */
#include "tracee/maps_snapshot.h"

#include "base/xalloc.h"
#include "tracee/tracee.h"

#include <string.h>
#include <sys/mman.h>

void maps_snapshot_begin(struct space *space, struct maps *maps)
{
	maps_snapshot_end(space);
	space->kept_maps = *maps;
	*maps = (struct maps){0};
}

void maps_snapshot_end(struct space *space)
{
	maps_deinit(&space->kept_maps);
}

int maps_snapshot_read(const struct space *space, pid_t tid, struct maps *maps)
{
	const struct maps *kept = &space->kept_maps;

	if (!kept->count)
		return maps_read(tid, maps);
	/* The paths are not copied, so the result must be freed before maps_snapshot_end(). */
	*maps = (struct maps){
		.mappings = xmemdup(kept->mappings, kept->count * sizeof *maps->mappings),
		.count = kept->count};
	return 0;
}

/* Makes room for a mapping at index `place`. */
static struct mapping *insert(struct maps *maps, size_t place)
{
	maps->mappings = xreallocarray(maps->mappings, maps->count + 1, sizeof *maps->mappings);
	memmove(&maps->mappings[place + 1], &maps->mappings[place],
		(maps->count++ - place) * sizeof *maps->mappings);
	return &maps->mappings[place];
}

void maps_snapshot_add(struct space *space, uint64_t start, uint64_t length, int protection)
{
	struct maps *kept = &space->kept_maps;
	size_t place = 0;

	if (!kept->count)
		return;
	while (place < kept->count && kept->mappings[place].start < start)
		place++;
	*insert(kept, place) = (struct mapping){.start = start,
						.end = start + length,
						.readable = protection & PROT_READ,
						.writable = protection & PROT_WRITE,
						.executable = protection & PROT_EXEC,
						.path = ""};
}

void maps_snapshot_remove(struct space *space, uint64_t start, uint64_t length)
{
	struct maps *kept = &space->kept_maps;
	const uint64_t end = start + length;
	size_t left = 0;

	for (size_t i = 0; i < kept->count; i++) {
		const struct mapping *mapping = &kept->mappings[i];

		if (mapping->end <= start || mapping->start >= end) {
			kept->mappings[left++] = *mapping;
		} else if (mapping->start < start || mapping->end > end) {
			maps_snapshot_outdated(space);
			return;
		}
	}
	kept->count = left;
}

bool maps_snapshot_outdated(struct space *space)
{
	bool kept = space->kept_maps.count != 0;

	/* The texts stay, as results of maps_snapshot_read() point to them. */
	space->kept_maps.count = 0;
	return kept;
}
