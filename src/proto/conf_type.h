/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parser of .conf files: its state, shared by the parts for types and for declarations. */
#ifndef TRACER_PROTO_CONF_TYPE_H
#define TRACER_PROTO_CONF_TYPE_H

#include "proto/conf_lexer.h"
#include "proto/names.h"
#include "proto/protolib.h"

enum {
	CONF_PARAMETERS_MAX = 32, /* more are an error: a capture plan has no room for them */
	CONF_LEVELS_MAX = 64,	  /* types nested deeper are an error, so recursion is bounded */
	CONF_ELEMENTS_MAX = 64	  /* members of a struct that can be lengths */
};

struct conf_parser {
	struct conf_lexer lexer;
	struct conf_token token; /* the next one, not yet taken */
	struct protolib *lib;
	const char *file_name;
	conf_error *error;
	void *context;
	int errors;
	bool said_unclosed; /* that a comment does not end was reported */
	struct names given; /* by typedef, in this file (conf.c) */
	unsigned levels;    /* of the type that is being parsed */
	bool in_struct;	    /* its members may be lengths: */
	uint64_t elements;  /* bits of those that are */
	bool is_partial;    /* the struct ended in "..." */
};

/* Where a token was, to be looked at anew: two words are ahead of what they mean. */
struct conf_place {
	struct conf_lexer lexer;
	struct conf_token token;
};

struct conf_place conf_place_of(const struct conf_parser *parser);
void conf_go_back(struct conf_parser *parser, const struct conf_place *place);

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
/* The same for one whose objects have a size: no void, no struct without members yet. */
const struct type *conf_parse_object_type(struct conf_parser *parser);
/*
 * The same without what may stand behind it ('*'): words of C; and what has a syntax of its own
 * (conf_compound.c). The latter stores false in *found when the next token begins no such type.
 */
const struct type *conf_parse_compound(struct conf_parser *parser, bool *found);
/*
 * conf_string.c: what may follow `string`, or `format`, which was taken; and stringN, which was
 * not.
 */
const struct type *conf_parse_string(struct conf_parser *parser);
const struct type *conf_parse_format(struct conf_parser *parser);
const struct type *conf_parse_numbered_string(struct conf_parser *parser, uint32_t number);
/* A copy owned by the library, to be changed until it is given out. */
struct type *conf_own(struct conf_parser *parser, const struct type *type);
/* A pointer to a type. */
const struct type *conf_pointer(struct conf_parser *parser, const struct type *target);
/* What a parameter or a result of this type is: as in C, an array is a pointer to it. */
const struct type *conf_decay(struct conf_parser *parser, const struct type *type);
/* Whether the token is a word that conf_parse_compound() has for itself, and that is no type. */
bool conf_is_keyword(const struct conf_token *token);
/* Whether it is any word that conf_parse_compound() knows. */
bool conf_is_word(const struct conf_token *token);
/*
 * conf_extent.c: parses a length alone; or what says how long something is, a length or one that
 * zeros end; into the type (enum string_length).
 */
bool conf_parse_length(struct conf_parser *parser, struct type *type);
bool conf_parse_extent(struct conf_parser *parser, struct type *type);
/* The value of parameter `number`, from 1, or of the result, which is 0, is the length. */
void conf_set_argument(struct type *type, uint32_t number);
/* Whether the token is PREFIX and a number up to `most`: stores the number. */
bool conf_numbered(const struct conf_token *token, const char *prefix, uint32_t most,
		   uint32_t *number);
/* A lens put on a type, which was at `token`; NULL: it does not go there, as was reported. */
const struct type *conf_with_lens(struct conf_parser *parser, const struct type *type,
				  enum type_lens lens, const struct conf_token *token);
/* Whether the token is a word that C types are made of (unsigned, int, …). */
bool conf_is_c_word(const struct conf_token *token);

#endif
