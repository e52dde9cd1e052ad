/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading for the executor: registers, stack arguments, strings: see capture_fetch.c. */
#ifndef TRACER_RECORD_CAPTURE_FETCH_H
#define TRACER_RECORD_CAPTURE_FETCH_H

#include "record/capture_run.h"

void capture_copy(unsigned char *to, const unsigned char *from, size_t length);
/* Returns up to 8 little-endian bytes as a word. */
uint64_t capture_load_word(const unsigned char *bytes, unsigned size);
/* Returns the bytes of an object at `offset` from sp at entry, or NULL if unreadable. */
const unsigned char *capture_stack(struct capture *c, int32_t offset, unsigned size);
/* Read the word at a place, cut and extended. Return false, with 0, if that is not possible. */
bool capture_fetch_location(struct capture *c, const struct capture_location *location,
			    uint64_t *word);
bool capture_fetch(struct capture *c, const struct capture_op *op, uint64_t *word);
/*
 * Reads up to `want` bytes at `address`, to the first NUL if `nul_ends`; then *ended is set and the
 * NUL is not counted. Returns the number of bytes. If it is less than `want` and *ended is not set,
 * the rest is unreadable.
 */
size_t capture_load(const struct capture *c, uint64_t address, unsigned char *to, size_t want,
		    bool nul_ends, bool *ended);
/* Reads an integer of up to 8 bytes from memory. Returns false, with 0, if unreadable. */
bool capture_load_pointed(const struct capture *c, uint64_t address, unsigned size, bool is_signed,
			  uint64_t *word);
/* Requests a string for the next capture_read_chunks(). */
void capture_want_chunk(struct capture *c, uint64_t address, size_t length);
/*
 * Reads the strings requested since index `first` in one batch, if there are several: a single one
 * is better read where it belongs. Uses at most a quarter of the free buffer.
 */
void capture_read_chunks(struct capture *c, unsigned first);

#endif
