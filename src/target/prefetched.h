/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was read of processes before they are attached to: see prefetched.c. */
#ifndef TRACER_TARGET_PREFETCHED_H
#define TRACER_TARGET_PREFETCHED_H

#include "target/target_state.h"

/* A module that was read for a process. */
struct prefetched {
	pid_t pid;
	struct module *module;
	uint64_t header;    /* address at which its ELF header is mapped, 0: not mapped */
	struct vec callers; /* what readers_find() found */
};
void prefetched_init(struct target *target);
void prefetched_deinit(struct target *target);
/* Drops what was read ahead for a process: it is in use by now, or not needed. */
void prefetched_done(struct target *target, pid_t pid);
/*
 * Returns the file that was found mapped in that process with its ELF header at `header`; NULL if
 * there is none. The caller has no reference: elf_ref() it.
 */
struct elf_file *prefetched_file(const struct target *target, pid_t pid,
				 const struct mapping *header);
/* Returns what readers_find() found in a file; NULL if it was not asked, or prefetched_done(). */
const struct vec *prefetched_callers(const struct target *target, const struct elf_file *file);

#endif
