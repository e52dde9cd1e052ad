/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the prototypes of trace files: see prototype_code.h. */
#ifndef TRACER_PROTO_PROTOTYPE_DECODE_H
#define TRACER_PROTO_PROTOTYPE_DECODE_H

#include "base/vec.h"
#include "proto/prototype.h"
#include "stream/bytes.h"

/* What decoded prototypes consist of: void *, to be freed. */
struct prototype_memory {
	struct vec blocks;
};

void prototype_memory_init(struct prototype_memory *memory);
void prototype_memory_deinit(struct prototype_memory *memory);

/*
 * Reads a prototype, which may hold anything; what is returned can be used by renderers. It lives
 * as long as the memory. NULL: it is not valid.
 */
const struct prototype *prototype_decode(struct byte_reader *reader,
					 struct prototype_memory *memory);

#endif
