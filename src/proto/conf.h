/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parser of .conf files: see conf.c.
 */
#ifndef TRACER_PROTO_CONF_H
#define TRACER_PROTO_CONF_H

#include "proto/conf_type.h"
#include "proto/protolib.h"

struct conf_place conf_place_of(const struct conf_parser *parser);
void conf_go_back(struct conf_parser *parser, const struct conf_place *place);
/* Takes the token; the following one becomes the next. */
void conf_take(struct conf_parser *parser);
/* Returns true if the next token is this punctuation mark, or this name. */
bool conf_at_mark(const struct conf_parser *parser, char mark);
bool conf_at_name(const struct conf_parser *parser, const char *name);
/* Returns true if the declaration ends here. Called where it may end. */
bool conf_is_over(const struct conf_parser *parser);
/* Takes a punctuation mark. If another token is next, reports it and returns false. */
bool conf_expect(struct conf_parser *parser, char mark);
/* Reports "expected EXPECTED, found TOKEN" at the token's line. Returns false. */
bool conf_fail_at(struct conf_parser *parser, const struct conf_token *token, const char *expected);
/* Reports the next token like conf_fail_at(). Returns false. */
bool conf_fail(struct conf_parser *parser, const char *expected);
/*
 * Like protolib_parse(), for text of a known length. NULs are errors like other stray bytes
 * (conf.c).
 */
int conf_parse(struct protolib *lib, const char *file_name, const char *text, size_t length,
	       conf_error *error, void *context);

#endif
