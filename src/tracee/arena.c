/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A block has 64 KiB, divided into XOL slots of 32 bytes: the longest x86 instruction has 15 bytes,
 * a jump back 5 or, over a long distance, 14. A block serves all code that its slots can reach.
 *
 * A block is placed in the gap of the address space that is nearest to the code, but not where the
 * program's memory grows: not within 1 GiB behind the heap or below the stack. It lies at the end
 * of the gap that is nearer to the code, at some distance from the neighbours, so that the next
 * library to be loaded finds its usual place. MAP_FIXED_NOREPLACE makes sure that nothing is
 * overwritten if another thread has mapped memory there since the maps were read. The tracer
 * chooses the address even if any would do, as the address must be in the journal before the memory
 * is mapped.
 *
 * Free slots are kept in a list. A block is unmapped only when the process is detached, as a thread
 * could be in it at any time.
 */
#include "tracee/arena.h"

#include "base/vec.h"
#include "base/xalloc.h"
#include "tracee/journal.h"
#include "tracee/maps_snapshot.h"
#include "tracee/proc.h"
#include "tracee/remote_map.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ARENA_XOL_SLOTS = ARENA_BYTES / ARENA_XOL_SLOT, TRIES = 8 };

static const uint64_t REACH = UINT64_C(0x78000000); /* a bit less than 2 GiB */
static const uint64_t LOWEST = 0x10000;		    /* vm.mmap_min_addr */
static const uint64_t HIGHEST = UINT64_C(0x7ffffffff000);
/* The kernel's own limit may be lower: then mmap(2) fails. */
static const uint64_t HIGHEST_32 = 0xffffe000;
static const uint64_t MARGIN = 0x100000;
static const uint64_t GROWTH = UINT64_C(0x40000000); /* kept free for heap and stack */

struct block {
	uint64_t base;
	size_t used; /* slots handed out at least once */
	void **owners;
};

struct region {
	uint64_t base, length;
};

struct arena {
	struct vec regions;
	struct vec blocks;
	uint64_t low, high;    /* all blocks, present and former, are in [low, high) */
	struct vec free_slots; /* uint64_t */
};

struct arena *arena_create(void)
{
	struct arena *arena = xcalloc(1, sizeof *arena);

	vec_init(&arena->regions, sizeof(struct region));
	vec_init(&arena->blocks, sizeof(struct block));
	vec_init(&arena->free_slots, sizeof(uint64_t));
	return arena;
}

static struct block *block_at(const struct arena *arena, size_t index)
{
	return vec_at(&arena->blocks, index);
}

void arena_destroy(struct arena *arena)
{
	if (!arena)
		return;
	for (size_t i = 0; i < arena->blocks.count; i++)
		free(block_at(arena, i)->owners);
	vec_deinit(&arena->regions);
	vec_deinit(&arena->blocks);
	vec_deinit(&arena->free_slots);
	free(arena);
}

static bool in_reach(uint64_t base, uint64_t address)
{
	uint64_t distance = base > address ? base - address : address - base;

	return distance < REACH;
}

static struct block *block_of(const struct arena *arena, uint64_t address)
{
	/* Most callers ask for words of a stack, so this test comes first. */
	if (address - arena->low >= arena->high - arena->low)
		return NULL;
	for (size_t i = 0; i < arena->blocks.count; i++) {
		struct block *block = block_at(arena, i);

		if (address >= block->base && address - block->base < ARENA_BYTES)
			return block;
	}
	return NULL;
}

static void add_block(struct arena *arena, const struct block *block)
{
	if (!arena->blocks.count || block->base < arena->low)
		arena->low = block->base;
	if (block->base + ARENA_BYTES > arena->high)
		arena->high = block->base + ARENA_BYTES;
	vec_push(&arena->blocks, block);
}

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

static int map_block(struct arena *arena, struct thread *thread, uint64_t address)
{
	struct block block = {0};
	int error = arena_map_near(thread, address, &block.base);

	if (error)
		return error;
	block.owners = xcalloc(ARENA_XOL_SLOTS, sizeof *block.owners);
	add_block(arena, &block);
	return 0;
}

