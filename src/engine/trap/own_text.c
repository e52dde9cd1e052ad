/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that a breakpoint is written to private code only.
 *
 * A write to a private mapping gives the process its own copy of the page. A write to a shared
 * mapping changes the file, and all processes that map it would hit breakpoints that no tracer
 * handles. The kernel refuses such writes only for read-only mappings. An example is generated
 * code that a server shares with its children.
 *
 * Memory that is not executable is not written to either: what was taken for a return address, at
 * something taken for a function, may be a pointer to the program's data.
 *
 * The maps are read once for many breakpoints. A process that maps other memory over its code
 * without the dynamic linker is not noticed; that has discarded the breakpoints there, too.
 */
#include "engine/trap/own_text.h"

#include "tracee/maps_snapshot.h"

struct range {
	uint64_t start, end;
};

void own_text_init(struct own_text *text)
{
	vec_init(&text->ranges, sizeof(struct range));
}

void own_text_deinit(struct own_text *text)
{
	vec_deinit(&text->ranges);
}

static bool is_known(const struct own_text *text, uint64_t address)
{
	for (size_t i = 0; i < text->ranges.count; i++) {
		const struct range *range = vec_at(&text->ranges, i);

		if (address >= range->start && address < range->end)
			return true;
	}
	return false;
}

static void read_ranges(struct own_text *text, const struct space *space, pid_t tid)
{
	struct maps maps;

	if (maps_snapshot_read(space, tid, &maps) != 0)
		return;
	own_text_forget(text);
	for (size_t i = 0; i < maps.count; i++) {
		const struct mapping *mapping = &maps.mappings[i];
		struct range range = {mapping->start, mapping->end};

		if (!mapping->shared && mapping->executable)
			vec_push(&text->ranges, &range);
	}
	maps_deinit(&maps);
}

bool own_text_has(struct own_text *text, struct space *space, pid_t tid, uint64_t address)
{
	if (is_known(text, address))
		return true;
	read_ranges(text, space, tid);
	if (is_known(text, address))
		return true;
	/* The mapping may be newer than the maps snapshot. */
	if (!maps_snapshot_outdated(space))
		return false;
	read_ranges(text, space, tid);
	return is_known(text, address);
}

void own_text_forget(struct own_text *text)
{
	vec_clear(&text->ranges);
}
