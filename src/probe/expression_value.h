/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of expressions, and what operators make of them: see expression.h. */
#ifndef TRACER_PROBE_EXPRESSION_VALUE_H
#define TRACER_PROBE_EXPRESSION_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum expression_operator {
	OPERATOR_OR,
	OPERATOR_AND,
	OPERATOR_BIT_OR,
	OPERATOR_BIT_XOR,
	OPERATOR_BIT_AND,
	OPERATOR_EQUAL,
	OPERATOR_NOT_EQUAL,
	OPERATOR_MATCHES,
	OPERATOR_NOT_MATCHES,
	OPERATOR_LESS,
	OPERATOR_AT_MOST,
	OPERATOR_GREATER,
	OPERATOR_AT_LEAST,
	OPERATOR_LEFT,
	OPERATOR_RIGHT,
	OPERATOR_PLUS,
	OPERATOR_MINUS,
	OPERATOR_TIMES,
	OPERATOR_DIVIDE,
	OPERATOR_REMAINDER,
	/* with one operand: */
	OPERATOR_NOT,
	OPERATOR_BIT_NOT,
	OPERATOR_NEGATE
};

enum expression_type {
	EXPRESSION_NONE,     /* not known: the call has no such value, or it cannot be computed */
	EXPRESSION_SIGNED,   /* `number`, as an int64_t */
	EXPRESSION_UNSIGNED, /* `number` */
	EXPRESSION_FLOAT,    /* `real` */
	/* `text`; of a parameter also `number`, the pointer to it, if `has_number` */
	EXPRESSION_TEXT
};

/* What a number counts, which tells how it is shown. */
enum expression_unit {
	UNIT_NONE,
	UNIT_DURATION, /* ns */
	UNIT_TIME,     /* ns since the Epoch */
	UNIT_POINTER,
	UNIT_POWER /* the exponent of a power of two: log2() */
};

struct expression_value {
	enum expression_type type;
	enum expression_unit unit;
	uint64_t number;
	double real;
	const char *text; /* `length` bytes, not terminated; whoever made the value owns them */
	size_t length;
	bool is_cut;	  /* there was more text than was captured */
	bool has_number;  /* EXPRESSION_TEXT: see there */
	bool is_object;	  /* EXPRESSION_TEXT: the number leads to an object that has the text */
	bool is_rendered; /* EXPRESSION_TEXT: a value as the trace shows it, with its escapes */
	/* EXPRESSION_NONE: memory could not be read (else the call has no such value) */
	bool is_unreadable;
};

static inline struct expression_value expression_none(void)
{
	return (struct expression_value){.type = EXPRESSION_NONE};
}

static inline struct expression_value expression_signed(int64_t number)
{
	return (struct expression_value){.type = EXPRESSION_SIGNED, .number = (uint64_t)number};
}

static inline struct expression_value expression_unsigned(uint64_t number)
{
	return (struct expression_value){.type = EXPRESSION_UNSIGNED, .number = number};
}

static inline struct expression_value expression_float(double real)
{
	return (struct expression_value){.type = EXPRESSION_FLOAT, .real = real};
}

static inline struct expression_value expression_text(const char *text, size_t length)
{
	return (struct expression_value){.type = EXPRESSION_TEXT, .text = text, .length = length};
}

/* Returns true for a number that is not 0, and for text; a value that is not known is false. */
bool expression_is_true(const struct expression_value *value);

/*
 * Computes with numbers and text, as C does with int64_t, uint64_t and double, but for comparisons
 * of order, which compare by value. The result is not known if an operand is not, for a division by
 * 0, and for shifts by less than 0 or more than 63. OPERATOR_AND, _OR and _MATCHES are not for
 * these functions.
 */
struct expression_value expression_compute(enum expression_operator op,
					   const struct expression_value *left,
					   const struct expression_value *right);
struct expression_value expression_compute_one(enum expression_operator op,
					       const struct expression_value *operand);
/* What log2() says of 0 and of negative numbers. */
enum { POWER_OF_0 = -1, POWER_BELOW_0 = -2 };

/* log2(x): the exponent of the largest power of two that is not above x. */
struct expression_value expression_log2(const struct expression_value *value);
/* bucket(x, width): the largest multiple of width that is not above x. */
struct expression_value expression_bucket(const struct expression_value *value,
					  const struct expression_value *width);

#endif
