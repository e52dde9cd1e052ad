/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expressions of frame descriptions, with the operators and precedences of C. All numbers are words
 * of 64 bits; comparisons and division are signed, which is right for addresses as well: those of
 * programs are positive.
 *
 *     *E  u8(E) u16(E) u32(E) i32(E)   what memory holds at address E
 *     tls(SYMBOL) tls()                the address of the thread's copy of a variable, of all
 *     tls_of(FUNCTION)                 the same of the variable that a function reads
 *     has(SYMBOL) size(SYMBOL)         what the module's symbol table says
 *     find(E, "text")                  which word of the array at E points to this text
 */
#include "unwind/script/frames_expression.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

#include <string.h>

/* What an expression with a mistake yields. */
static struct script_operand nothing(void)
{
	return operand_number(0);
}

/* Words of the thread control block (ELF Handling For Thread-Local Storage, x86-64). */
enum { TCB_DTV = 8, DTV_ENTRY_BITS = 4 };

/*
 * The address of a thread-local variable: in the static block, or in one that the thread's dynamic
 * thread vector (DTV) points to.
 */
static struct script_operand tls_address(struct frames_parser *parser, const char *symbol,
					 bool of_function)
{
	struct script_code *code = &parser->code;
	const struct script_operand module = operand_register(frames_value(
		parser, of_function ? SCRIPT_VALUE_TLS_OF_MODULE : SCRIPT_VALUE_TLS_MODULE,
		symbol));
	const struct script_operand offset = operand_register(frames_value(
		parser, of_function ? SCRIPT_VALUE_TLS_OF_OFFSET : SCRIPT_VALUE_TLS_OFFSET,
		symbol));
	const struct script_operand thread = operand_register(SCRIPT_THREAD_POINTER);
	const uint8_t block = code_temporary(code);

	code_assign(code, block, thread);
	const size_t is_static = code_jump_if_zero(code, module);
	const struct script_operand dtv = code_load(code, SCRIPT_LOAD64,
						    (struct script_operand){thread.base, TCB_DTV});
	const struct script_operand entry = code_compute(code, SCRIPT_SHL, module,
							 operand_number(DTV_ENTRY_BITS));

	code_assign(code, block,
		    code_load(code, SCRIPT_LOAD64, code_compute(code, SCRIPT_ADD, dtv, entry)));
	code_land(code, is_static);
	return code_compute(code, SCRIPT_ADD, operand_register(block), offset);
}

/*
 * tls(…), tls_of(…), has(…), size(…): parses the symbol. Returns false if the token is none of
 * these.
 */
static bool symbol_function(struct frames_parser *parser, struct script_operand *result)
{
	enum { TLS, TLS_OF, HAS, WORDS = 4 };
	static const char *const words[WORDS] = {"tls", "tls_of", "has", "size"};
	size_t i = 0;

	while (i < WORDS && !frames_at(&parser->lexer, words[i]))
		i++;
	if (i == WORDS)
		return false;
	frames_take(&parser->lexer);
	*result = nothing();
	if (!frames_expect(parser, "("))
		return true;
	const bool is_block = i == TLS && frames_at(&parser->lexer, ")");
	_cleanup_free_ char *symbol = is_block ? xstrdup("") : frames_take_name(parser, "a symbol");

	if (!symbol || !frames_expect(parser, ")"))
		return true;
	if (i == TLS || i == TLS_OF)
		*result = tls_address(parser, symbol, i == TLS_OF);
	else
		*result = operand_register(frames_value(
			parser, i == HAS ? SCRIPT_VALUE_HAS : SCRIPT_VALUE_SIZE, symbol));
	return true;
}

/* Compares memory at `address` with text and its NUL. Returns 1 if they are equal, else 0. */
static struct script_operand compare_text(struct script_code *code, struct script_operand address,
					  const char *text, size_t length)
{
	const uint8_t result = code_temporary(code);
	const unsigned next = code->next;
	size_t different[32];
	size_t count = 0;

	code_assign(code, result, operand_number(0));
	for (size_t at = 0; at <= length; count++) {
		const size_t left = length + 1 - at;
		const unsigned size = left >= 4 ? 4 : left >= 2 ? 2 : 1;
		uint64_t word = 0;

		memcpy(&word, text + at, at + size > length ? length - at : size);
		code->next = next; /* frees the temporaries of the piece before */
		different[count] = code_jump_if_zero(
			code, code_compute(code, SCRIPT_EQ,
					   code_load(code,
						     size == 4	 ? SCRIPT_LOAD32
						     : size == 2 ? SCRIPT_LOAD16
								 : SCRIPT_LOAD8,
						     code_compute(code, SCRIPT_ADD, address,
								  operand_number((int64_t)at))),
					   operand_number((int64_t)word)));
		at += size;
	}
	code_assign(code, result, operand_number(1));
	while (count)
		code_land(code, different[--count]);
	return operand_register(result);
}

