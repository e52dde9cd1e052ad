/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells which pages of an address space can be read without blocking: those in memory or in swap,
 * by /proc/PID/pagemap (proc(5)), and those that the expendable process could fault in in time
 * (prefault.h). Used before every read of a tracee's memory.
 */
#ifndef TRACER_TRACEE_RESIDENT_H
#define TRACER_TRACEE_RESIDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct prefault;
struct resident;

/*
 * Creates the data for the memory of `pid`. `memory_fd`: its /proc/PID/mem, owned by the caller and
 * kept open as long as this exists. Never returns NULL: without pagemap, all memory counts as
 * readable.
 */
struct resident *resident_create(pid_t pid, int memory_fd);
void resident_destroy(struct resident *resident);
/* Sets the prefaulter. Without one, or with NULL, absent pages are left to the read itself. */
void resident_set_prefault(struct resident *resident, struct prefault *prefault);

/*
 * Returns how many of the `length` bytes from `address` on can be read without blocking. `tid`: a
 * task with this memory, or 0 if none is known, then absent pages are not faulted in. *blocked, if
 * not NULL, is set if the next byte is mapped but its page does not come.
 */
size_t resident_bytes(struct resident *resident, pid_t tid, uint64_t address, size_t length,
		      bool *blocked);

/*
 * Returns true if the page at `address` is private anonymous memory, not a file's. To be called
 * right after resident_bytes() has found the page readable. Returns false if it is not known.
 */
bool resident_is_anonymous(struct resident *resident, uint64_t address);

#endif
