/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evaluates expressions.
 *
 * A value that is not known, because the call has no such argument or its memory could not be read,
 * makes whatever is computed of it unknown. A condition that is not known is false, and so is its
 * negation: a call that nothing is known of is not shown. && and || take what is not known for
 * false, and do not look at their second operand if the first decides.
 */
#include "probe/expression_run.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

void expression_run_begin(struct expression_run *run, const struct expression_subject *subject)
{
	*run = (struct expression_run){.texts = VEC_OF(char *), .subject = subject};
}

void expression_run_end(struct expression_run *run)
{
	for (size_t i = 0; i < run->texts.count; i++)
		free(*(char **)vec_at(&run->texts, i));
	vec_deinit(&run->texts);
}

const char *expression_run_keep(struct expression_run *run, const void *text, size_t length)
{
	char *copy = xmalloc(length + 1);

	if (length)
		memcpy(copy, text, length);
	copy[length] = '\0';
	vec_push(&run->texts, &copy);
	return copy;
}

static struct expression_value evaluate_match(const struct expression *expression,
					      const struct expression_value *text)
{
	regmatch_t range = {.rm_so = 0, .rm_eo = (regoff_t)text->length};

	if (text->type != EXPRESSION_TEXT || !expression->regex)
		return text->type == EXPRESSION_NONE ? *text : expression_none();
	/* The text may hold NULs, and does not end with one (REG_STARTEND, regex(3)). */
	const bool is_match = regexec(expression->regex, text->text ? text->text : "", 1, &range,
				      REG_STARTEND) == 0;

	return expression_signed(is_match == (expression->op == OPERATOR_MATCHES));
}

static struct expression_value evaluate_two(const struct expression *expression,
					    struct expression_run *run)
{
	struct expression_value left = expression_evaluate(expression->parts[0], run), right;
	const bool is_true = expression_is_true(&left);

	if (expression->op == OPERATOR_MATCHES || expression->op == OPERATOR_NOT_MATCHES)
		return evaluate_match(expression, &left);
	if ((expression->op == OPERATOR_AND && !is_true) ||
	    (expression->op == OPERATOR_OR && is_true))
		return expression_signed(is_true);
	right = expression_evaluate(expression->parts[1], run);
	if (expression->op == OPERATOR_AND || expression->op == OPERATOR_OR)
		return expression_signed(expression_is_true(&right));
	return expression_compute(expression->op, &left, &right);
}

static struct expression_value prefix_of(const struct expression_value *text,
					 const struct expression_value *length)
{
	struct expression_value prefix = *text;

	if (text->type != EXPRESSION_TEXT)
		return text->type == EXPRESSION_NONE ? *text : expression_none();
	if (length->type != EXPRESSION_SIGNED && length->type != EXPRESSION_UNSIGNED)
		return expression_none();
	prefix.has_number = false;
	if (length->number >= text->length)
		return prefix;
	prefix.length = (size_t)length->number;
	prefix.is_cut = false;
	return prefix;
}

static struct expression_value evaluate_function(const struct expression *expression,
						 struct expression_run *run)
{
	struct expression_value values[EXPRESSION_PARTS] = {{0}};

	for (unsigned i = 0; i < expression->part_count; i++)
		values[i] = expression_evaluate(expression->parts[i], run);
	if (values[0].type == EXPRESSION_NONE)
		return values[0];
	switch (expression->function) {
	case FUNCTION_LOG2:
		return expression_log2(&values[0]);
	case FUNCTION_BUCKET:
		return expression_bucket(&values[0], &values[1]);
	case FUNCTION_LEN:
		return values[0].type == EXPRESSION_TEXT ? expression_unsigned(values[0].length)
							 : expression_none();
	case FUNCTION_PREFIX:
		return prefix_of(&values[0], &values[1]);
	case FUNCTION_FINGERPRINT:
		return run->subject->fingerprint(run->subject->context, &values[0],
						 expression->part_count > 1 ? &values[1] : NULL,
						 run);
	default:
		return expression_none();
	}
}

struct expression_value expression_evaluate(const struct expression *expression,
					    struct expression_run *run)
{
	struct expression_value value;

	switch (expression->kind) {
	case EXPRESSION_CONSTANT:
		return expression->value;
	case EXPRESSION_NAME:
		return run->subject->name(run->subject->context, expression, run);
	case EXPRESSION_ONE:
		value = expression_evaluate(expression->parts[0], run);
		return expression_compute_one(expression->op, &value);
	case EXPRESSION_TWO:
		return evaluate_two(expression, run);
	case EXPRESSION_CHOICE:
		value = expression_evaluate(expression->parts[0], run);
		return expression_evaluate(expression->parts[expression_is_true(&value) ? 1 : 2],
					   run);
	case EXPRESSION_FUNCTION:
		return evaluate_function(expression, run);
	}
	return expression_none();
}
