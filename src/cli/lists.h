/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Option arguments that are lists of words. */
#ifndef TRACER_CLI_LISTS_H
#define TRACER_CLI_LISTS_H

#include "sink/sink.h"

#include <stdint.h>

enum { FRAMES_MAX = 1000 }; /* of a stack that is shown */

/*
 * Adds columns, such as "time,calls,name", to those of the table of -c. Returns NULL, or what the
 * argument should have been: "a list of ...".
 */
const char *lists_add_columns(struct output_options *output, const char *argument);

/*
 * Sets how many frames of stacks are shown ("12"), or of which kind ("script", "native"); a kind
 * without a number shows all of them. Returns NULL, or what the argument should have been.
 */
const char *lists_set_where(struct output_options *output, const char *argument);

/*
 * Adds domains to *mask (enum session_debug): "events,modules", "all" or, as in ltrace, an octal
 * number. Returns NULL, or what the argument should have been.
 */
const char *lists_add_domains(unsigned *mask, const char *argument);

/*
 * Reads a decimal number that consists of digits only. False if it is not from `minimum` to
 * `maximum`.
 */
bool lists_parse_number(const char *text, size_t length, unsigned minimum, unsigned maximum,
			unsigned *number);

/*
 * Reads a time: digits, perhaps with a point and more digits, and us, ms, s, m or h; without a unit
 * they are seconds. Stores ns. False if it is none, is 0, or is longer than a year.
 */
bool lists_parse_time(const char *text, uint64_t *ns);

/*
 * Reads a size: digits, and perhaps k, M or G (of 1,024). False if it is none, or too large.
 */
bool lists_parse_size(const char *text, uint64_t *size);

/*
 * Reads a time of at least 1 ms, and perhaps a comma and a number above 0 ("500ms,10"), which is
 * otherwise 0. Returns NULL, or what the argument should have been.
 */
const char *lists_set_interval(uint64_t *ns, unsigned *count, const char *argument);

/*
 * Reads "1/N", with N from 1 to 1,000,000,000, and stores N. Returns NULL, or what the argument
 * should have been.
 */
const char *lists_set_sample(uint64_t *n, const char *argument);

/* Reads how often --top is refreshed. Returns NULL, or what the argument should have been. */
const char *lists_set_top(uint64_t *ns, const char *argument);

#endif
