/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk of a frame description: the program that finds a thread's frames, innermost first.
 *
 *     NAME = EXPRESSION                          sets a variable; all are 0 at first
 *     each NAME = FIRST [while C] then NEXT      a loop; it ends when C does not hold, or NAME is 0
 *     if C … [else …] end
 *     skip / leave / stop                        next turn of the loop / its end / the walk's end
 *     emit CODE, POSITION [identity A, B, C] [entry E]
 *
 * NEXT is compiled at the `end` of its loop, where `skip` leads: until then its place in the text
 * is kept.
 */
#include "unwind/script/frames_walk.h"

#include "base/cleanup.h"
#include "unwind/script/frames_expression.h"

#include <string.h>

/* The loop around a statement. Jumps that lead to its end, or to its next turn, wait for that. */
struct loop {
	struct vec *leaves; /* size_t */
	struct vec *skips;  /* size_t */
};

static void block(struct frames_parser *parser, const struct loop *loop, bool has_else);

/* Makes all jumps of a list lead to here, and empties it. */
static void land_all(struct frames_parser *parser, struct vec *jumps)
{
	for (size_t i = 0; i < jumps->count; i++)
		code_land(&parser->code, *(size_t *)vec_at(jumps, i));
	vec_deinit(jumps);
}

static void jump_later(struct frames_parser *parser, struct vec *jumps)
{
	const size_t jump = code_jump(&parser->code);

	vec_push(jumps, &jump);
}

/* Returns the register of the variable with this name; a new one is made if needed. */
static uint8_t variable(struct frames_parser *parser, const char *name)
{
	struct frames_name *known = frames_find(parser, name, strlen(name));

	if (known && known->is_local)
		return known->operand.base;
	if (known) {
		frames_fail(parser, "the name of a variable");
		return SCRIPT_LOCALS;
	}
	const uint8_t number = code_variable(&parser->code);

	frames_define(parser, name, operand_register(number))->is_local = true;
	return number;
}

/* NAME = EXPRESSION. Returns the register. */
static uint8_t assignment(struct frames_parser *parser)
{
	_cleanup_free_ char *name = frames_take_name(parser, "a statement of a walk");

	if (!name || !frames_expect(parser, "="))
		return SCRIPT_LOCALS;
	const uint8_t target = variable(parser, name);

	code_assign(&parser->code, target, frames_expression(parser));
	code_drop_temporaries(&parser->code);
	return target;
}

/* Compiles the expression that begins at a place further up. */
static void compile_next(struct frames_parser *parser, const struct frames_lexer *place,
			 uint8_t target)
{
	const struct frames_lexer end = parser->lexer;

	parser->lexer = *place;
	code_assign(&parser->code, target, frames_expression(parser));
	code_drop_temporaries(&parser->code);
	if (!parser->failed) {
		frames_expect_end(parser);
		parser->lexer = end;
	}
}

static void each_statement(struct frames_parser *parser)
{
	struct vec leaves = VEC_OF(size_t);
	struct vec skips = VEC_OF(size_t);
	const struct loop loop = {&leaves, &skips};

	frames_take(&parser->lexer);
	const uint8_t target = assignment(parser);
	const size_t top = code_here(&parser->code);
	struct script_operand condition = operand_register(target);

	if (frames_at(&parser->lexer, "while")) {
		frames_take(&parser->lexer);
		condition = frames_expression(parser);
	}
	const size_t left = code_jump_if_zero(&parser->code, condition);

	vec_push(&leaves, &left);
	code_drop_temporaries(&parser->code);
	frames_expect(parser, "then");
	const struct frames_lexer next = parser->lexer;

	while (parser->lexer.token.kind != FRAMES_END_OF_LINE)
		frames_take(&parser->lexer);
	block(parser, &loop, false);
	land_all(parser, &skips);
	if (!parser->failed)
		compile_next(parser, &next, target);
	code_jump_back(&parser->code, top);
	land_all(parser, &leaves);
}

static void if_statement(struct frames_parser *parser, const struct loop *loop)
{
	frames_take(&parser->lexer);
	const size_t otherwise = code_jump_if_zero(&parser->code, frames_expression(parser));

	code_drop_temporaries(&parser->code);
	frames_expect_end(parser);
	block(parser, loop, true);
	if (!parser->failed && frames_at(&parser->lexer, "else")) {
		const size_t done = code_jump(&parser->code);

		code_land(&parser->code, otherwise);
		frames_take(&parser->lexer);
		frames_expect_end(parser);
		block(parser, loop, false);
		code_land(&parser->code, done);
	} else {
		code_land(&parser->code, otherwise);
	}
}

static void emit_statement(struct frames_parser *parser)
{
	struct script_operand words[SCRIPT_FRAME_WORDS] = {{0}};

	frames_take(&parser->lexer);
	words[0] = frames_expression(parser);
	frames_expect(parser, ",");
	words[1] = frames_expression(parser);
	for (unsigned i = 0; i < 3 && frames_at(&parser->lexer, i ? "," : "identity"); i++) {
		frames_take(&parser->lexer);
		words[2 + i] = frames_expression(parser);
	}
	if (frames_at(&parser->lexer, "entry")) {
		frames_take(&parser->lexer);
		words[5] = frames_expression(parser);
	}
	code_emit(&parser->code, words);
	code_drop_temporaries(&parser->code);
}

static void walk_statement(struct frames_parser *parser, const struct loop *loop)
{
	const struct frames_lexer *lexer = &parser->lexer;
	const bool is_skip = frames_at(lexer, "skip");

	if (frames_at(lexer, "each")) {
		each_statement(parser);
	} else if (frames_at(lexer, "if")) {
		if_statement(parser, loop);
	} else if (frames_at(lexer, "emit")) {
		emit_statement(parser);
	} else if (frames_at(lexer, "stop")) {
		frames_take(&parser->lexer);
		code_end(&parser->code);
	} else if ((is_skip || frames_at(lexer, "leave")) && loop) {
		frames_take(&parser->lexer);
		jump_later(parser, is_skip ? loop->skips : loop->leaves);
	} else {
		assignment(parser);
	}
	if (!parser->failed)
		frames_expect_end(parser);
}

/* Takes an `end`: the rest of the line must be empty. */
static void take_end(struct frames_parser *parser)
{
	frames_take(&parser->lexer);
	frames_expect_end(parser);
}

/* Parses the lines up to and including `end`, or up to `else` if has_else. */
static void block(struct frames_parser *parser, const struct loop *loop, bool has_else)
{
	if (++parser->depth > FRAMES_DEPTH_MAX)
		frames_fail(parser, "fewer nested blocks");
	while (!parser->failed) {
		if (!frames_next_line(&parser->lexer)) {
			frames_fail(parser, "'end'");
		} else if (frames_at(&parser->lexer, "end")) {
			take_end(parser);
			break;
		} else if (has_else && frames_at(&parser->lexer, "else")) {
			break;
		} else {
			walk_statement(parser, loop);
		}
	}
	parser->depth--;
}

void frames_walk(struct frames_parser *parser)
{
	struct script_description *description = parser->description;

	if (description->walk) {
		frames_fail(parser, "that only once");
		return;
	}
	frames_take(&parser->lexer);
	frames_expect_end(parser);
	block(parser, NULL, false);
	code_end(&parser->code);
	frames_forget_locals(parser);
	description->walk = code_finish(&parser->code);
}
