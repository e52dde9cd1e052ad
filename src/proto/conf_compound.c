/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the types of .conf files that have a syntax of their own:
 *
 *   string, format        conf_string.c
 *   struct, union         struct "(" [ member { "," member } [ "," "..." ] ] ")"
 *   member                type [ NAME ] [ ":" NUMBER ]
 *   array                 array "(" type "," extent ")"
 *   enum                  enum [ "[" type "]" ] "(" NAME [ "=" NUMBER ] { "," … } ")"
 *   bitset                bitset [ "[" type "]" ] "(" NAME "=" NUMBER [ "of" NUMBER ] { "," … } ")"
 *   sockaddr              sockaddr "(" extent ")"
 *   bitvec                bitvec "[" length "]" | bitvec [ "(" type ")" ]
 *   lenses                hex, oct, octal, bin, bool, bitvec, guess, hide: NAME [ "(" type ")" ]
 *   extent, length        conf_extent.c
 *
 * These words are ordinary names where no parenthesis or bracket follows: functions, parameters and
 * typedefs may have them.
 *
 * A lens on a number changes the type of the number. A lens on another type applies to the numbers
 * in it or behind it: hex(int*) is a pointer to a hex(int). bitvec takes any object for a row of
 * bytes. A struct keeps its lens, and the renderer applies it to members without a lens. Giving
 * each member a new type instead would take time and memory for every use of the struct, and might
 * not terminate.
 *
 * sockaddr(…) is an array of bytes with a lens of its own. If a file defines a type sockaddr, that
 * type is used.
 */
#include "proto/conf_compound.h"

#include "base/vec.h"
#include "proto/conf.h"
#include "proto/conf_extent.h"
#include "proto/conf_string.h"
#include "proto/conf_type.h"

#include <string.h>

static bool is_text_of(const struct conf_token *token, const char *word)
{
	return token->kind == TOKEN_NAME && token->length == strlen(word) &&
	       memcmp(token->text, word, token->length) == 0;
}

/* ------------------------------------------------------------------ lenses */

static const struct type *failed(struct conf_parser *parser, const struct conf_token *token,
				 const char *expected)
{
	conf_fail_at(parser, token, expected);
	return NULL;
}

/* Makes the array of characters that a string points to. */
static const struct type *characters_of(struct conf_parser *parser, const struct type *string)
{
	struct type array = {.kind = TYPE_ARRAY,
			     .length_from = string->length_from,
			     .length = string->length,
			     .zero_ends = string->zero_ends ||
					  string->length_from == STRING_CONSTANT,
			     .result_ends = string->result_ends,
			     .if_success = string->if_success,
			     .target = protolib_own_type("char")};

	type_complete(&array);
	return conf_own(parser, &array);
}

/*
 * Puts a lens on a type of numbers, or on the numbers in or behind it. Returns NULL if the type
 * cannot have a lens. Text inside of another type stays text. `is_outer`: this type is not inside
 * of another.
 */
static const struct type *with_lens(struct conf_parser *parser, const struct type *type,
				    enum type_lens lens, bool is_outer)
{
	const bool is_row = lens == LENS_BITVEC &&
			    (type->kind == TYPE_ARRAY || type->kind == TYPE_STRUCT);
	struct type changed = *type;

	if (type->kind == TYPE_VOID || type->kind == TYPE_FORMAT ||
	    (type->kind == TYPE_STRUCT && !type->is_defined))
		return NULL;
	if (type->kind == TYPE_STRING || (type->is_wide && !is_row))
		return type;
	if (type->kind == TYPE_STRUCT || is_row) {
		changed.lens = (uint8_t)lens;
	} else if (type->target) {
		if (is_outer && type->lens == LENS_TEXT) {
			changed.lens = LENS_DEFAULT;
			changed.zero_ends |= type->length_from == STRING_CONSTANT;
		}
		is_outer = is_outer && type->kind == TYPE_POINTER;
		changed.target = with_lens(parser, type->target, lens, is_outer);
		if (!changed.target)
			return NULL;
	} else {
		changed = type_with_lens(type, lens);
	}
	return conf_own(parser, &changed);
}

