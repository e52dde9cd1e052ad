/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parser of .conf files: its state, shared by the files for types and for declarations. */
#ifndef TRACER_PROTO_CONF_TYPE_H
#define TRACER_PROTO_CONF_TYPE_H

#include "proto/conf_lexer.h"
#include "proto/names.h"
#include "proto/protolib.h"

enum {
	CONF_PARAMETERS_MAX = 32, /* more are an error: a capture plan has no room for them */
	/* the depth of nested types, which bounds recursion; more is an error */
	CONF_LEVELS_MAX = 64,
	CONF_ELEMENTS_MAX = 64 /* the first members of a struct, which can be lengths */
};

struct conf_parser {
	struct conf_lexer lexer;
	struct conf_token token; /* the next token, not yet taken */
	struct protolib *lib;
	const char *file_name;
	conf_error *error;
	void *context;
	int errors;
	bool said_unclosed; /* an unclosed comment was reported */
	struct names given; /* names that this file defined by typedef (conf.c) */
	unsigned levels;    /* of nesting, of the type that is being parsed */
	bool in_struct;	    /* inside of a struct: members may be lengths */
	uint64_t elements;  /* a bit for each member that is a length */
	bool is_partial;    /* the struct ended in "..." */
};

/* A position to which the parser can go back: some words need a second token of look-ahead. */
struct conf_place {
	struct conf_lexer lexer;
	struct conf_token token;
};

/* Parses a type, owned by the library. Returns NULL if an error was reported. */
const struct type *conf_parse_type(struct conf_parser *parser);
/*
 * Like conf_parse_type(), for a type whose objects have a size: not void, not an undefined struct.
 */
const struct type *conf_parse_object_type(struct conf_parser *parser);
/* Returns a copy owned by the library. The parser may change it before it is used. */
struct type *conf_own(struct conf_parser *parser, const struct type *type);
/* Makes a pointer to a type. */
const struct type *conf_pointer(struct conf_parser *parser, const struct type *target);
/* Converts the type of a parameter or a result: as in C, an array becomes a pointer to it. */
const struct type *conf_decay(struct conf_parser *parser, const struct type *type);
/* Returns true for a word that types of C consist of (unsigned, int, …). */
bool conf_is_c_word(const struct conf_token *token);

#endif
