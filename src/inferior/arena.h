/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Out-of-line slots: small pieces of executable memory in a tracee, within the reach of a 32-bit
 * displacement from the code they serve.
 */
#ifndef TRACER_INFERIOR_ARENA_H
#define TRACER_INFERIOR_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { ARENA_SLOT = 32, ARENA_BYTES = 65536 }; /* of a slot, and of what is mapped at a time */

struct arena;
struct memory_source;
struct space;
struct thread;

struct arena *arena_create(void);
void arena_destroy(struct arena *arena); /* the tracer's side only: see arena_unmap() */

/*
 * Maps ARENA_BYTES that can be executed near `address` (anywhere, where every address is in reach)
 * and out of the program's way: 0, -ENOSPC or as remote_map().
 */
int arena_map_near(struct thread *thread, uint64_t address, uint64_t *mapped);

/*
 * A place for `length` bytes (a multiple of ARENA_BYTES) that code at `address` can reach, the same
 * way; -ENOSPC: none.
 */
int arena_room_near(struct thread *thread, uint64_t address, uint64_t length, uint64_t *place);
/* The same in [low, high): all three are multiples of a page. */
int arena_room_within(struct thread *thread, uint64_t low, uint64_t high, uint64_t length,
		      uint64_t *place);

/*
 * A slot near `address`. Maps memory when it has to, for which `thread` must be at a clean
 * stop. 0 or -errno as remote_map(); -ENOSPC when there is no room near there.
 */
int arena_take(struct arena *arena, struct thread *thread, uint64_t address, uint64_t *slot);
/* Gives a slot back. No thread may be inside. */
void arena_give(struct arena *arena, uint64_t slot);

/* Whether `address` lies in a slot; *slot is where that begins. */
bool arena_slot_at(const struct arena *arena, uint64_t address, uint64_t *slot);

/* Where the ARENA_BYTES begin that a slot lies in, 0: in none. */
uint64_t arena_block(const struct arena *arena, uint64_t slot);

/* What belongs to a slot, for its owner: set after arena_take(). */
void arena_set_owner(struct arena *arena, uint64_t slot, void *owner);
void *arena_owner(const struct arena *arena, uint64_t slot);

/*
 * Whether what arena_map_near() mapped at `base` is still there. The program may have unmapped it
 * or put something of its own in its place.
 */
bool arena_is_mapped(const struct space *space, pid_t tid, uint64_t base);
/*
 * Unmaps that through `thread` (clean stop), unless it is not there any more: 0 or as
 * remote_unmap().
 */
int arena_unmap_block(struct thread *thread, uint64_t base);

/* Unmaps all memory in the tracee through `thread` (clean stop): 0 or the first -errno. */
int arena_unmap(struct arena *arena, struct thread *thread);

/*
 * Other memory that has been mapped for us, to be unmapped with the arena; each piece is one
 * mapping. Forgetting them leaves them there.
 */
void arena_add_region(struct arena *arena, uint64_t base, uint64_t length);
void arena_forget_regions(struct arena *arena);
/* Unmaps those in [low, high) at once. `thread` is at a clean stop. */
void arena_unmap_regions(struct arena *arena, struct thread *thread, uint64_t low, uint64_t high);

/* Whether `address` is in memory that was mapped for us, of either kind. */
bool arena_holds(const struct arena *arena, uint64_t address);

/*
 * Forgets what is not there in `memory` after all (a child that was forked before it was mapped).
 */
void arena_forget_missing(struct arena *arena, const struct memory_source *memory);

/* Takes over ARENA_BYTES at `base` that another process has mapped, all slots of it in use. */
void arena_adopt(struct arena *arena, uint64_t base);

/* The same places in a forked child, without owners. */
void arena_copy(struct arena *to, const struct arena *from);

#endif
