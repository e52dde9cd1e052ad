/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each chunk is a zstd frame of its own, so that it can be unpacked without those before it. */
#include "stream/chunk_pack.h"

#include "base/xalloc.h"

#include <errno.h>
#include <zlib.h>
#include <zstd.h>

struct packer {
	ZSTD_CCtx *context; /* NULL: nothing is packed */
	int level;
};

struct unpacker {
	ZSTD_DCtx *context;
};

struct packer *packer_create(int level)
{
	struct packer *packer = xcalloc(1, sizeof *packer);

	packer->level = level;
	packer->context = level ? ZSTD_createCCtx() : NULL;
	if (level && !packer->context) {
		free(packer);
		return NULL;
	}
	return packer;
}

void packer_destroy(struct packer *packer)
{
	if (!packer)
		return;
	ZSTD_freeCCtx(packer->context);
	free(packer);
}

/* The checksum of a header with 0 in its place, and of what follows it. */
static uint32_t checksum(const struct trace_chunk *chunk, const void *stored)
{
	struct trace_chunk header = *chunk;

	header.checksum = 0;
	uLong sum = crc32(crc32(0, NULL, 0), (const Bytef *)&header, sizeof header);

	return (uint32_t)crc32(sum, stored, header.stored);
}

void packer_pack(struct packer *packer, const struct chunk_about *about, const void *data,
		 size_t size, struct bytes *out)
{
	struct trace_chunk chunk = {.magic = TRACE_CHUNK_MAGIC,
				    .kind = (uint8_t)about->kind,
				    .packing = TRACE_PLAIN,
				    .size = (uint32_t)size,
				    .count = about->count,
				    .first = about->first,
				    .last = about->last};
	const size_t most = packer->context ? ZSTD_compressBound(size) : size;
	unsigned char *room;

	out->length = 0;
	room = bytes_reserve(out, sizeof chunk + most) + sizeof chunk;
	size_t stored = packer->context ? ZSTD_compressCCtx(packer->context, room, most, data, size,
							    packer->level)
					: 0;

	/* What packing does not make shorter is stored as it is. */
	if (packer->context && !ZSTD_isError(stored) && stored < size) {
		chunk.packing = TRACE_ZSTD;
	} else {
		stored = size;
		if (size)
			memcpy(room, data, size);
	}
	chunk.stored = (uint32_t)stored;
	chunk.checksum = checksum(&chunk, room);
	memcpy(out->data, &chunk, sizeof chunk);
	out->length = sizeof chunk + stored;
}

struct unpacker *unpacker_create(void)
{
	struct unpacker *unpacker = xcalloc(1, sizeof *unpacker);

	unpacker->context = ZSTD_createDCtx();
	return unpacker;
}

void unpacker_destroy(struct unpacker *unpacker)
{
	if (!unpacker)
		return;
	ZSTD_freeDCtx(unpacker->context);
	free(unpacker);
}

bool chunk_is_possible(const struct trace_chunk *chunk)
{
	return chunk->magic == TRACE_CHUNK_MAGIC && chunk->stored <= TRACE_CHUNK_MAX &&
	       chunk->size <= TRACE_CHUNK_MAX &&
	       (chunk->packing != TRACE_PLAIN || chunk->size == chunk->stored);
}

int unpacker_unpack(struct unpacker *unpacker, const struct trace_chunk *chunk, const void *stored,
		    struct bytes *out)
{
	out->length = 0;
	if (checksum(chunk, stored) != chunk->checksum)
		return -EBADMSG;
	unsigned char *room = bytes_reserve(out, chunk->size);

	out->length = chunk->size;
	if (chunk->packing == TRACE_PLAIN) {
		if (chunk->size)
			memcpy(room, stored, chunk->size);
		return 0;
	}
	if (chunk->packing != TRACE_ZSTD || !unpacker->context)
		return -EBADMSG;
	/* No more than the header says is ever written, whatever the frame says. */
	const size_t size = ZSTD_decompressDCtx(unpacker->context, room, chunk->size, stored,
						chunk->stored);

	return ZSTD_isError(size) || size != chunk->size ? -EBADMSG : 0;
}