const struct type *conf_with_lens(struct conf_parser *parser, const struct type *type,
				  enum type_lens lens, const struct conf_token *token)
{
	const struct type *made;

	if (type->kind == TYPE_STRING)
		type = conf_pointer(parser, characters_of(parser, type));
	made = with_lens(parser, type, lens, true);
	return made ? made : failed(parser, token, "a type of objects of known size");
}

static const struct type *hidden(struct conf_parser *parser, const struct type *type,
				 const struct conf_token *token)
{
	struct type changed = *type;

	if (type->kind == TYPE_VOID || type->kind == TYPE_FORMAT ||
	    (type->kind == TYPE_STRUCT && !type->is_defined))
		return failed(parser, token, "a type of objects of known size");
	changed.is_hidden = true;
	return conf_own(parser, &changed);
}

static const struct type *parse_bare(struct conf_parser *parser)
{
	if (!conf_expect(parser, '('))
		return NULL;
	const struct conf_token inner = parser->token;
	const struct type *type = conf_parse_type(parser);

	if (!type || !conf_expect(parser, ')'))
		return NULL;
	if (type->kind != TYPE_STRUCT || !type->is_defined || type->is_union)
		return failed(parser, &inner, "a structure");
	struct type changed = *type;

	changed.is_bare = true;
	return conf_own(parser, &changed);
}

/* The word for `lens`, and '(', were taken. */
static const struct type *parse_lens(struct conf_parser *parser, enum type_lens lens)
{
	const struct conf_token inner = parser->token;
	const struct type *type = conf_parse_type(parser);

	if (!type || !conf_expect(parser, ')'))
		return NULL;
	/* For `hide` the table of keywords has LENS_DEFAULT. */
	return lens == LENS_DEFAULT ? hidden(parser, type, &inner)
				    : conf_with_lens(parser, type, lens, &inner);
}

/* ------------------------------------------------------------------ array, struct, enum */

/* `array` was taken. */
static const struct type *parse_array(struct conf_parser *parser)
{
	struct type type = {.kind = TYPE_ARRAY};

	if (!conf_expect(parser, '('))
		return NULL;
	const struct conf_token inner = parser->token;

	type.target = conf_parse_object_type(parser);
	if (!type.target)
		return NULL;
	if (!type_size(type.target, 8))
		return failed(parser, &inner, "a type of objects of known size");
	if (!conf_expect(parser, ',') || !conf_parse_extent(parser, &type) ||
	    !conf_expect(parser, ')'))
		return NULL;
	type_complete(&type);
	return conf_own(parser, &type);
}

/* `sockaddr` was taken. */
static const struct type *parse_address(struct conf_parser *parser)
{
	struct type type = {
		.kind = TYPE_ARRAY, .lens = LENS_ADDRESS, .target = protolib_own_type("uchar")};

	if (!conf_expect(parser, '(') || !conf_parse_extent(parser, &type) ||
	    !conf_expect(parser, ')'))
		return NULL;
	type_complete(&type);
	return conf_own(parser, &type);
}

/* `bitvec` was taken, and '[' is next. Makes a pointer, as string[...] does. */
static const struct type *parse_bit_vector(struct conf_parser *parser)
{
	struct type type = {.kind = TYPE_ARRAY,
			    .lens = LENS_BITVEC,
			    .in_bits = true,
			    .target = protolib_own_type("uchar")};

	conf_take(parser);
	if (!conf_parse_length(parser, &type) || !conf_expect(parser, ']'))
		return NULL;
	if (type.length_from == STRING_CONSTANT && !type.result_ends) {
		type.length = type.length / 8 + (type.length % 8 != 0);
		type.in_bits = false;
	}
	type_complete(&type);
	return conf_pointer(parser, conf_own(parser, &type));
}

