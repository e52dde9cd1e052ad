/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the part of an expression that can be decided where a call is caught (record/condition.h):
 * what is computed of constants, and of parameters that are integers or pointers.
 *
 * Of `a && b`, each side is required by itself, and one is enough if the other cannot be compiled:
 * the call is judged once more, by the whole expression, when its record is there. Anything else is
 * compiled as a whole or not at all.
 */
#include "probe/expression_compile.h"

#include <string.h>

struct compiling {
	const struct prototype *prototype;
	struct condition *condition;
	unsigned depth; /* numbers on the stack so far */
};

/* Adds an operation whose operands are on the stack, or in itself. */
static bool add(struct compiling *compiling, struct condition_op op)
{
	struct condition *condition = compiling->condition;

	compiling->depth -= op.first == CONDITION_STACK;
	compiling->depth -= op.code >= CONDITION_ADD && op.second == CONDITION_STACK;
	compiling->depth++;
	if (condition->count == CONDITION_OPS || compiling->depth > CONDITION_DEPTH)
		return false;
	condition->ops[condition->count++] = op;
	return true;
}

/*
 * If the last operation only puts a number on the stack, takes it back and returns where the number
 * is; else CONDITION_STACK. `op` has one value at most.
 */
static uint8_t take_back(struct compiling *compiling, struct condition_op *op, bool has_value)
{
	struct condition *condition = compiling->condition;
	const struct condition_op *last = condition->count ? &condition->ops[condition->count - 1]
							   : NULL;

	if (!last || last->code != CONDITION_SAME || last->is_required ||
	    last->first == CONDITION_STACK || (last->first == CONDITION_VALUE && has_value))
		return CONDITION_STACK;
	if (last->first == CONDITION_VALUE)
		op->value = last->value;
	condition->count--;
	compiling->depth--;
	return last->first;
}

/* Returns the index of a parameter that is a number in each call, or -1. */
static int find_number(const struct prototype *prototype, const struct expression *node)
{
	const unsigned count = prototype->is_unknown ? 0 : prototype->parameter_count;

	for (unsigned i = 0; i < count && i < CAPTURE_ARGS_MAX; i++) {
		const struct parameter *parameter = &prototype->parameters[i];
		const struct type *type = parameter->type;

		if (node->number ? node->number != i + 1
				 : !parameter->name || strcmp(parameter->name, node->text) != 0)
			continue;
		if (parameter->choices || parameter->only_with || parameter->on_return ||
		    type->is_hidden || parameter->path)
			return -1;
		return type->kind == TYPE_INT || type->kind == TYPE_POINTER ||
				       type->kind == TYPE_STRING
			       ? (int)i
			       : -1;
	}
	return -1;
}

/* What is on the stack for a part of the expression. */
struct operand {
	bool is_signed;
	/*
	 * A pointer to a text, or to an object that is shown as one. It stands for the pointer if
	 * it is compared with a number, or is true or false; two texts are compared by what is in
	 * them, which is not known here.
	 */
	bool may_be_text;
};

/* Returns false if it cannot be compiled. */
static bool compile(struct compiling *compiling, const struct expression *node,
		    struct operand *operand);

static bool compile_name(struct compiling *compiling, const struct expression *node,
			 struct operand *operand)
{
	const int index = node->name == NAME_ARGUMENT && !node->steps.count
				  ? find_number(compiling->prototype, node)
				  : -1;

	if (index < 0)
		return false;
	const struct type *type = compiling->prototype->parameters[index].type;

	operand->is_signed = type->kind == TYPE_INT &&
			     (type->is_signed || type->lens == LENS_GUESS);
	operand->may_be_text = type->kind == TYPE_STRING ||
			       (type->kind == TYPE_POINTER && type->target);
	return add(compiling, (struct condition_op){.code = CONDITION_SAME,
						    .first = (uint8_t)index,
						    .first_signed = operand->is_signed});
}

static bool compile_one(struct compiling *compiling, const struct expression *node,
			struct operand *operand)
{
	if (!compile(compiling, node->parts[0], operand) ||
	    (operand->may_be_text && node->op != OPERATOR_NOT))
		return false;
	operand->may_be_text = false;
	struct condition_op op = {.first_signed = operand->is_signed};

	switch (node->op) {
	case OPERATOR_NOT:
		op.code = CONDITION_NOT;
		break;
	case OPERATOR_BIT_NOT:
		op.code = CONDITION_BIT_NOT;
		break;
	case OPERATOR_NEGATE:
		op.code = CONDITION_NEGATE;
		break;
	default:
		return false;
	}
	operand->is_signed |= node->op != OPERATOR_BIT_NOT;
	op.first = take_back(compiling, &op, false);
	if (op.first == CONDITION_VALUE && condition_compute(&op, op.value, 0, &op.value))
		op.code = CONDITION_SAME; /* -1 is a constant, too */
	return add(compiling, op);
}

