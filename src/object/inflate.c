/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By libdeflate where the tracer was built with it, which takes half of zlib's time. */
#include "object/inflate.h"

#ifdef HAVE_DEFLATE
#include <libdeflate.h>

bool inflate_whole(const uint8_t *packed, size_t stored, uint8_t *bytes, size_t size)
{
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	const bool is_whole = decompressor &&
			      libdeflate_zlib_decompress(decompressor, packed, stored, bytes, size,
							 NULL) == LIBDEFLATE_SUCCESS;

	libdeflate_free_decompressor(decompressor);
	return is_whole;
}

#else
#include <zlib.h>

bool inflate_whole(const uint8_t *packed, size_t stored, uint8_t *bytes, size_t size)
{
	uLongf length = size;

	return uncompress(bytes, &length, packed, stored) == Z_OK && length == size;
}

#endif
