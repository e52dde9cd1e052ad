/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages about the command line, all of one form. */
#include "cli/usage_error.h"

#include "base/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int usage_error(const char *format, ...)
{
	char message[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	diag("%s (try 'tracer --help')", message);
	return -EINVAL;
}
