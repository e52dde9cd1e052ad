/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The books of an arena: blocks, XOL slots, regions. arena_map.c maps and unmaps their memory.
 *
 * A block has 64 KiB, divided into XOL slots of 32 bytes: the longest x86 instruction has 15 bytes,
 * a jump back 5 or, over a long distance, 14. A block serves all code that its slots can reach.
 *
 * Free slots are kept in a list. A block is unmapped only when the process is detached, as a thread
 * could be in it at any time.
 */
#include "tracee/arena.h"

#include "base/memory.h"
#include "base/xalloc.h"
#include "tracee/arena_private.h"

#include <stdlib.h>

struct arena *arena_create(void)
{
	struct arena *arena = xcalloc(1, sizeof *arena);

	vec_init(&arena->regions, sizeof(struct region));
	vec_init(&arena->blocks, sizeof(struct block));
	vec_init(&arena->free_slots, sizeof(uint64_t));
	return arena;
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

void arena_add_block(struct arena *arena, uint64_t base)
{
	const struct block block = {.base = base,
				    .owners = xcalloc(ARENA_XOL_SLOTS, sizeof(void *))};

	add_block(arena, &block);
}

bool arena_take_free(struct arena *arena, uint64_t address, bool everywhere, uint64_t *slot)
{
	const uint64_t *free_slots = arena->free_slots.items;

	for (size_t i = arena->free_slots.count; i-- > 0;)
		if (everywhere || in_reach(free_slots[i], address)) {
			*slot = free_slots[i];
			vec_remove_fast(&arena->free_slots, i);
			return true;
		}
	for (size_t i = 0; i < arena->blocks.count; i++) {
		struct block *block = block_at(arena, i);

		if (block->used == ARENA_XOL_SLOTS ||
		    !(everywhere || in_reach(block->base, address)))
			continue;
		*slot = block->base + ARENA_XOL_SLOT * block->used++;
		return true;
	}
	return false;
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