int arena_take(struct arena *arena, struct thread *thread, uint64_t address, uint64_t *slot)
{
	bool everywhere = thread->process->space->arch->abi->word == 4;
	const uint64_t *free_slots = arena->free_slots.items;

	for (size_t i = arena->free_slots.count; i-- > 0;)
		if (everywhere || in_reach(free_slots[i], address)) {
			*slot = free_slots[i];
			vec_remove_fast(&arena->free_slots, i);
			return 0;
		}
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < arena->blocks.count; i++) {
			struct block *block = block_at(arena, i);

			if (block->used == ARENA_XOL_SLOTS ||
			    !(everywhere || in_reach(block->base, address)))
				continue;
			*slot = block->base + ARENA_XOL_SLOT * block->used++;
			return 0;
		}
		int error = round ? -ENOSPC : map_block(arena, thread, address);

		if (error)
			return error;
	}
	return -ENOSPC;
}

void arena_give(struct arena *arena, uint64_t slot)
{
	if (!block_of(arena, slot))
		return; /* see arena_forget_missing() */
	arena_set_owner(arena, slot, NULL);
	vec_push(&arena->free_slots, &slot);
}

bool arena_xol_slot_at(const struct arena *arena, uint64_t address, uint64_t *slot)
{
	const struct block *block = block_of(arena, address);

	if (!block)
		return false;
	*slot = address - (address - block->base) % ARENA_XOL_SLOT;
	return true;
}

uint64_t arena_block(const struct arena *arena, uint64_t slot)
{
	const struct block *block = block_of(arena, slot);

	return block ? block->base : 0;
}

void arena_set_owner(struct arena *arena, uint64_t slot, void *owner)
{
	struct block *block = block_of(arena, slot);

	if (block)
		block->owners[(slot - block->base) / ARENA_XOL_SLOT] = owner;
}

void *arena_owner(const struct arena *arena, uint64_t slot)
{
	const struct block *block = block_of(arena, slot);

	return block ? block->owners[(slot - block->base) / ARENA_XOL_SLOT] : NULL;
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

void arena_add_region(struct arena *arena, uint64_t base, uint64_t length)
{
	vec_push(&arena->regions, &(struct region){base, length});
}

bool arena_holds(const struct arena *arena, uint64_t address)
{
	for (size_t i = 0; i < arena->regions.count; i++) {
		const struct region *region = vec_at(&arena->regions, i);

		if (address - region->base < region->length)
			return true;
	}
	return block_of(arena, address) != NULL;
}

void arena_forget_regions(struct arena *arena)
{
	vec_clear(&arena->regions);
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

void arena_forget_missing(struct arena *arena, const struct memory_source *memory)
{
	uint8_t byte;

	for (size_t i = arena->regions.count; i-- > 0;) {
		const struct region *region = vec_at(&arena->regions, i);

		if (!memory_read_exact(memory, region->base, &byte, 1))
			vec_remove_fast(&arena->regions, i);
	}
	for (size_t i = arena->blocks.count; i-- > 0;) {
		struct block *block = block_at(arena, i);

		if (memory_read_exact(memory, block->base, &byte, 1))
			continue;
		free(block->owners);
		vec_remove(&arena->blocks, i);
	}
	for (size_t i = arena->free_slots.count; i-- > 0;)
		if (!block_of(arena, *(uint64_t *)vec_at(&arena->free_slots, i)))
			vec_remove_fast(&arena->free_slots, i);
}

void arena_adopt(struct arena *arena, uint64_t base)
{
	const struct block block = {.base = base,
				    .used = ARENA_XOL_SLOTS,
				    .owners = xcalloc(ARENA_XOL_SLOTS, sizeof(void *))};

	add_block(arena, &block);
}

void arena_copy(struct arena *to, const struct arena *from)
{
	for (size_t i = 0; i < from->regions.count; i++)
		vec_push(&to->regions, vec_at(&from->regions, i));
	for (size_t i = 0; i < from->blocks.count; i++) {
		struct block block = *block_at(from, i);

		block.owners = xcalloc(ARENA_XOL_SLOTS, sizeof *block.owners);
		add_block(to, &block);
	}
	for (size_t i = 0; i < from->free_slots.count; i++)
		vec_push(&to->free_slots, vec_at(&from->free_slots, i));
}
