/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls that are packed in others: socketcall(2), ipc(2). */
#ifndef TRACER_SESSION_UNPACK_H
#define TRACER_SESSION_UNPACK_H

#include "base/memory.h"
#include "probe/pattern.h"

#include <stdbool.h>
#include <stdint.h>

struct arch;

/* What a program asks the kernel for. Names live for ever. */
struct system_request {
	const struct arch *arch;
	uint64_t number;
	uint64_t arguments[6];
	const char *name; /* NULL: the number has none */
	/* the name of the number, if `name` is the call that is packed in it; else NULL */
	const char *outer;
	/* where the kernel stores the result of a call that succeeds, as a word; 0: nowhere */
	uint64_t result_at;
	unsigned packed; /* which of the calls that come packed it is, less than 64; 0: none */
};

/*
 * Of a call as its number and registers say, makes the one that is meant, if it is packed and can
 * be read.
 */
void system_request_unpack(struct system_request *request, const struct memory_source *memory);
/* Whether a call has a name like that which comes packed. */
bool system_request_names_packed(const struct pattern *pattern);

#endif
