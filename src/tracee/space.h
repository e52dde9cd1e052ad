/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address spaces, and writing to their memory: see space.c. */
#ifndef TRACER_TRACEE_SPACE_H
#define TRACER_TRACEE_SPACE_H

#include "tracee/tracee.h"

/* Returns true if the thread is stopped and is the only one in its space. */
bool space_has_only(const struct thread *thread);
/*
 * Creates a space, with one reference, for the program that `pid` runs now. NULL with *error =
 * -errno.
 */
struct space *space_create(pid_t pid, const struct arch *arch, int *error);
/*
 * Creates a space, with one reference, of the memory and the mappings in a core dump. Leaves *maps
 * empty.
 */
struct space *space_create_dumped(const struct arch *arch, const struct memory_source *memory,
				  struct maps *maps);
/*
 * Connects the space to the page prefaulter and to the watchdog, which keep reads from blocking for
 * ever.
 */
void space_bind(struct space *space, const struct tracees *tracees);
struct space *space_ref(struct space *space);
void space_unref(struct space *space);
/*
 * Stops reading this space through `tid`, which is gone or has another space (exec of a vfork
 * child). `space` may be NULL.
 */
void space_forget_reader(struct space *space, pid_t tid);
/* Fills in kernel_code from the mappings of task `tid`. Returns false if there is no vDSO. */
bool space_find_kernel_code(struct space *space, pid_t tid);
/* Writes through /proc/PID/mem, whatever the protection of the page: 0 or -errno. */
int space_write(struct space *space, uint64_t address, const void *bytes, size_t length);
/*
 * Writes many words in few system calls. Only for pages that the tracee may write; no range may
 * cross a page. Words that cannot be written are skipped.
 */
void space_write_words(struct space *space, struct memory_range *ranges, size_t count);
/*
 * Removes from the bookkeeping of a forked child what is not mapped there: XOL blocks, regions,
 * tables. The bookkeeping is copied from the parent when the fork is reported, which is after the
 * kernel has copied the memory. Must be called before anything is mapped in the child, as the new
 * mapping could get an address that the bookkeeping has as used.
 */
void space_forget_missing(struct space *space);
/*
 * Returns true if both processes share one address space (kcmp(2)); `guess` if the kernel cannot
 * tell.
 */
bool same_space(pid_t one, pid_t other, bool guess);

#endif
