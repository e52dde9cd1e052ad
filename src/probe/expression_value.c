/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes with the values of expressions.
 *
 * Numbers are computed in 64 bits, so a sum of two ints does not overflow. If one of two operands
 * is a double, both are made one; else, if one is unsigned, the result is. A comparison of order
 * goes by value: a negative number is less than any unsigned one, which C has otherwise.
 */
#include "probe/expression_value.h"

#include <math.h>
#include <string.h>

static bool is_number(const struct expression_value *value)
{
	return value->type == EXPRESSION_SIGNED || value->type == EXPRESSION_UNSIGNED ||
	       value->type == EXPRESSION_FLOAT ||
	       (value->type == EXPRESSION_TEXT && value->has_number);
}

static double real_of(const struct expression_value *value)
{
	if (value->type == EXPRESSION_FLOAT)
		return value->real;
	return value->type == EXPRESSION_SIGNED ? (double)(int64_t)value->number
						: (double)value->number;
}

bool expression_is_true(const struct expression_value *value)
{
	switch (value->type) {
	case EXPRESSION_NONE:
		return false;
	case EXPRESSION_FLOAT:
		return value->real != 0;
	case EXPRESSION_TEXT:
		return !value->has_number || value->number;
	default:
		return value->number != 0;
	}
}

