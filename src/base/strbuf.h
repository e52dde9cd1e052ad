/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growable text buffer. Zero-initialised, it is empty. `text` is NUL-terminated once something
 * was added.
 */
#ifndef TRACER_BASE_STRBUF_H
#define TRACER_BASE_STRBUF_H

#include <stddef.h>

struct strbuf {
	char *text; /* owned; NULL until something is added */
	size_t length;
	size_t capacity;
};

void strbuf_deinit(struct strbuf *buffer);
void strbuf_clear(struct strbuf *buffer); /* empties it but keeps the memory */
void strbuf_add(struct strbuf *buffer, const char *text);
void strbuf_add_bytes(struct strbuf *buffer, const void *bytes, size_t length);
void strbuf_add_char(struct strbuf *buffer, char c);
void strbuf_add_repeated(struct strbuf *buffer, char c, size_t count);
void strbuf_printf(struct strbuf *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
