/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses what .conf files have expressions in: spans, and `fails` behind a prototype. */
#ifndef TRACER_PROTO_CONF_SPAN_H
#define TRACER_PROTO_CONF_SPAN_H

#include "proto/conf.h"

/* Parses a span, up to its end; the present token is `span`. Returns false on an error. */
bool conf_parse_span(struct conf_parser *parser);
/*
 * Parses `fails(EXPRESSION)`; the present token is `fails`. Returns the text of the expression,
 * owned by the library, or NULL on an error.
 */
const char *conf_parse_fails(struct conf_parser *parser);

#endif