/* Returns a negative number, 0 or a positive one. */
static int order_of(const struct expression_value *left, const struct expression_value *right)
{
	if (left->type == EXPRESSION_FLOAT || right->type == EXPRESSION_FLOAT)
		return (real_of(left) > real_of(right)) - (real_of(left) < real_of(right));
	const bool left_below = left->type == EXPRESSION_SIGNED && (int64_t)left->number < 0;
	const bool right_below = right->type == EXPRESSION_SIGNED && (int64_t)right->number < 0;

	if (left_below != right_below)
		return left_below ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

static bool are_equal(const struct expression_value *left, const struct expression_value *right)
{
	if (left->type == EXPRESSION_FLOAT || right->type == EXPRESSION_FLOAT)
		return order_of(left, right) == 0;
	return left->number == right->number;
}

/* A text that was cut is equal to no other, as its end is not known. */
static struct expression_value compare_texts(enum expression_operator op,
					     const struct expression_value *left,
					     const struct expression_value *right)
{
	const size_t common = left->length < right->length ? left->length : right->length;
	int order = common ? memcmp(left->text, right->text, common) : 0;

	if (!order)
		order = (left->length > right->length) - (left->length < right->length);
	if (!order)
		order = left->is_cut - right->is_cut;
	switch (op) {
	case OPERATOR_EQUAL:
		return expression_signed(!order);
	case OPERATOR_NOT_EQUAL:
		return expression_signed(order != 0);
	case OPERATOR_LESS:
		return expression_signed(order < 0);
	case OPERATOR_AT_MOST:
		return expression_signed(order <= 0);
	case OPERATOR_GREATER:
		return expression_signed(order > 0);
	case OPERATOR_AT_LEAST:
		return expression_signed(order >= 0);
	default:
		return expression_none();
	}
}

static struct expression_value remainder_of(double left, double right)
{
	const double quotient = right != 0 ? left / right : 0x1p63;

	/* Larger quotients have no remainder that means anything. */
	if (!(quotient < 0x1p62 && quotient > -0x1p62))
		return expression_none();
	return expression_float(left - right * (double)(int64_t)quotient);
}

static struct expression_value compute_reals(enum expression_operator op, double left, double right)
{
	switch (op) {
	case OPERATOR_PLUS:
		return expression_float(left + right);
	case OPERATOR_MINUS:
		return expression_float(left - right);
	case OPERATOR_TIMES:
		return expression_float(left * right);
	case OPERATOR_DIVIDE:
		return right != 0 ? expression_float(left / right) : expression_none();
	case OPERATOR_REMAINDER:
		return remainder_of(left, right);
	default:
		return expression_none();
	}
}

static struct expression_value divide(enum expression_operator op,
				      const struct expression_value *left,
				      const struct expression_value *right, bool is_signed)
{
	const int64_t one = (int64_t)left->number, other = (int64_t)right->number;
	const bool is_quotient = op == OPERATOR_DIVIDE;

	if (!right->number || (is_signed && one == INT64_MIN && other == -1))
		return expression_none();
	if (is_signed)
		return expression_signed(is_quotient ? one / other : one % other);
	return expression_unsigned(is_quotient ? left->number / right->number
					       : left->number % right->number);
}

static struct expression_value shift(enum expression_operator op,
				     const struct expression_value *left,
				     const struct expression_value *right)
{
	struct expression_value result = *left;

	if (right->number > 63)
		return expression_none();
	if (op == OPERATOR_LEFT)
		result.number <<= right->number;
	else if (left->type == EXPRESSION_SIGNED)
		result.number = (uint64_t)((int64_t)left->number >> right->number);
	else
		result.number >>= right->number;
	return result;
}

static struct expression_value compute_integers(enum expression_operator op,
						const struct expression_value *left,
						const struct expression_value *right)
{
	const bool is_signed = left->type == EXPRESSION_SIGNED && right->type == EXPRESSION_SIGNED;
	const uint64_t one = left->number, other = right->number;
	uint64_t result;

	switch (op) {
	case OPERATOR_BIT_OR:
		result = one | other;
		break;
	case OPERATOR_BIT_XOR:
		result = one ^ other;
		break;
	case OPERATOR_BIT_AND:
		result = one & other;
		break;
	case OPERATOR_PLUS:
		result = one + other;
		break;
	case OPERATOR_MINUS:
		result = one - other;
		break;
	case OPERATOR_TIMES:
		result = one * other;
		break;
	case OPERATOR_DIVIDE:
	case OPERATOR_REMAINDER:
		return divide(op, left, right, is_signed);
	case OPERATOR_LEFT:
	case OPERATOR_RIGHT:
		return shift(op, left, right);
	default:
		return expression_none();
	}
	return is_signed ? expression_signed((int64_t)result) : expression_unsigned(result);
}

static bool is_nan(const struct expression_value *value)
{
	return value->type == EXPRESSION_FLOAT && isnan(value->real);
}

static struct expression_value compare_numbers(enum expression_operator op,
					       const struct expression_value *left,
					       const struct expression_value *right)
{
	/* As in C: a NaN is not equal to anything, and neither before nor behind it. */
	if (is_nan(left) || is_nan(right))
		return expression_signed(op == OPERATOR_NOT_EQUAL);
	switch (op) {
	case OPERATOR_EQUAL:
		return expression_signed(are_equal(left, right));
	case OPERATOR_NOT_EQUAL:
		return expression_signed(!are_equal(left, right));
	case OPERATOR_LESS:
		return expression_signed(order_of(left, right) < 0);
	case OPERATOR_AT_MOST:
		return expression_signed(order_of(left, right) <= 0);
	case OPERATOR_GREATER:
		return expression_signed(order_of(left, right) > 0);
	case OPERATOR_AT_LEAST:
		return expression_signed(order_of(left, right) >= 0);
	default:
		return expression_none();
	}
}

/* Returns what the result counts: ns and ns are ns, their quotient is a plain number. */
static enum expression_unit unit_of(enum expression_operator op,
				    const struct expression_value *left,
				    const struct expression_value *right)
{
	const bool have_two = left->unit != UNIT_NONE && right->unit != UNIT_NONE;

	if (op == OPERATOR_DIVIDE || op == OPERATOR_TIMES)
		return have_two || (op == OPERATOR_DIVIDE && right->unit) ? UNIT_NONE
		       : left->unit					  ? left->unit
									  : right->unit;
	if (op == OPERATOR_MINUS && left->unit == UNIT_TIME && right->unit == UNIT_TIME)
		return UNIT_DURATION;
	return left->unit != UNIT_NONE ? left->unit : right->unit;
}

/* Returns the pointer instead of the text that it leads to. */
static struct expression_value number_of(const struct expression_value *value)
{
	struct expression_value number = *value;

	if (value->type == EXPRESSION_TEXT) {
		number = expression_unsigned(value->number);
		number.unit = UNIT_POINTER;
	}
	return number;
}

struct expression_value expression_compute(enum expression_operator op,
					   const struct expression_value *left,
					   const struct expression_value *right)
{
	if (left->type == EXPRESSION_NONE || right->type == EXPRESSION_NONE)
		return left->type == EXPRESSION_NONE ? *left : *right;
	if (left->type == EXPRESSION_TEXT && right->type == EXPRESSION_TEXT)
		return compare_texts(op, left, right);
	/* A text has a pointer to be compared with NULL, and for nothing else. */
	const bool has_text = left->type == EXPRESSION_TEXT || right->type == EXPRESSION_TEXT;

	if (!is_number(left) || !is_number(right) ||
	    (has_text && op != OPERATOR_EQUAL && op != OPERATOR_NOT_EQUAL))
		return expression_none();
	const struct expression_value one = number_of(left), other = number_of(right);

	if (op >= OPERATOR_EQUAL && op <= OPERATOR_AT_LEAST)
		return compare_numbers(op, &one, &other);
	struct expression_value result = one.type == EXPRESSION_FLOAT ||
							 other.type == EXPRESSION_FLOAT
						 ? compute_reals(op, real_of(&one), real_of(&other))
						 : compute_integers(op, &one, &other);

	result.unit = unit_of(op, &one, &other);
	return result;
}

struct expression_value expression_compute_one(enum expression_operator op,
					       const struct expression_value *operand)
{
	struct expression_value value = number_of(operand);

	if (op == OPERATOR_NOT && operand->type != EXPRESSION_NONE)
		return expression_signed(!expression_is_true(operand));
	if (operand->type == EXPRESSION_TEXT && !operand->has_number)
		return expression_none();
	if (op == OPERATOR_NEGATE && value.type == EXPRESSION_FLOAT) {
		value.real = -value.real;
	} else if (op == OPERATOR_NEGATE) {
		value.number = -value.number;
		value.type = value.type == EXPRESSION_NONE ? EXPRESSION_NONE : EXPRESSION_SIGNED;
	} else if (op == OPERATOR_BIT_NOT && value.type != EXPRESSION_FLOAT) {
		value.number = ~value.number;
	} else if (op == OPERATOR_BIT_NOT) {
		return expression_none();
	}
	return value;
}

struct expression_value expression_log2(const struct expression_value *value)
{
	struct expression_value number = number_of(value), result;

	if (!is_number(value))
		return expression_none();
	if (is_nan(&number))
		return expression_none();
	if (number.type == EXPRESSION_FLOAT)
		number = number.real < 0	? expression_signed(number.real <= -1 ? -1 : 0)
			 : number.real < 0x1p64 ? expression_unsigned((uint64_t)number.real)
						: expression_unsigned(UINT64_MAX);
	if (number.type == EXPRESSION_SIGNED && (int64_t)number.number < 0)
		result = expression_signed(POWER_BELOW_0);
	else
		result = expression_signed(number.number ? 63 - __builtin_clzll(number.number)
							 : POWER_OF_0);
	result.unit = UNIT_POWER;
	return result;
}

struct expression_value expression_bucket(const struct expression_value *value,
					  const struct expression_value *width)
{
	const struct expression_value number = number_of(value);
	struct expression_value rest;

	if (!is_number(value) || !is_number(width) || !expression_is_true(width))
		return expression_none();
	rest = expression_compute(OPERATOR_REMAINDER, &number, width);
	/* C rounds towards 0. */
	const struct expression_value zero = expression_signed(0);
	const struct expression_value is_below = expression_compute(OPERATOR_LESS, &rest, &zero);

	if (expression_is_true(&is_below))
		rest = expression_compute(OPERATOR_PLUS, &rest, width);
	rest.unit = UNIT_NONE;
	const struct expression_value bucket = expression_compute(OPERATOR_MINUS, &number, &rest);

	/* The bucket of the smallest number begins below it. */
	if (bucket.type == EXPRESSION_SIGNED && number.type == EXPRESSION_SIGNED &&
	    (int64_t)bucket.number > (int64_t)number.number)
		return expression_signed(INT64_MIN);
	return bucket;
}
