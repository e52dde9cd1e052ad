/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that are packed in others: socketcall(2), ipc(2). */
#ifndef TRACER_TARGET_SYSCALLS_SYSCALL_DEMUX_H
#define TRACER_TARGET_SYSCALLS_SYSCALL_DEMUX_H

#include "base/memory.h"
#include "probe/pattern.h"

#include <stdbool.h>
#include <stdint.h>

struct arch;

/* A system call that a program makes. Names live forever. */
struct system_request {
	const struct arch *arch;
	uint64_t number;
	uint64_t arguments[6];
	const char *name; /* NULL: the number has no name */
	/* the name of the number, if `name` is a call that is packed in it; otherwise NULL */
	const char *outer;
	/* where the kernel stores the result of a successful call, as a word; 0: nowhere */
	uint64_t result_at;
	unsigned packed; /* which packed call it is, less than 64; 0: none */
};

/*
 * Replaces a packed call, given by its number and registers, by the call that is meant, if it can
 * be read.
 */
void system_request_unpack(struct system_request *request, const struct memory_source *memory);
/* Returns true if the pattern matches the name of a packed call. */
bool system_request_names_packed(const struct pattern *pattern);

#endif
