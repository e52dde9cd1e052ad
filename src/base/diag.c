/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tracer's own messages. Separate from the sinks, as every folder may report an error. */
#include "base/diag.h"

#include "base/strbuf.h"
#include "base/xalloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void diag(const char *format, ...)
{
	struct strbuf line = {0};
	char *message = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&message, format, arguments) >= 0) {
		size_t room = 4 * strlen(message) + 6;
		char *safe = xmalloc(room);

		strbuf_printf(&line, "tracer: %s\n", diag_safe(safe, room, message));
		free(safe);
		/* If stderr itself fails, there is no other way to report. */
		if (write(STDERR_FILENO, line.text, line.length) < 0)
			line.length = 0;
		strbuf_deinit(&line);
		free(message);
	}
	va_end(arguments);
}

const char *diag_safe(char *buffer, size_t size, const char *text)
{
	size_t length = 0;

	for (const unsigned char *c = (const unsigned char *)text; *c && length + 5 < size; c++) {
		if (*c >= ' ' && *c < 0x7f)
			buffer[length++] = (char)*c;
		else
			length += (size_t)snprintf(buffer + length, size - length, "\\%03o", *c);
	}
	if (size)
		buffer[length] = '\0';
	return buffer;
}
