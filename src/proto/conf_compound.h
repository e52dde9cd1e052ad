/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the types of .conf files that have a syntax of their own: string: see conf_compound.c.
 */
#ifndef TRACER_PROTO_CONF_COMPOUND_H
#define TRACER_PROTO_CONF_COMPOUND_H

#include "proto/conf_type.h"

/*
 * Parses a type with a syntax of its own (conf_compound.c), without the '*' behind it. Stores false
 * in *found, and takes nothing, if the next token begins no such type. Returns NULL if an error was
 * reported.
 */
const struct type *conf_parse_compound(struct conf_parser *parser, bool *found);
/* Returns true for a word that conf_parse_compound() reserves, and that is not a type's name. */
bool conf_is_keyword(const struct conf_token *token);
/* Returns true for any word that conf_parse_compound() knows. */
bool conf_is_word(const struct conf_token *token);
/*
 * Puts a lens on a type. `token`: where the type was. Returns NULL, with an error reported, if the
 * type takes no lens.
 */
const struct type *conf_with_lens(struct conf_parser *parser, const struct type *type,
				  enum type_lens lens, const struct conf_token *token);

#endif
