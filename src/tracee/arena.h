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
 * Maps an executable block of ARENA_BYTES near `address`, away from where the program's memory
 * grows; with 32-bit addresses anywhere, as everything is in reach. 0, -ENOSPC, or as remote_map().
 */
int arena_map_near(struct thread *thread, uint64_t address, uint64_t *mapped);

/*
 * Finds a free place for `length` bytes (a multiple of ARENA_BYTES) that code at `address` can
 * reach, by the rules of arena_map_near(). Maps nothing. 0 or -ENOSPC.
 */
int arena_room_near(struct thread *thread, uint64_t address, uint64_t length, uint64_t *place);
/*
 * Like arena_room_near(), for a place in [low, high); the three numbers are multiples of the page
 * size.
 */
int arena_room_within(struct thread *thread, uint64_t low, uint64_t high, uint64_t length,
		      uint64_t *place);

/*
 * Takes an XOL slot near `address`. May have to map a block, so `thread` must be at a safe stop. 0
 * or -errno as remote_map(); -ENOSPC if there is no room near `address`.
 */
int arena_take(struct arena *arena, struct thread *thread, uint64_t address, uint64_t *slot);
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
 * Returns true if the block that arena_map_near() mapped at `base` is still there. The program may
 * have unmapped it, or mapped something else in its place.
 */
bool arena_is_mapped(const struct space *space, pid_t tid, uint64_t base);
/*
 * Unmaps a block through `thread` (at a safe stop), unless the program has unmapped or replaced it:
 * 0 or as remote_unmap().
 */
int arena_unmap_block(struct thread *thread, uint64_t base);

/* Unmaps all blocks and regions through `thread` (at a safe stop): 0 or the first -errno. */
int arena_unmap(struct arena *arena, struct thread *thread);

/*
 * Regions: other memory that the tracer has mapped, to be unmapped with the arena. Each region is
 * one mapping. arena_forget_regions() leaves the memory mapped.
 */
void arena_add_region(struct arena *arena, uint64_t base, uint64_t length);
void arena_forget_regions(struct arena *arena);
/* Unmaps the regions in [low, high) now. `thread` must be at a safe stop. */
void arena_unmap_regions(struct arena *arena, struct thread *thread, uint64_t low, uint64_t high);

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
