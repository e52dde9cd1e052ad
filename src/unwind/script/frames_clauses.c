/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clauses that say how a frame is named:
 *
 *     file      [if CONDITION :] PART…      PART: DECODER(NUMBER, …) or "text"
 *     function  [if CONDITION :] PART…
 *     line      [if CONDITION :] DECODER(NUMBER, …)
 *
 * and the clause that tells which C function runs a frame:
 *
 *     inside    NUMBER
 *
 * A clause becomes a program whose results are the condition and then the numbers for all decoders.
 * It may use the words of the frame: code, at, and the identity as id1, id2, id3.
 */
#include "unwind/script/frames_clauses.h"

#include "base/xalloc.h"
#include "unwind/script/frames_expression.h"

#include <string.h>

struct clause_parser {
	struct frames_parser *parser;
	struct script_clause clause;
	bool is_line;
	unsigned results;
};

static void result(struct clause_parser *clause, struct script_operand operand)
{
	if (clause->results == SCRIPT_CLAUSE_RESULTS)
		frames_fail(clause->parser, "fewer parts");
	else
		code_result(&clause->parser->code, clause->results++, operand);
}

/*
 * Writes the condition as result 0, and a jump for when it does not hold: then the numbers of the
 * parts may be unreadable.
 */
static size_t condition(struct clause_parser *clause)
{
	struct frames_parser *parser = clause->parser;
	struct script_operand holds = operand_number(1);

	if (frames_at(&parser->lexer, "if")) {
		frames_take(&parser->lexer);
		holds = frames_expression(parser);
		frames_expect(parser, ":");
	}
	result(clause, holds);
	const size_t jump = code_jump_if_zero(&parser->code, holds);

	code_drop_temporaries(&parser->code);
	return jump;
}

/* Parses the numbers of a decoder. */
static void arguments(struct clause_parser *clause, struct script_part *part)
{
	struct frames_parser *parser = clause->parser;

	part->first = clause->results;
	part->count = part->decoder->arguments;
	for (unsigned i = 0; i < part->count && !parser->failed; i++) {
		frames_expect(parser, i ? "," : "(");
		result(clause, frames_expression(parser));
		code_drop_temporaries(&parser->code);
	}
	frames_expect(parser, ")");
}

static void part(struct clause_parser *clause)
{
	struct frames_parser *parser = clause->parser;
	const struct frames_token *token = &parser->lexer.token;
	struct script_part part = {0};

	if (token->kind == FRAMES_TEXT && !clause->is_line) {
		part.literal = xstrndup(token->text, token->length);
		frames_take(&parser->lexer);
	} else {
		if (token->kind == FRAMES_NAME)
			part.decoder = script_decoder_find(token->text, token->length);
		if (!part.decoder || !part.decoder->line == clause->is_line) {
			frames_fail(parser,
				    clause->is_line ? "a decoder of lines" : "a decoder of text");
			return;
		}
		frames_take(&parser->lexer);
		arguments(clause, &part);
	}
	vec_push(&clause->clause.parts, &part);
}

static void define_words(struct frames_parser *parser)
{
	static const char *const words[] = {"code", "at", "id1", "id2", "id3"};

	for (uint8_t i = 0; i < sizeof words / sizeof *words; i++)
		frames_define(parser, words[i], operand_register(SCRIPT_CODE + i))->is_local = true;
}

/* Parses what is behind the word. A clause is added even if it has a mistake: it is owned then. */
static void clause(struct frames_parser *parser, struct vec *clauses, bool is_line)
{
	struct clause_parser clause = {.parser = parser, .is_line = is_line};

	vec_init(&clause.clause.parts, sizeof(struct script_part));
	frames_take(&parser->lexer);
	define_words(parser);
	const size_t skipped = condition(&clause);

	do
		part(&clause);
	while (!is_line && !parser->failed && parser->lexer.token.kind != FRAMES_END_OF_LINE);
	code_land(&parser->code, skipped);
	code_end(&parser->code);
	frames_forget_locals(parser);
	clause.clause.program = code_finish(&parser->code);
	vec_push(clauses, &clause.clause);
}

static void inside(struct frames_parser *parser)
{
	struct script_description *description = parser->description;

	if (description->inside) {
		frames_fail(parser, "only one statement 'inside'");
		return;
	}
	frames_take(&parser->lexer);
	define_words(parser);
	code_result(&parser->code, 0, frames_expression(parser));
	code_drop_temporaries(&parser->code);
	code_end(&parser->code);
	frames_forget_locals(parser);
	description->inside = code_finish(&parser->code);
}

bool frames_clause(struct frames_parser *parser)
{
	struct script_description *description = parser->description;

	if (frames_at(&parser->lexer, "file"))
		clause(parser, &description->files, false);
	else if (frames_at(&parser->lexer, "function"))
		clause(parser, &description->functions, false);
	else if (frames_at(&parser->lexer, "line"))
		clause(parser, &description->lines, true);
	else if (frames_at(&parser->lexer, "inside"))
		inside(parser);
	else
		return false;
	return true;
}