/* Parses the width of a bit-field; ':' was taken. */
static bool parse_bits_of(struct conf_parser *parser, struct type_member *member,
			  const struct conf_token *type)
{
	uint64_t most = 8ULL * type_size(member->type, 8);

	if (member->type->kind != TYPE_INT)
		return conf_fail_at(parser, type, "an integer type for a bit-field");
	if (parser->token.kind != TOKEN_NUMBER || !parser->token.number ||
	    parser->token.number > most)
		return conf_fail(parser, "as many bits as the type has, or less");
	member->bits = (uint8_t)parser->token.number;
	conf_take(parser);
	return true;
}

/* Parses "...", which must be followed by ')'. */
static bool parse_rest(struct conf_parser *parser)
{
	parser->is_partial = true;
	for (unsigned i = 0; i < 3; i++)
		if (!conf_expect(parser, '.'))
			return false;
	return conf_at_mark(parser, ')') || conf_fail(parser, "')'");
}

static bool parse_member(struct conf_parser *parser, struct vec *members)
{
	if (conf_at_mark(parser, '.'))
		return parse_rest(parser);
	const struct conf_token type = parser->token;
	struct type_member member = {.type = conf_parse_object_type(parser)};

	if (!member.type)
		return false;
	if (parser->token.kind == TOKEN_NAME && !conf_is_c_word(&parser->token)) {
		member.name = protolib_text(parser->lib, parser->token.text, parser->token.length);
		conf_take(parser);
	}
	if (conf_at_mark(parser, ':')) {
		conf_take(parser);
		if (!parse_bits_of(parser, &member, &type))
			return false;
	}
	vec_push(members, &member);
	return true;
}

/* Parses items up to the closing parenthesis, which is taken. */
static bool parse_list(struct conf_parser *parser, struct vec *items,
		       bool (*parse)(struct conf_parser *, struct vec *))
{
	while (parse(parser, items)) {
		if (conf_at_mark(parser, ')')) {
			conf_take(parser);
			return true;
		}
		if (!conf_at_mark(parser, ','))
			return conf_fail(parser, "',' or ')'");
		conf_take(parser);
	}
	return false;
}

/* Checks that the members that are lengths are integers, and no bit-fields. */
static bool check_elements(struct conf_parser *parser, const struct type_member *members,
			   uint32_t count, uint64_t elements, const struct conf_token *token)
{
	for (uint32_t i = 0; i < CONF_ELEMENTS_MAX; i++) {
		if (!(elements >> i & 1))
			continue;
		if (i >= count || members[i].type->kind != TYPE_INT || members[i].bits)
			return conf_fail_at(parser, token,
					    "integers as the members that are lengths");
	}
	return true;
}

/* `struct` or `union` and '(' were taken. */
static const struct type *parse_members(struct conf_parser *parser, const struct conf_token *token,
					bool is_union)
{
	struct type type = {.kind = TYPE_STRUCT, .is_union = is_union};
	struct type_member *copy = NULL;
	struct vec members;
	bool fine = true;

	vec_init(&members, sizeof(struct type_member));
	if (conf_at_mark(parser, ')'))
		conf_take(parser);
	else
		fine = parse_list(parser, &members, parse_member);
	fine = fine && check_elements(parser, members.items, (uint32_t)members.count,
				      parser->elements, token);
	if (fine && members.count) {
		copy = protolib_alloc(parser->lib, members.count * sizeof *copy);
		memcpy(copy, members.items, members.count * sizeof *copy);
	}
	type.is_partial = parser->is_partial || (is_union && members.count > 1);
	if (fine)
		type_lay_out(&type, copy, (uint32_t)members.count);
	vec_deinit(&members);
	return fine ? conf_own(parser, &type) : NULL;
}

/* `struct` or `union` was taken. */
static const struct type *parse_struct(struct conf_parser *parser, bool is_union)
{
	const struct conf_token token = parser->token;
	const uint64_t elements = parser->elements;
	const bool in_struct = parser->in_struct, is_partial = parser->is_partial;

	if (!conf_expect(parser, '('))
		return NULL;
	parser->in_struct = true;
	parser->elements = 0;
	parser->is_partial = false;
	const struct type *type = parse_members(parser, &token, is_union);

	parser->in_struct = in_struct;
	parser->elements = elements;
	parser->is_partial = is_partial;
	return type;
}

