/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FNV-1a, a hash that is no secret: two texts may have the same one. Freestanding. */
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

/* Returns another number for each number; each of its bits depends on all bits of the given one. */
static inline uint64_t hash_mix(uint64_t number)
{
	number = (number ^ number >> 33) * UINT64_C(0xff51afd7ed558ccd);
	number = (number ^ number >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return number ^ number >> 33;
}

#endif
