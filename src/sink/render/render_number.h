/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Renders numbers, characters, pointers and strings, for render.c and render_object.c. */
#ifndef TRACER_SINK_RENDER_RENDER_NUMBER_H
#define TRACER_SINK_RENDER_RENDER_NUMBER_H

#include "sink/render/render.h"

/* Writes a pointer in hexadecimal; NULL as nil. */
void render_pointer(struct outbuf *out, uint64_t pointer);
/*
 * Renders the low `size` bytes of a word as an integer or a pointer of this type. `utf8`: as in
 * struct render_options.
 */
void render_bits(struct outbuf *out, const struct type *type, uint64_t word, unsigned size,
		 bool utf8);
/*
 * Writes the name that LENS_ENUM has for a value. Returns false, with nothing written, if there is
 * none.
 */
bool render_value_name(struct outbuf *out, const struct type *type, uint64_t word, unsigned size);
/*
 * Renders a floating-point number of 4 or 8 bytes in `word`, or of 10 at `bytes`: 1.500000, or with
 * more digits if these do not distinguish it from other numbers (3.141592653589793, 1e-10).
 */
void render_float(struct outbuf *out, const struct type *type, uint64_t word, unsigned size,
		  const unsigned char *bytes);
/*
 * Loads a floating-point number from there. Returns false if the size is none that it can have.
 */
bool render_load_float(uint64_t word, unsigned size, const unsigned char *bytes,
		       long double *number);
/* Renders a bit vector in bytes: the numbers of its set bits. */
void render_bits_of(struct outbuf *out, const unsigned char *bytes, size_t length);
/* Renders an integer of 16 bytes, in hexadecimal. */
void render_wide(struct outbuf *out, const unsigned char *bytes);
/*
 * Renders characters of `size` bytes in quotes; a character that is not complete is dropped.
 * `is_cut`: the string was longer.
 */
void render_text(struct outbuf *out, const unsigned char *bytes, size_t count, unsigned size,
		 bool is_cut, bool utf8);

#endif