static bool parse_value(struct conf_parser *parser, int64_t *value)
{
	bool minus = conf_at_mark(parser, '-');

	if (minus)
		conf_take(parser);
	if (parser->token.kind != TOKEN_NUMBER)
		return conf_fail(parser, "a number");
	*value = (int64_t)(minus ? -parser->token.number : parser->token.number);
	conf_take(parser);
	return true;
}

static bool parse_enumerator(struct conf_parser *parser, struct vec *names)
{
	const struct type_name *last = names->count ? vec_at(names, names->count - 1) : NULL;
	struct type_name name = {.value = last ? (int64_t)((uint64_t)last->value + 1) : 0};

	if (parser->token.kind != TOKEN_NAME)
		return conf_fail(parser, "the name of a value");
	name.name = protolib_text(parser->lib, parser->token.text, parser->token.length);
	conf_take(parser);
	if (conf_at_mark(parser, '=')) {
		conf_take(parser);
		if (!parse_value(parser, &name.value))
			return false;
	}
	vec_push(names, &name);
	return true;
}

/* Parses the type in enum[TYPE](…); int if there is none. */
static const struct type *parse_enum_base(struct conf_parser *parser, enum type_lens lens)
{
	if (!conf_at_mark(parser, '['))
		return protolib_own_type("int");
	conf_take(parser);
	const struct conf_token inner = parser->token;
	const struct type *type = conf_parse_type(parser);

	if (!type || !conf_expect(parser, ']'))
		return NULL;
	return type->kind == TYPE_INT || (lens == LENS_ENUM && type->lens == LENS_FUNCTION)
		       ? type
		       : failed(parser, &inner,
				lens == LENS_ENUM ? "an integer type or funcptr"
						  : "an integer type");
}

/*
 * Parses NAME=VALUE, or NAME=VALUE of FIELD, where VALUE is one of the values of the bits in FIELD.
 */
static bool parse_bits(struct conf_parser *parser, struct vec *names)
{
	if (!parse_enumerator(parser, names))
		return false;
	struct type_name *name = vec_at(names, names->count - 1);
	int64_t field = name->value;

	if (conf_at_name(parser, "of")) {
		conf_take(parser);
		if (!parse_value(parser, &field))
			return false;
	}
	name->field = (uint64_t)field;
	return true;
}

/* `enum` or `bitset` was taken. */
static const struct type *parse_names(struct conf_parser *parser, enum type_lens lens)
{
	const struct type *base = parse_enum_base(parser, lens);
	struct vec names;

	if (!base || !conf_expect(parser, '('))
		return NULL;
	vec_init(&names, sizeof(struct type_name));
	bool fine = true;
	struct type type = *base;

	if (conf_at_mark(parser, ')'))
		conf_take(parser);
	else
		fine = parse_list(parser, &names,
				  lens == LENS_BITSET ? parse_bits : parse_enumerator);

	if (fine) {
		struct type_name *copy = protolib_alloc(parser->lib,
							names.count * sizeof(struct type_name));

		if (names.count)
			memcpy(copy, names.items, names.count * sizeof *copy);
		type.rest_in_octal = base->lens == LENS_OCT;
		type.lens = (uint8_t)lens;
		type.names = copy;
		type.count = (uint32_t)names.count;
	}
	vec_deinit(&names);
	return fine ? conf_own(parser, &type) : NULL;
}

/* ------------------------------------------------------------------ all of them */

enum keyword {
	KEYWORD_LENS,
	KEYWORD_STRING,
	KEYWORD_FORMAT,
	KEYWORD_ARRAY,
	KEYWORD_STRUCT,
	KEYWORD_UNION,
	KEYWORD_NAMES,
	KEYWORD_ADDRESS,
	KEYWORD_BARE
};

