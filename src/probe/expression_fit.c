/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks an expression against the prototype of a function.
 *
 * `arg3 > 4k` says nothing about a function with two parameters, and `arg1 =~ "x"` nothing about
 * one whose first parameter is a number. Such an expression has no value in any call of it. The
 * user is told so, because a condition that can never hold looks like a function that is never
 * called.
 *
 * A string is a text, and a pointer for == and !=, by which it is compared with NULL. What cannot
 * be told from the prototype (a pointer that leads to some object, a parameter with several types)
 * is taken for both.
 */
#include "probe/expression_fit.h"

#include "base/xalloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fit { FIT_NONE, FIT_NUMBER, FIT_TEXT, FIT_ANY };

struct check {
	enum probe_kind kind;
	const struct prototype *prototype;
	struct expression_error *error; /* or NULL */
};

static enum fit fail(const struct check *check, const struct expression *at, const char *format,
		     ...) __attribute__((format(printf, 3, 4)));

static enum fit fail(const struct check *check, const struct expression *at, const char *format,
		     ...)
{
	char message[256];
	va_list arguments;

	if (!check->error || check->error->message)
		return FIT_NONE; /* the first reason is kept */
	va_start(arguments, format);
	vsnprintf(message, sizeof message, format, arguments);
	va_end(arguments);
	*check->error = (struct expression_error){at->column, xstrdup(message)};
	return FIT_NONE;
}

/* ------------------------------------------------------------------ parameters and results */

static const struct type *member_type(const struct type *type, const char *name)
{
	for (uint32_t i = 0; type->kind == TYPE_STRUCT && i < type_shown_members(type); i++)
		if (type->members[i].name && !strcmp(type->members[i].name, name) &&
		    !type->members[i].bits && !type->members[i].type->is_hidden)
			return type->members[i].type;
	return NULL;
}

static enum fit fit_of_type(const struct type *type)
{
	switch (type->kind) {
	case TYPE_INT:
	case TYPE_FLOAT:
		return FIT_NUMBER;
	case TYPE_STRING:
	case TYPE_FORMAT:
		return FIT_TEXT;
	case TYPE_POINTER:
		return type->target ? FIT_ANY : FIT_NUMBER;
	default:
		return FIT_ANY;
	}
}

/* Follows the steps from an object of that type. */
static enum fit check_steps(const struct check *check, const struct expression *node,
			    const struct type *type)
{
	for (size_t i = 0; i < node->steps.count; i++) {
		const struct expression_step *step = vec_at(&node->steps, i);
		const struct type *object = type->kind == TYPE_POINTER && type->target
						    ? type->target
						    : type;

		if (!step->member && object->kind != TYPE_ARRAY)
			return fail(check, node, "it is no array");
		if (!step->member) {
			type = object->target;
			continue;
		}
		type = member_type(object, step->member);
		if (!type)
			return fail(check, node, "it has no member '%s'", step->member);
	}
	return fit_of_type(type);
}

static const struct parameter *find_parameter(const struct check *check,
					      const struct expression *node)
{
	const struct prototype *prototype = check->prototype;

	if (node->number)
		return node->number <= prototype->parameter_count
			       ? &prototype->parameters[node->number - 1]
			       : NULL;
	for (unsigned i = 0; i < prototype->parameter_count; i++)
		if (prototype->parameters[i].name &&
		    !strcmp(prototype->parameters[i].name, node->text))
			return &prototype->parameters[i];
	return NULL;
}

static enum fit check_argument(const struct check *check, const struct expression *node)
{
	const struct parameter *parameter = find_parameter(check, node);

	if (check->prototype->is_unknown)
		return fail(check, node, "its arguments are not known");
	if (!parameter && node->number)
		return fail(check, node, "it has %u argument%s, and no arg%u",
			    check->prototype->parameter_count,
			    check->prototype->parameter_count == 1 ? "" : "s", node->number);
	if (!parameter)
		return fail(check, node, "it has no parameter '%s'", node->text);
	if (parameter->type->is_hidden)
		return fail(check, node, "that argument is not captured");
	return parameter->choices ? FIT_ANY : check_steps(check, node, parameter->type);
}

static enum fit check_name(const struct check *check, const struct expression *node)
{
	const struct type *result = check->prototype->result;

	switch (node->name) {
	case NAME_ARGUMENT:
		return check_argument(check, node);
	case NAME_RESULT:
		if (check->prototype->is_unknown)
			return fail(check, node, "its result is not known");
		if (result->kind == TYPE_VOID || result->is_hidden)
			return fail(check, node, "it has no result");
		return check_steps(check, node, result);
	case NAME_ERRNO:
		return check->kind == PROBE_SYSTEM
			       ? FIT_NUMBER
			       : fail(check, node, "errno is known of system calls only");
	case NAME_DURATION:
	case NAME_PID:
	case NAME_TID:
	case NAME_TIME:
	case NAME_DEPTH:
		return FIT_NUMBER;
	default:
		return FIT_TEXT;
	}
}

