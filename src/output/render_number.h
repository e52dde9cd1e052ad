/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers, characters, pointers and strings as text: what render.c and render_object.c share. */
#ifndef TRACER_OUTPUT_RENDER_NUMBER_H
#define TRACER_OUTPUT_RENDER_NUMBER_H

#include "output/render.h"

/* Hexadecimal; NULL is nil. */
void render_pointer(struct outbuf *out, uint64_t pointer);
/*
 * The low `size` bytes of a word, as an object of this type: an integer or a pointer; `utf8`: as in
 * render_options.
 */
void render_bits(struct outbuf *out, const struct type *type, uint64_t word, unsigned size,
		 bool utf8);
/* The name that LENS_ENUM has for a value; false, with nothing added: none. */
bool render_value_name(struct outbuf *out, const struct type *type, uint64_t word, unsigned size);
/*
 * A floating-point number of 4 or 8 bytes in `word`, or of 10 at `bytes`: 1.500000, or with more
 * digits if these do not tell it from others (3.141592653589793, 1e-10).
 */
void render_float(struct outbuf *out, const struct type *type, uint64_t word, unsigned size,
		  const unsigned char *bytes);
/* A bit vector in bytes: the numbers of the bits that are set. */
void render_bits_of(struct outbuf *out, const unsigned char *bytes, size_t length);
/* An integer of 16 bytes, in hexadecimal. */
void render_wide(struct outbuf *out, const unsigned char *bytes);
/* Characters of `size` bytes in quotes, of which none is cut in two; `is_cut`: there are more. */
void render_text(struct outbuf *out, const unsigned char *bytes, size_t count, unsigned size,
		 bool is_cut, bool utf8);

/* What wait(2) says of a child (render_status.c). */
void render_status(struct outbuf *out, uint32_t status);

/*
 * A socket address of so many bytes; of a name in it no more than `string_max` of the options
 * (render_address.c).
 */
void render_address(struct outbuf *out, const unsigned char *bytes, size_t length,
		    const struct render_options *options);

#endif
