/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pages of an address space can be read without waiting: those in memory or in swap, as
 * /proc/PID/pagemap tells (proc(5)), and those that could be brought in in time (prefault.h). Asked
 * before every read of a tracee's memory.
 */
#ifndef TRACER_INFERIOR_RESIDENT_H
#define TRACER_INFERIOR_RESIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct prefault;
struct resident;

/*
 * For the memory of `pid`. `memory_fd`: its /proc/PID/mem, the caller's, as long as this lives.
 * Never NULL: where there is no pagemap, all memory counts as readable.
 */
struct resident *resident_create(pid_t pid, int memory_fd);
void resident_destroy(struct resident *resident);
/* Who brings pages in; until it is set, or with NULL, they are left to the read itself. */
void resident_set_prefault(struct resident *resident, struct prefault *prefault);

/*
 * How many of the `length` bytes from `address` on can be read without waiting for long. `tid`: a
 * task in this memory, or 0 when none is known: then pages that are not there stay so. *blocked, if
 * not NULL, tells that what follows is memory that does not come, rather than none.
 */
size_t resident_bytes(struct resident *resident, pid_t tid, uint64_t address, size_t length,
		      bool *blocked);

/*
 * Whether the page at `address`, which resident_bytes() has just found readable, is private
 * anonymous memory and no file's. False when it cannot be told.
 */
bool resident_is_anonymous(struct resident *resident, uint64_t address);

#endif
