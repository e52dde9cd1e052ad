/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decompresses data in the zlib format (RFC 1950). */
#ifndef TRACER_OBJECT_INFLATE_H
#define TRACER_OBJECT_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Stores the `size` bytes that `stored` bytes at `packed` stand for. Returns false if these are
 * damaged, or stand for more or fewer bytes.
 */
bool inflate_whole(const uint8_t *packed, size_t stored, uint8_t *bytes, size_t size);

#endif
