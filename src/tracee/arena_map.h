/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps and unmaps the memory of an arena, by remote calls: see arena_map.c. */
#ifndef TRACER_TRACEE_ARENA_MAP_H
#define TRACER_TRACEE_ARENA_MAP_H

#include "tracee/arena.h"

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
/* Unmaps the regions in [low, high) now. `thread` must be at a safe stop. */
void arena_unmap_regions(struct arena *arena, struct thread *thread, uint64_t low, uint64_t high);

#endif
