/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prototypes in trace files: all that is needed to show the values of a record.
 *
 * What is needed to capture them, such as the way to a text or to a function without a symbol, is left
 * out.
 */
#ifndef TRACER_PROTO_PROTOTYPE_CODE_H
#define TRACER_PROTO_PROTOTYPE_CODE_H

#include "base/vec.h"
#include "proto/prototype.h"
#include "stream/bytes.h"

/* Appends a prototype with its types. */
void prototype_encode(struct bytes *out, const struct prototype *prototype);

/* What decoded prototypes consist of: void *, to be freed. */
struct prototype_memory {
	struct vec blocks;
};

void prototype_memory_init(struct prototype_memory *memory);
void prototype_memory_deinit(struct prototype_memory *memory);

/*
 * Reads a prototype, which may hold anything; what is returned can be used by renderers. It lives as
 * long as the memory. NULL: it is not valid.
 */
const struct prototype *prototype_decode(struct byte_reader *reader,
					 struct prototype_memory *memory);

#endif
