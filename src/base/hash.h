/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FNV-1a, for tables of texts whose entries are compared, too. */
#ifndef TRACER_BASE_HASH_H
#define TRACER_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Continues the hash with more bytes. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
	for (const unsigned char *at = bytes; length; at++, length--)
		hash = (hash ^ *at) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
