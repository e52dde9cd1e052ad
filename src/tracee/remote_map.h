/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings that the tracer makes in a tracee, by remote calls: see remote_map.c. */
#ifndef TRACER_TRACEE_REMOTE_MAP_H
#define TRACER_TRACEE_REMOTE_MAP_H

#include "tracee/remote.h"

/*
 * mmap(2) with these arguments. Raises the process's resource limits on memory if they prevent it.
 * Adds no journal entry. 0 with the address in *mapped, or -errno.
 */
int remote_map_by(struct thread *thread, const uint64_t arguments[6], uint64_t *mapped);
/*
 * Maps private anonymous memory at exactly `address` (0: anywhere). A journal entry is added before
 * the call. 0 with the address in *mapped, or -errno.
 */
int remote_map(struct thread *thread, uint64_t address, uint64_t length, int protection,
	       uint64_t *mapped);
int remote_unmap(struct thread *thread, uint64_t address, uint64_t length);
/* Removes the journal entry of a mapping that is gone. */
void remote_forget_mapping(struct thread *thread, uint64_t address);

#endif