/* Returns true if an operator takes texts, of which there may be so many, for their pointers. */
static bool takes_pointers(enum expression_operator op, int texts)
{
	switch (op) {
	case OPERATOR_AND:
	case OPERATOR_OR:
		return true;
	case OPERATOR_EQUAL:
	case OPERATOR_NOT_EQUAL:
		return texts < 2;
	default:
		return texts == 0;
	}
}

static bool compile_two(struct compiling *compiling, const struct expression *node,
			struct operand *operand)
{
	static const uint8_t codes[] = {
		[OPERATOR_PLUS] = CONDITION_ADD,
		[OPERATOR_MINUS] = CONDITION_SUBTRACT,
		[OPERATOR_TIMES] = CONDITION_MULTIPLY,
		[OPERATOR_DIVIDE] = CONDITION_DIVIDE,
		[OPERATOR_REMAINDER] = CONDITION_REMAINDER,
		[OPERATOR_BIT_AND] = CONDITION_BIT_AND,
		[OPERATOR_BIT_OR] = CONDITION_BIT_OR,
		[OPERATOR_BIT_XOR] = CONDITION_BIT_XOR,
		[OPERATOR_LEFT] = CONDITION_LEFT,
		[OPERATOR_RIGHT] = CONDITION_RIGHT,
		[OPERATOR_EQUAL] = CONDITION_EQUAL,
		[OPERATOR_NOT_EQUAL] = CONDITION_NOT_EQUAL,
		[OPERATOR_LESS] = CONDITION_LESS,
		[OPERATOR_AT_MOST] = CONDITION_AT_MOST,
		[OPERATOR_GREATER] = CONDITION_GREATER,
		[OPERATOR_AT_LEAST] = CONDITION_AT_LEAST,
		[OPERATOR_AND] = CONDITION_AND,
		[OPERATOR_OR] = CONDITION_OR,
	};
	struct operand first, second;

	if (node->op == OPERATOR_MATCHES || node->op == OPERATOR_NOT_MATCHES)
		return false;
	if (!compile(compiling, node->parts[0], &first))
		return false;
	const unsigned left = compiling->condition->count - 1;

	if (!compile(compiling, node->parts[1], &second) ||
	    !takes_pointers(node->op, first.may_be_text + second.may_be_text))
		return false;
	struct condition_op op = {.code = codes[node->op],
				  .first = CONDITION_STACK,
				  .first_signed = first.is_signed,
				  .second_signed = second.is_signed};

	op.second = take_back(compiling, &op, false);
	/* Behind what stays on the stack, the last operation is the second operand's. */
	if (op.second != CONDITION_STACK)
		op.first = take_back(compiling, &op, op.second == CONDITION_VALUE);
	const bool is_shift = node->op == OPERATOR_LEFT || node->op == OPERATOR_RIGHT;

	operand->may_be_text = false;
	operand->is_signed = op.code >= CONDITION_EQUAL ||
			     (op.first_signed && (is_shift || op.second_signed));
	if (!add(compiling, op))
		return false;
	if ((node->op == OPERATOR_AND || node->op == OPERATOR_OR) && op.first == CONDITION_STACK) {
		struct condition *condition = compiling->condition;

		condition->ops[left].skips = (uint8_t)(condition->count - 1 - left);
		condition->ops[left].skips_on = node->op == OPERATOR_OR;
	}
	return true;
}

static bool compile(struct compiling *compiling, const struct expression *node,
		    struct operand *operand)
{
	switch (node->kind) {
	case EXPRESSION_CONSTANT:
		*operand = (struct operand){.is_signed = node->value.type == EXPRESSION_SIGNED};
		return (operand->is_signed || node->value.type == EXPRESSION_UNSIGNED) &&
		       add(compiling, (struct condition_op){.code = CONDITION_SAME,
							    .first = CONDITION_VALUE,
							    .first_signed = operand->is_signed,
							    .value = node->value.number});
	case EXPRESSION_NAME:
		return compile_name(compiling, node, operand);
	case EXPRESSION_ONE:
		return compile_one(compiling, node, operand);
	case EXPRESSION_TWO:
		return compile_two(compiling, node, operand);
	default:
		return false;
	}
}

/* Compiles what has to hold. Nothing is added if it cannot; the stack is empty behind it. */
static void require(struct compiling *compiling, const struct expression *node)
{
	struct condition *condition = compiling->condition;
	const unsigned count = condition->count;
	struct operand operand;

	if (node->kind == EXPRESSION_TWO && node->op == OPERATOR_AND) {
		require(compiling, node->parts[0]);
		require(compiling, node->parts[1]);
	} else if (compile(compiling, node, &operand)) {
		condition->ops[condition->count - 1].is_required = true;
	} else {
		condition->count = count;
	}
	compiling->depth = 0;
}

void expression_compile(const struct expression *expression, const struct prototype *prototype,
			struct condition *condition)
{
	struct compiling compiling = {prototype, condition, 0};

	condition->count = 0;
	require(&compiling, expression);
}
