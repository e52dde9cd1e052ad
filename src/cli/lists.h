/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of options that are lists of words. */
#ifndef TRACER_CLI_LISTS_H
#define TRACER_CLI_LISTS_H

#include "output/writer.h"

/*
 * Adds "time,calls,name" to the columns of the table of -c. NULL, or what the argument should have
 * been: "a list of ...".
 */
const char *lists_add_columns(struct output_options *output, const char *argument);

/*
 * Adds to *mask (enum session_debug) what "events,modules", "all" or, as for ltrace, an octal
 * number names. NULL, or what the argument should have been.
 */
const char *lists_add_domains(unsigned *mask, const char *argument);

/* Reads a decimal number of digits only, from `minimum` to `maximum`. */
bool lists_parse_number(const char *text, size_t length, unsigned minimum, unsigned maximum,
			unsigned *number);

#endif
