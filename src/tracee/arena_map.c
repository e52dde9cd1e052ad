/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds places for blocks, maps and unmaps them, and tells whether they are still there.
 *
 * A block is placed in the gap of the address space that is nearest to the code, but not where the
 * program's memory grows: not within 1 GiB behind the heap or below the stack. It lies at the end
 * of the gap that is nearer to the code, at some distance from the neighbours, so that the next
 * library to be loaded finds its usual place. MAP_FIXED_NOREPLACE makes sure that nothing is
 * overwritten if another thread has mapped memory there since the maps were read. The tracer
 * chooses the address even if any would do, as the address must be in the journal before the memory
 * is mapped.
 */
#include "tracee/arena_map.h"

#include "tracee/arena_private.h"
#include "tracee/journal.h"
#include "tracee/maps_snapshot.h"
#include "tracee/proc.h"
#include "tracee/remote_map.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { TRIES = 8 };

static const uint64_t LOWEST = 0x10000; /* vm.mmap_min_addr */
static const uint64_t HIGHEST = UINT64_C(0x7ffffffff000);
/* The kernel's own limit may be lower: then mmap(2) fails. */
static const uint64_t HIGHEST_32 = 0xffffe000;
static const uint64_t MARGIN = 0x100000;
static const uint64_t GROWTH = UINT64_C(0x40000000); /* kept free for heap and stack */

/* What is searched: `length` bytes near `address` or, if `end` is not 0, in [begin, end). */
struct wanted {
	uint64_t address, length;
	bool narrow;
	uint64_t heap; /* where the heap begins or will begin; 0: not known */
	uint64_t begin, end;
};

/* Computes the place in the gap [low, high). Returns false if it does not fit. */
static bool place_in_gap(uint64_t low, uint64_t high, const struct wanted *wanted, uint64_t *place)
{
	if (wanted->end) {
		*place = low > wanted->begin ? low : wanted->begin;
		high = high < wanted->end ? high : wanted->end;
		return *place < high && high - *place >= wanted->length;
	}
	uint64_t margin = high - low >= 4 * MARGIN ? MARGIN : 0;

	if (high <= low || high - low < wanted->length + 2 * margin)
		return false;
	uint64_t lowest = (low + margin + ARENA_BYTES - 1) & ~(uint64_t)(ARENA_BYTES - 1);
	uint64_t highest = (high - margin - wanted->length) & ~(uint64_t)(ARENA_BYTES - 1);

	if (lowest > highest || lowest < low || highest + wanted->length > high)
		return false;
	*place = wanted->address >= high ? highest : lowest;
	return wanted->narrow || (in_reach(*place, wanted->address) &&
				  in_reach(*place + wanted->length, wanted->address));
}

/* The best place so far that is not in `tried`. */
struct choice {
	const struct wanted *wanted;
	const uint64_t *tried;
	int tries;
	uint64_t best, distance; /* best is 0 if there is none */
};

static void consider(struct choice *choice, uint64_t low, uint64_t high)
{
	uint64_t address = choice->wanted->address;
	uint64_t place;
	bool used = false;

	if (!place_in_gap(low, high, choice->wanted, &place))
		return;
	uint64_t distance = place > address ? place - address : address - place;

	for (int k = 0; k < choice->tries; k++)
		used |= choice->tried[k] == place;
	if (used || (choice->best && distance >= choice->distance))
		return;
	choice->best = place;
	choice->distance = distance;
}

/*
 * Finds the best gap, and leaves heap and stack room to grow. A program that was just started has
 * no heap yet, but the kernel has already chosen its place, behind the program's data.
 */
static uint64_t choose_place(const struct maps *maps, const struct wanted *wanted,
			     const uint64_t *tried, int tries)
{
	struct choice choice = {wanted, tried, tries, 0, 0};
	const uint64_t end = wanted->narrow ? HIGHEST_32 : HIGHEST; /* [vsyscall] is above */

	for (size_t i = 0; i <= maps->count; i++) {
		const struct mapping *before = i ? &maps->mappings[i - 1] : NULL;
		const struct mapping *after = i < maps->count ? &maps->mappings[i] : NULL;
		uint64_t low = before ? before->end : LOWEST;
		uint64_t high = after && after->start < end ? after->start : end;

		if (before && !strcmp(before->path, "[heap]"))
			low += GROWTH;
		if (after && !strcmp(after->path, "[stack]"))
			high = high > GROWTH ? high - GROWTH : 0;
		if (wanted->heap >= low && wanted->heap < high) {
			consider(&choice, low, wanted->heap);
			low = wanted->heap + GROWTH;
		}
		consider(&choice, low, high);
	}
	return choice.best;
}

int arena_map_near(struct thread *thread, uint64_t address, uint64_t *mapped)
{
	struct space *space = thread->process->space;
	uint64_t tried[TRIES];
	struct maps maps;

	const struct wanted wanted = {.address = address,
				      .length = ARENA_BYTES,
				      .narrow = space->arch->abi->word == 4,
				      .heap = proc_start_brk(thread->tid)};
	int error = maps_snapshot_read(space, thread->tid, &maps);

	if (error)
		return error;
	error = -ENOSPC;
	for (int i = 0; i < TRIES; i++) {
		tried[i] = choose_place(&maps, &wanted, tried, i);
		if (!tried[i])
			break;
		error = remote_map(thread, tried[i], ARENA_BYTES, PROT_READ | PROT_EXEC, mapped);
		if (error != -EEXIST && error != -ENOMEM)
			break;
		/* The program may have mapped something since the maps were read. */
		if (maps_snapshot_outdated(space)) {
			maps_deinit(&maps);
			if (maps_snapshot_read(space, thread->tid, &maps) != 0)
				break;
		}
	}
	maps_deinit(&maps);
	return error;
}