/* find(ARRAY, "text"), from the parenthesis on. The loop ends where memory does, at the latest. */
static struct script_operand find_function(struct frames_parser *parser)
{
	enum { TEXT_MAX = 64 };
	struct script_code *code = &parser->code;
	const struct frames_token *token = &parser->lexer.token;
	const uint8_t index = code_temporary(code);
	const uint8_t address = code_temporary(code);

	frames_expect(parser, "(");
	code_assign(code, address, parser->failed ? nothing() : frames_expression(parser));
	frames_expect(parser, ",");
	if (token->kind != FRAMES_TEXT || !token->length || token->length > TEXT_MAX) {
		frames_fail(parser, "a text");
		return nothing();
	}
	code_assign(code, index, operand_number(0));
	const size_t top = code_here(code);
	const struct script_operand is_equal =
		compare_text(code, code_load(code, SCRIPT_LOAD64, operand_register(address)),
			     token->text, token->length);
	const size_t found =
		code_jump_if_zero(code, code_compute(code, SCRIPT_EQ, is_equal, operand_number(0)));

	code_assign(code, index, (struct script_operand){index, 1});
	code_assign(code, address, (struct script_operand){address, 8});
	code_jump_back(code, top);
	code_land(code, found);
	frames_take(&parser->lexer);
	frames_expect(parser, ")");
	return operand_register(index);
}

/* Returns the load that the token names, or SCRIPT_SET. */
static enum script_operation load_of(const struct frames_lexer *lexer)
{
	static const char *const words[] = {"u8", "u16", "u32", "u64", "i32"};

	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		if (frames_at(lexer, words[i]))
			return SCRIPT_LOAD8 + i;
	return SCRIPT_SET;
}

static struct script_operand in_parentheses(struct frames_parser *parser)
{
	if (!frames_expect(parser, "("))
		return nothing();
	const struct script_operand inner = frames_expression(parser);

	frames_expect(parser, ")");
	return inner;
}

/* Parses the formula of a name in place of the name. */
static struct script_operand formula(struct frames_parser *parser, const struct frames_lexer *place)
{
	const struct frames_lexer lexer = parser->lexer;

	parser->lexer = *place;
	const struct script_operand operand = frames_expression(parser);

	if (!parser->failed)
		frames_expect_end(parser);
	if (!parser->failed)
		parser->lexer = lexer;
	return operand;
}

static struct script_operand name(struct frames_parser *parser)
{
	const struct frames_token *token = &parser->lexer.token;
	const struct frames_name *known = frames_find(parser, token->text, token->length);

	if (!known) {
		frames_fail(parser, "a name that is defined above");
		return nothing();
	}
	if (known->is_computed && parser->in_when) {
		frames_fail(parser, "a symbol or a number");
		return nothing();
	}
	const struct script_operand operand = known->operand;
	const struct frames_lexer place = known->formula;

	frames_take(&parser->lexer);
	return place.at ? formula(parser, &place) : operand;
}

static struct script_operand primary(struct frames_parser *parser)
{
	const enum script_operation load = load_of(&parser->lexer);
	const struct frames_token *token = &parser->lexer.token;
	struct script_operand operand;

	if (load != SCRIPT_SET) {
		frames_take(&parser->lexer);
		return code_load(&parser->code, load, in_parentheses(parser));
	}
	if (symbol_function(parser, &operand))
		return operand;
	if (frames_at(&parser->lexer, "find")) {
		frames_take(&parser->lexer);
		return find_function(parser);
	}
	if (token->kind == FRAMES_NAME)
		return name(parser);
	if (token->kind == FRAMES_NUMBER) {
		operand = operand_number((int64_t)token->number);
		frames_take(&parser->lexer);
		return operand;
	}
	if (frames_at(&parser->lexer, "("))
		return in_parentheses(parser);
	frames_fail(parser, "a number, a name or '('");
	return nothing();
}

static struct script_operand unary(struct frames_parser *parser)
{
	static const char marks[][2] = {"*", "-", "!", "~"};
	struct script_code *code = &parser->code;
	size_t i = 0;

	while (i < 4 && !frames_at(&parser->lexer, marks[i]))
		i++;
	if (i == 4)
		return primary(parser);
	if (++parser->depth > FRAMES_DEPTH_MAX)
		frames_fail(parser, "a simpler expression");
	frames_take(&parser->lexer);
	struct script_operand operand = parser->failed ? nothing() : unary(parser);

	parser->depth--;
	if (i == 0)
		return code_load(code, SCRIPT_LOAD64, operand);
	if (i == 2)
		return code_compute(code, SCRIPT_EQ, operand, operand_number(0));
	operand = code_compute(code, SCRIPT_SUB, operand_number(0), operand);
	/* ~x is -x - 1. */
	return i == 1 ? operand : code_compute(code, SCRIPT_SUB, operand, operand_number(1));
}

