/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packs and unpacks chunks of trace files: header, checksum, zstd. */
#ifndef TRACER_STREAM_CHUNK_PACK_H
#define TRACER_STREAM_CHUNK_PACK_H

#include "stream/bytes.h"
#include "stream/format.h"

/* What a chunk is about, beside its bytes. */
struct chunk_about {
	enum trace_chunk_kind kind;
	uint32_t count;
	uint64_t first, last;
};

struct packer;

/* `level`: of zstd, 1 to 19; 0: chunks are not packed. NULL: libzstd does not work. */
struct packer *packer_create(int level);
void packer_destroy(struct packer *packer);

/*
 * Replaces the contents of `out` by the header of a chunk and what follows it. `size` is at most
 * TRACE_CHUNK_MAX.
 */
void packer_pack(struct packer *packer, const struct chunk_about *about, const void *data,
		 size_t size, struct bytes *out);

struct unpacker;

struct unpacker *unpacker_create(void);
void unpacker_destroy(struct unpacker *unpacker);

/* Returns true if the header may be one: its lengths are within the limits. */
bool chunk_is_possible(const struct trace_chunk *chunk);

/*
 * Replaces the contents of `out` by those of the chunk; `stored` is what follows its header, which
 * is possible. Returns 0, or -EBADMSG if the chunk is damaged, or packed in an unknown way.
 */
int unpacker_unpack(struct unpacker *unpacker, const struct trace_chunk *chunk, const void *stored,
		    struct bytes *out);

#endif