static int find_room(struct thread *thread, const struct wanted *wanted, uint64_t *place)
{
	struct maps maps;
	int error = maps_snapshot_read(thread->process->space, thread->tid, &maps);

	if (error)
		return error;
	*place = choose_place(&maps, wanted, NULL, 0);
	maps_deinit(&maps);
	return *place ? 0 : -ENOSPC;
}

int arena_room_near(struct thread *thread, uint64_t address, uint64_t length, uint64_t *place)
{
	const struct wanted wanted = {.address = address,
				      .length = length,
				      .narrow = thread->process->space->arch->abi->word == 4,
				      .heap = proc_start_brk(thread->tid)};

	return find_room(thread, &wanted, place);
}

int arena_room_within(struct thread *thread, uint64_t low, uint64_t high, uint64_t length,
		      uint64_t *place)
{
	const struct wanted wanted = {.address = low,
				      .length = length,
				      .heap = proc_start_brk(thread->tid),
				      .begin = low,
				      .end = high};

	return find_room(thread, &wanted, place);
}

int arena_take(struct arena *arena, struct thread *thread, uint64_t address, uint64_t *slot)
{
	const bool everywhere = thread->process->space->arch->abi->word == 4;
	uint64_t base;

	if (arena_take_free(arena, address, everywhere, slot))
		return 0;
	int error = arena_map_near(thread, address, &base);

	if (error)
		return error;
	arena_add_block(arena, base);
	return arena_take_free(arena, address, everywhere, slot) ? 0 : -ENOSPC;
}

static bool is_code_of_ours(const struct mapping *mapping)
{
	return mapping->executable && !mapping->writable && !mapping->inode && !*mapping->path;
}

/*
 * Returns true if the tracer's code covers [base, end). It may be several mappings: a SIGTRAP
 * handler that cannot open /proc uses mprotect(2) to write, which splits the mapping.
 */
static bool is_all_code(const struct maps *maps, uint64_t base, uint64_t end)
{
	for (size_t i = 0; i < maps->count && base < end; i++) {
		const struct mapping *mapping = &maps->mappings[i];

		if (mapping->end <= base)
			continue;
		if (mapping->start > base || !is_code_of_ours(mapping))
			return false;
		base = mapping->end;
	}
	return base >= end;
}

/* `whole`: a single mapping of exactly this range is accepted, whatever its protection. */
static bool is_mapped(const struct space *space, pid_t tid, uint64_t base, uint64_t length,
		      bool whole)
{
	struct maps maps;

	if (maps_snapshot_read(space, tid, &maps) < 0)
		return false;
	const struct mapping *mapping = whole ? maps_find(&maps, base) : NULL;
	bool found = (mapping && mapping->start == base && mapping->end == base + length) ||
		     is_all_code(&maps, base, base + length);

	maps_deinit(&maps);
	return found;
}

bool arena_is_mapped(const struct space *space, pid_t tid, uint64_t base)
{
	return is_mapped(space, tid, base, ARENA_BYTES, false);
}

int arena_unmap_block(struct thread *thread, uint64_t base)
{
	if (arena_is_mapped(thread->process->space, thread->tid, base))
		return remote_unmap(thread, base, ARENA_BYTES);
	remote_forget_mapping(thread, base);
	return 0;
}

/*
 * Unmaps a region, unless the program has replaced it by memory of its own. A region of code is
 * recognised by its protection, other regions by their exact bounds.
 */
static int unmap_region(struct thread *thread, const struct region *region)
{
	const struct space *space = thread->process->space;
	const bool is_code = journal_in_agent(space->journal, region->base);

	if (is_mapped(space, thread->tid, region->base, region->length, !is_code))
		return remote_unmap(thread, region->base, region->length);
	remote_forget_mapping(thread, region->base);
	return 0;
}

void arena_unmap_regions(struct arena *arena, struct thread *thread, uint64_t low, uint64_t high)
{
	for (size_t i = arena->regions.count; i-- > 0;) {
		const struct region *region = vec_at(&arena->regions, i);

		if (region->base >= low && region->base < high && unmap_region(thread, region) == 0)
			vec_remove_fast(&arena->regions, i);
	}
}

int arena_unmap(struct arena *arena, struct thread *thread)
{
	int first = 0;

	for (size_t i = 0; i < arena->regions.count; i++) {
		int error = unmap_region(thread, vec_at(&arena->regions, i));

		if (!first)
			first = error;
	}
	vec_clear(&arena->regions);
	for (size_t i = 0; i < arena->blocks.count; i++) {
		int error = arena_unmap_block(thread, block_at(arena, i)->base);

		if (!first)
			first = error;
		free(block_at(arena, i)->owners);
	}
	vec_clear(&arena->blocks);
	vec_clear(&arena->free_slots);
	return first;
}