struct operator_row {
	char mark[3];
	uint8_t level;	   /* of precedence; the highest binds the most */
	uint8_t operation; /* enum script_operation; SCRIPT_SET: && or || */
	bool is_swapped;   /* the operands are exchanged */
};

static const struct operator_row *operator_at(const struct frames_lexer *lexer)
{
	static const struct operator_row operators[] = {
		{"||", 1, SCRIPT_SET, false}, {"&&", 2, SCRIPT_SET, false},
		{"|", 3, SCRIPT_OR, false},   {"&", 4, SCRIPT_AND, false},
		{"==", 5, SCRIPT_EQ, false},  {"!=", 5, SCRIPT_NE, false},
		{"<", 6, SCRIPT_LT, false},   {"<=", 6, SCRIPT_LE, false},
		{">", 6, SCRIPT_LT, true},    {">=", 6, SCRIPT_LE, true},
		{"<<", 7, SCRIPT_SHL, false}, {">>", 7, SCRIPT_SHR, false},
		{"+", 8, SCRIPT_ADD, false},  {"-", 8, SCRIPT_SUB, false},
		{"*", 9, SCRIPT_MUL, false},  {"/", 9, SCRIPT_DIV, false},
	};

	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (frames_at(lexer, operators[i].mark))
			return &operators[i];
	return NULL;
}

static struct script_operand binary(struct frames_parser *parser, unsigned level);

/* Returns 1 if the operand is not zero, else 0. */
static struct script_operand truth(struct script_code *code, struct script_operand operand)
{
	return code_compute(code, SCRIPT_NE, operand, operand_number(0));
}

/* The right side of && and || is computed only if the left one does not decide. */
static struct script_operand logical(struct frames_parser *parser, const struct operator_row *row,
				     struct script_operand left)
{
	struct script_code *code = &parser->code;
	const struct script_operand result = operand_register(code_temporary(code));

	code_assign(code, result.base, truth(code, left));
	const size_t decided = code_jump_if_zero(
		code, row->mark[0] == '&'
			      ? result
			      : code_compute(code, SCRIPT_EQ, result, operand_number(0)));

	code_assign(code, result.base, truth(code, binary(parser, row->level + 1U)));
	code_land(code, decided);
	return result;
}

static struct script_operand binary(struct frames_parser *parser, unsigned level)
{
	const unsigned mark = parser->code.next;
	struct script_operand left = unary(parser);
	const struct operator_row *row;

	while (!parser->failed && (row = operator_at(&parser->lexer)) && row->level >= level) {
		frames_take(&parser->lexer);
		if (row->operation == SCRIPT_SET) {
			left = logical(parser, row, left);
			continue;
		}
		const struct script_operand right = binary(parser, row->level + 1U);

		left = row->is_swapped ? code_compute(&parser->code, row->operation, right, left)
				       : code_compute(&parser->code, row->operation, left, right);
		left = code_keep(&parser->code, mark, left);
	}
	return left;
}

/* Parses an expression that is never computed: what it has written is taken back. */
static void unused_expression(struct frames_parser *parser)
{
	const size_t count = parser->code.instructions.count;

	frames_expression(parser);
	parser->code.instructions.count = count;
	code_here(&parser->code);
}

/* A choice whose condition is a number is made now. */
static struct script_operand known_choice(struct frames_parser *parser, bool holds)
{
	struct script_operand chosen = nothing();

	for (unsigned i = 0; i < 2 && !parser->failed; i++) {
		if (i == 1 && !frames_expect(parser, ":"))
			break;
		if ((i == 0) == holds)
			chosen = frames_expression(parser);
		else
			unused_expression(parser);
	}
	return chosen;
}

/* CONDITION ? A : B, behind the condition. Only one of A and B is computed. */
static struct script_operand choice(struct frames_parser *parser, struct script_operand condition)
{
	struct script_code *code = &parser->code;

	frames_take(&parser->lexer);
	if (operand_is_number(condition))
		return known_choice(parser, condition.offset != 0);
	const uint8_t result = code_temporary(code);
	const size_t otherwise = code_jump_if_zero(code, condition);

	code_assign(code, result, frames_expression(parser));
	const size_t done = code_jump(code);

	code_land(code, otherwise);
	frames_expect(parser, ":");
	code_assign(code, result, parser->failed ? nothing() : frames_expression(parser));
	code_land(code, done);
	return operand_register(result);
}

struct script_operand frames_expression(struct frames_parser *parser)
{
	const unsigned mark = parser->code.next;

	if (++parser->depth > FRAMES_DEPTH_MAX)
		frames_fail(parser, "a simpler expression");
	struct script_operand operand = parser->failed ? nothing() : binary(parser, 1);

	if (!parser->failed && frames_at(&parser->lexer, "?"))
		operand = choice(parser, operand);
	parser->depth--;
	return code_keep(&parser->code, mark, operand);
}
