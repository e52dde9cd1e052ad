/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * XOL slots: small pieces of executable memory in a tracee, within reach of a 32-bit displacement
 * from the code that they belong to.
 */
#ifndef TRACER_TRACEE_ARENA_H
#define TRACER_TRACEE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Size of an XOL slot; size of a block, which is mapped at once. */
enum { ARENA_XOL_SLOT = 32, ARENA_BYTES = 65536 };

struct arena;
struct memory_source;
struct space;
struct thread;

struct arena *arena_create(void);
void arena_destroy(struct arena *arena); /* frees the tracer's data only: see arena_unmap() */

/*
 * Takes an XOL slot near `address`, or of any block if `everywhere`. Returns false if no block has
 * one: see arena_take() (arena_map.h).
 */
bool arena_take_free(struct arena *arena, uint64_t address, bool everywhere, uint64_t *slot);
/* Adds a block of ARENA_BYTES at `base`, which was just mapped. */
void arena_add_block(struct arena *arena, uint64_t base);
/* Gives an XOL slot back. No thread may be in it. */
void arena_give(struct arena *arena, uint64_t slot);

/*
 * Returns true if `address` lies in a block; *slot is the beginning of the XOL slot that it lies
 * in.
 */
bool arena_xol_slot_at(const struct arena *arena, uint64_t address, uint64_t *slot);

/* Returns the base of the block that an XOL slot lies in, or 0. */
uint64_t arena_block(const struct arena *arena, uint64_t slot);

/* The owner of an XOL slot: set it after arena_take(). */
void arena_set_owner(struct arena *arena, uint64_t slot, void *owner);
void *arena_owner(const struct arena *arena, uint64_t slot);

/*
 * Regions: other memory that the tracer has mapped, to be unmapped with the arena. Each region is
 * one mapping. arena_forget_regions() leaves the memory mapped.
 */
void arena_add_region(struct arena *arena, uint64_t base, uint64_t length);
void arena_forget_regions(struct arena *arena);
/* Returns true if `address` is in a block or a region. */
bool arena_holds(const struct arena *arena, uint64_t address);

/*
 * Removes blocks and regions that are not in `memory` (a forked child's, if the fork came before
 * the mapping).
 */
void arena_forget_missing(struct arena *arena, const struct memory_source *memory);

/*
 * Adds a block of ARENA_BYTES at `base` that another process has mapped. All its slots count as
 * used.
 */
void arena_adopt(struct arena *arena, uint64_t base);

/* Copies blocks, regions and free slots to the arena of a forked child, without owners. */
void arena_copy(struct arena *to, const struct arena *from);

#endif
