/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resource limits of a process on its memory (getrlimit(2)). They also hold for what the tracer
 * maps in it: a process that has reached them, or has locked all future memory (mlockall(2)), could
 * get no handler and no XOL slots.
 */
#ifndef TRACER_TRACEE_LIMITS_H
#define TRACER_TRACEE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct space;

enum { LIMITS_COUNT = 2 };

/*
 * Raises by `length` bytes the limits that the process may have reached, with journal entries.
 * `raised` gets the new values, 0: not raised. Returns false if there are no limits, or if they
 * cannot be raised (beyond the hard limit takes CAP_SYS_RESOURCE).
 */
bool limits_raise(struct space *space, pid_t pid, uint64_t length, uint64_t raised[LIMITS_COUNT]);

/* Undoes limits_raise(), if it did not help. */
void limits_lower(struct space *space, pid_t pid, uint64_t length,
		  const uint64_t raised[LIMITS_COUNT]);

/* Restores all limits that were raised in the space, for one process that lives or lived in it. */
void limits_restore(const struct space *space, pid_t pid);

#endif