/* `hide` has LENS_DEFAULT. */
static const struct keyword_entry {
	const char *word;
	enum keyword keyword;
	enum type_lens lens;
} keywords[] = {
	{"hex", KEYWORD_LENS, LENS_HEX},	  {"oct", KEYWORD_LENS, LENS_OCT},
	{"octal", KEYWORD_LENS, LENS_OCT},	  {"bin", KEYWORD_LENS, LENS_BIN},
	{"bool", KEYWORD_LENS, LENS_BOOL},	  {"bitvec", KEYWORD_LENS, LENS_BITVEC},
	{"guess", KEYWORD_LENS, LENS_GUESS},	  {"hide", KEYWORD_LENS, LENS_DEFAULT},
	{"string", KEYWORD_STRING, LENS_DEFAULT}, {"format", KEYWORD_FORMAT, LENS_DEFAULT},
	{"array", KEYWORD_ARRAY, LENS_DEFAULT},	  {"struct", KEYWORD_STRUCT, LENS_DEFAULT},
	{"union", KEYWORD_UNION, LENS_DEFAULT},	  {"enum", KEYWORD_NAMES, LENS_ENUM},
	{"bitset", KEYWORD_NAMES, LENS_BITSET},	  {"sockaddr", KEYWORD_ADDRESS, LENS_ADDRESS},
	{"bare", KEYWORD_BARE, LENS_DEFAULT},
};

static const struct keyword_entry *find_keyword(const struct conf_token *token)
{
	for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
		if (is_text_of(token, keywords[i].word))
			return &keywords[i];
	return NULL;
}

bool conf_is_word(const struct conf_token *token)
{
	return find_keyword(token) != NULL;
}

bool conf_is_keyword(const struct conf_token *token)
{
	const struct keyword_entry *entry = find_keyword(token);

	if (!entry || entry->keyword == KEYWORD_ADDRESS || entry->keyword == KEYWORD_BARE)
		return false;
	return entry->keyword != KEYWORD_LENS || entry->lens == LENS_HEX || entry->lens == LENS_OCT;
}

/*
 * Returns true if the word has its meaning in the language here. Else it is the name of the type
 * `named`.
 */
static bool is_used(const struct conf_parser *parser, const struct keyword_entry *entry,
		    const struct type *named)
{
	if (!named)
		return true;
	return entry->keyword != KEYWORD_ADDRESS &&
	       (conf_at_mark(parser, '(') || conf_at_mark(parser, '['));
}

const struct type *conf_parse_compound(struct conf_parser *parser, bool *found)
{
	const struct conf_token token = parser->token;
	const struct keyword_entry *entry = find_keyword(&token);
	const struct type *named = NULL;
	uint32_t number = 0;

	*found = true;
	if (token.kind == TOKEN_NAME)
		named = protolib_type(parser->lib, token.text, token.length);
	if (!named && conf_numbered(&token, "string", CONF_PARAMETERS_MAX, &number))
		return conf_parse_numbered_string(parser, number);
	*found = entry != NULL;
	if (!entry)
		return NULL;
	conf_take(parser);
	if (!is_used(parser, entry, named))
		return named;
	switch (entry->keyword) {
	case KEYWORD_STRING:
		return conf_parse_string(parser);
	case KEYWORD_FORMAT:
		return conf_parse_format(parser);
	case KEYWORD_ARRAY:
		return parse_array(parser);
	case KEYWORD_STRUCT:
	case KEYWORD_UNION:
		return parse_struct(parser, entry->keyword == KEYWORD_UNION);
	case KEYWORD_NAMES:
		return parse_names(parser, entry->lens);
	case KEYWORD_ADDRESS:
		return parse_address(parser);
	case KEYWORD_BARE:
		return parse_bare(parser);
	case KEYWORD_LENS:
		break;
	}
	if (entry->lens == LENS_BITVEC && conf_at_mark(parser, '['))
		return parse_bit_vector(parser);
	return conf_expect(parser, '(') ? parse_lens(parser, entry->lens) : NULL;
}
