/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the lengths of strings: see conf_extent.c.
 */
#ifndef TRACER_PROTO_CONF_EXTENT_H
#define TRACER_PROTO_CONF_EXTENT_H

#include "proto/conf_type.h"

/*
 * Parse a length, or an extent (a length, or up to the first zero), and store it in `type` (enum
 * string_length). Return false if an error was reported.
 */
bool conf_parse_length(struct conf_parser *parser, struct type *type);
bool conf_parse_extent(struct conf_parser *parser, struct type *type);
/* Makes parameter `number`, from 1, the length; 0 is the result. */
void conf_set_argument(struct type *type, uint32_t number);
/* Returns true if the token is PREFIX and a number up to `most`, and stores the number. */
bool conf_numbered(const struct conf_token *token, const char *prefix, uint32_t most,
		   uint32_t *number);

#endif
