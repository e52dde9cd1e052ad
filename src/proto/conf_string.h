/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses types of text in .conf files: string string [ "[" extent "]" | "(" type ")" ] | stringN
 * (string[argN]) format format [ "[" extent "]" | "(" type ")" ] string(TYPE) is one of these: see
 * conf_string.c.
 */
#ifndef TRACER_PROTO_CONF_STRING_H
#define TRACER_PROTO_CONF_STRING_H

#include "proto/conf_type.h"

/*
 * The first two parse what follows `string` or `format`, which was taken. The third
 * parses stringN, which was not taken.
 */
const struct type *conf_parse_string(struct conf_parser *parser);
const struct type *conf_parse_format(struct conf_parser *parser);
const struct type *conf_parse_numbered_string(struct conf_parser *parser, uint32_t number);

#endif
