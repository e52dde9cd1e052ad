/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The growable text buffer. */
#include "base/strbuf.h"

#include "base/xalloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `more` bytes and a NUL. Returns the end of the text. */
static char *reserve(struct strbuf *buffer, size_t more)
{
	if (buffer->length + more + 1 > buffer->capacity) {
		buffer->capacity = (buffer->length + more + 1) * 2;
		buffer->text = xrealloc(buffer->text, buffer->capacity);
	}
	return buffer->text + buffer->length;
}

void strbuf_deinit(struct strbuf *buffer)
{
	free(buffer->text);
	*buffer = (struct strbuf){0};
}

void strbuf_clear(struct strbuf *buffer)
{
	buffer->length = 0;
	if (buffer->text)
		buffer->text[0] = '\0';
}

void strbuf_add_bytes(struct strbuf *buffer, const void *bytes, size_t length)
{
	char *end = reserve(buffer, length);

	if (length)
		memcpy(end, bytes, length);
	end[length] = '\0';
	buffer->length += length;
}

void strbuf_add(struct strbuf *buffer, const char *text)
{
	strbuf_add_bytes(buffer, text, strlen(text));
}

void strbuf_add_char(struct strbuf *buffer, char c)
{
	strbuf_add_bytes(buffer, &c, 1);
}

void strbuf_add_repeated(struct strbuf *buffer, char c, size_t count)
{
	char *end = reserve(buffer, count);

	memset(end, c, count);
	end[count] = '\0';
	buffer->length += count;
}

void strbuf_printf(struct strbuf *buffer, const char *format, ...)
{
	va_list arguments;
	va_list again;

	va_start(arguments, format);
	va_copy(again, arguments);
	char *end = reserve(buffer, 64);
	size_t room = buffer->capacity - buffer->length;
	int length = vsnprintf(end, room, format, arguments);

	if (length >= 0 && (size_t)length >= room)
		length = vsnprintf(reserve(buffer, (size_t)length), (size_t)length + 1, format,
				   again);
	if (length > 0)
		buffer->length += (size_t)length;
	va_end(again);
	va_end(arguments);
}