/* ------------------------------------------------------------------ operators */

static enum fit check_node(const struct check *check, const struct expression *node);

/* Checks a part that has to be of that kind. */
static enum fit want(const struct check *check, const struct expression *part, enum fit wanted)
{
	const enum fit found = check_node(check, part);

	if (found == FIT_NONE || found == FIT_ANY || found == wanted)
		return found == FIT_NONE ? FIT_NONE : wanted;
	return fail(check, part,
		    wanted == FIT_TEXT ? "it is a number, no text" : "it is a text, no number");
}

static enum fit check_two(const struct check *check, const struct expression *node)
{
	const struct expression *left = node->parts[0], *right = node->parts[1];

	switch (node->op) {
	case OPERATOR_AND:
		return check_node(check, left) && check_node(check, right) ? FIT_NUMBER : FIT_NONE;
	case OPERATOR_OR:
		/* What does not fit does not hold: the other side may. */
		return check_node(check, left) || check_node(check, right) ? FIT_NUMBER : FIT_NONE;
	case OPERATOR_MATCHES:
	case OPERATOR_NOT_MATCHES:
		return want(check, left, FIT_TEXT) ? FIT_NUMBER : FIT_NONE;
	case OPERATOR_EQUAL:
	case OPERATOR_NOT_EQUAL:
	case OPERATOR_LESS:
	case OPERATOR_AT_MOST:
	case OPERATOR_GREATER:
	case OPERATOR_AT_LEAST:
		break;
	default:
		return want(check, left, FIT_NUMBER) && want(check, right, FIT_NUMBER) ? FIT_NUMBER
										       : FIT_NONE;
	}
	const enum fit one = check_node(check, left), other = check_node(check, right);
	const bool is_equality = node->op == OPERATOR_EQUAL || node->op == OPERATOR_NOT_EQUAL;

	if (!one || !other)
		return FIT_NONE;
	if (one == other || one == FIT_ANY || other == FIT_ANY)
		return FIT_NUMBER;
	/* NULL is compared with a string's pointer. */
	const struct expression *text = one == FIT_TEXT ? left : right;

	if (is_equality && text->kind == EXPRESSION_NAME &&
	    (text->name == NAME_ARGUMENT || text->name == NAME_RESULT))
		return FIT_NUMBER;
	return fail(check, text, "it is a text, no number");
}

static enum fit check_function(const struct check *check, const struct expression *node)
{
	switch (node->function) {
	case FUNCTION_LOG2:
		return want(check, node->parts[0], FIT_NUMBER);
	case FUNCTION_BUCKET:
		return want(check, node->parts[0], FIT_NUMBER) &&
				       want(check, node->parts[1], FIT_NUMBER)
			       ? FIT_NUMBER
			       : FIT_NONE;
	case FUNCTION_LEN:
		return want(check, node->parts[0], FIT_TEXT) ? FIT_NUMBER : FIT_NONE;
	case FUNCTION_PREFIX:
		return want(check, node->parts[0], FIT_TEXT) &&
				       want(check, node->parts[1], FIT_NUMBER)
			       ? FIT_TEXT
			       : FIT_NONE;
	default:
		return want(check, node->parts[0], FIT_TEXT);
	}
}

static enum fit check_node(const struct check *check, const struct expression *node)
{
	enum fit then, otherwise;

	switch (node->kind) {
	case EXPRESSION_CONSTANT:
		return node->value.type == EXPRESSION_TEXT ? FIT_TEXT : FIT_NUMBER;
	case EXPRESSION_NAME:
		return check_name(check, node);
	case EXPRESSION_ONE:
		return node->op == OPERATOR_NOT
			       ? (check_node(check, node->parts[0]) ? FIT_NUMBER : FIT_NONE)
			       : want(check, node->parts[0], FIT_NUMBER);
	case EXPRESSION_TWO:
		return check_two(check, node);
	case EXPRESSION_CHOICE:
		then = check_node(check, node->parts[1]);
		otherwise = check_node(check, node->parts[2]);
		if (!check_node(check, node->parts[0]) || (!then && !otherwise))
			return FIT_NONE;
		return then == otherwise ? then : FIT_ANY;
	case EXPRESSION_FUNCTION:
		return check_function(check, node);
	}
	return FIT_NONE;
}

bool expression_fits(const struct expression *expression, enum probe_kind kind,
		     const struct prototype *prototype, struct expression_error *error)
{
	const struct check check = {kind, prototype, error};

	if (error)
		*error = (struct expression_error){0};
	const bool it_fits = check_node(&check, expression) != FIT_NONE;

	if (it_fits && error) {
		free(error->message); /* of a part that need not fit */
		error->message = NULL;
	}
	return it_fits;
}
