/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of a process on its memory (getrlimit(2)), which hold for what is mapped in it for us,
 * too: one that has reached them, or has locked all memory to come, could be given no handler and
 * no slots.
 */
#ifndef TRACER_INFERIOR_LIMITS_H
#define TRACER_INFERIOR_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct space;

enum { LIMITS_COUNT = 2 };

/*
 * Raises by `length` bytes those that the process of a space has and may have reached, which is
 * noted in its journal; `raised` says to what, 0: not. False: there are none, or nobody may raise
 * them (above the hard limit takes CAP_SYS_RESOURCE).
 */
bool limits_raise(struct space *space, pid_t pid, uint64_t length, uint64_t raised[LIMITS_COUNT]);

/* Takes that back, where it did not help. */
void limits_lower(struct space *space, pid_t pid, uint64_t length,
		  const uint64_t raised[LIMITS_COUNT]);

/* Puts back what has been raised in the space, for one process that lives or has lived in it. */
void limits_restore(const struct space *space, pid_t pid);

#endif
