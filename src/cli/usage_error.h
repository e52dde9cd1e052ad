/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages about the command line: see usage_error.c. */
#ifndef TRACER_CLI_USAGE_ERROR_H
#define TRACER_CLI_USAGE_ERROR_H

/* Prints the message and a hint on stderr, as one line. Always returns -EINVAL. */
__attribute__((format(printf, 1, 2))) int usage_error(const char *format, ...);

#endif
