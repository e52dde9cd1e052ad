/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parser of .conf files: its state, shared by the parts for types and for declarations. */
#ifndef TRACER_PROTO_CONF_TYPE_H
#define TRACER_PROTO_CONF_TYPE_H

#include "proto/conf_lexer.h"
#include "proto/protolib.h"

/* More parameters than this are an error: a capture plan has no room for them. */
enum { CONF_PARAMETERS_MAX = 32 };

struct conf_parser {
	struct conf_lexer lexer;
	struct conf_token token; /* the next one, not yet taken */
	struct protolib *lib;
	const char *file_name;
	conf_error *error;
	void *context;
	int errors;
	bool said_unclosed; /* that a comment does not end was reported */
};

/* Takes the token: the next one is looked at from now on. */
void conf_take(struct conf_parser *parser);
/* Whether the next token is this punctuation mark or this name. */
bool conf_at_mark(const struct conf_parser *parser, char mark);
bool conf_at_name(const struct conf_parser *parser, const char *name);
/* Takes a punctuation mark; otherwise reports that it was expected and returns false. */
bool conf_expect(struct conf_parser *parser, char mark);
/* Reports "expected EXPECTED, found TOKEN" at the token's line. Always false. */
bool conf_fail_at(struct conf_parser *parser, const struct conf_token *token, const char *expected);
/* The same of the next token. */
bool conf_fail(struct conf_parser *parser, const char *expected);

/* Parses a type, owned by the library; NULL when an error was reported. */
const struct type *conf_parse_type(struct conf_parser *parser);
/* Whether the token is a word that C types are made of (unsigned, int, …). */
bool conf_is_c_word(const struct conf_token *token);

#endif
