/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings and numbers of JSON (RFC 8259): see json_text.c. */
#ifndef TRACER_SINK_FORMS_JSON_TEXT_H
#define TRACER_SINK_FORMS_JSON_TEXT_H

#include "sink/render/outbuf.h"

/* Writes bytes as a JSON string in quotes. */
void json_text_put(struct outbuf *out, const void *bytes, size_t length);
/*
 * Writes bytes as the same characters, without quotes, and with nothing escaped; a NUL is written
 * like a byte that belongs to no character.
 */
void json_text_put_plain(struct outbuf *out, const void *bytes, size_t length);
/* As json_text_put(), of a text that ends with a NUL; null for NULL. */
void json_text_put_name(struct outbuf *out, const char *text);
/* Writes an integer: as a number, or as a string if JavaScript would lose some of its bits. */
void json_text_put_signed(struct outbuf *out, int64_t number);
void json_text_put_unsigned(struct outbuf *out, uint64_t number);
/* Writes a pointer as a string in hexadecimal; null for NULL. */
void json_text_put_pointer(struct outbuf *out, uint64_t pointer);
/* Writes a floating-point number; as a string if it is none that JSON has. */
void json_text_put_real(struct outbuf *out, double number);

#endif
