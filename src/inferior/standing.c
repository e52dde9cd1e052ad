/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inferior/standing.h"

#include "base/xalloc.h"
#include "inferior/inferior.h"

#include <string.h>
#include <sys/mman.h>

void standing_begin(struct space *space, struct maps *maps)
{
	standing_end(space);
	space->standing = *maps;
	*maps = (struct maps){0};
}

void standing_end(struct space *space)
{
	maps_deinit(&space->standing);
}

int standing_read(const struct space *space, pid_t tid, struct maps *maps)
{
	const struct maps *standing = &space->standing;

	if (!standing->count)
		return maps_read(tid, maps);
	/* The texts are not copied: see standing_end(). */
	*maps = (struct maps){
		.mappings = xmemdup(standing->mappings, standing->count * sizeof *maps->mappings),
		.count = standing->count};
	return 0;
}

/* Makes room for one at `place`. */
static struct mapping *insert(struct maps *maps, size_t place)
{
	maps->mappings = xreallocarray(maps->mappings, maps->count + 1, sizeof *maps->mappings);
	memmove(&maps->mappings[place + 1], &maps->mappings[place],
		(maps->count++ - place) * sizeof *maps->mappings);
	return &maps->mappings[place];
}

void standing_mapped(struct space *space, uint64_t start, uint64_t length, int protection)
{
	struct maps *standing = &space->standing;
	size_t place = 0;

	if (!standing->count)
		return;
	while (place < standing->count && standing->mappings[place].start < start)
		place++;
	*insert(standing, place) = (struct mapping){.start = start,
						    .end = start + length,
						    .readable = protection & PROT_READ,
						    .writable = protection & PROT_WRITE,
						    .executable = protection & PROT_EXEC,
						    .path = ""};
}

void standing_unmapped(struct space *space)
{
	space->standing.count = 0; /* what was lent of it stays */
}
