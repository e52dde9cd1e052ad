/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expressions: what they evaluate to, where mistakes are, and which functions they fit. */
#include "probe/expression.h"

#include "base/strbuf.h"
#include "probe/expression_compile.h"
#include "probe/expression_fit.h"
#include "probe/expression_run.h"
#include "sink/call_values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Reals in expressions have no exponents. */
#define E16 "10000000000000000.0"
#define E64 E16 " * " E16 " * " E16 " * " E16
#define E320 E64 " * " E64 " * " E64 " * " E64 " * " E64
#define INFINITE "(" E320 ")"
#define NAN "(" INFINITE " - " INFINITE ")"

/* A call: f(5, "SELECT 1", NULL, -3, unreadable) = 7, in 1.5 ms. */
static struct expression_value value_of(void *context, const struct expression *node,
					struct expression_run *run)
{
	static const char text[] = "SELECT 1";
	struct expression_value value;

	(void)context;
	(void)run;
	switch (node->name) {
	case NAME_ARGUMENT:
		break;
	case NAME_RESULT:
		return expression_signed(7);
	case NAME_DURATION:
		value = expression_unsigned(1500000);
		value.unit = UNIT_DURATION;
		return value;
	case NAME_FUNCTION:
		return expression_text("f", 1);
	default:
		return expression_none();
	}
	switch (node->number) {
	case 1:
		return expression_unsigned(5);
	case 2:
		value = expression_text(text, sizeof text - 1);
		value.has_number = true;
		value.number = 0x1000;
		return value;
	case 3:
		value = expression_unsigned(0);
		value.unit = UNIT_POINTER;
		return value;
	case 4:
		return expression_signed(-3);
	case 5:
		value = expression_unsigned(0x2000);
		value.unit = UNIT_POINTER;
		value.is_unreadable = true;
		return value;
	default:
		return expression_none();
	}
}

static struct expression_value fingerprint_of(void *context, const struct expression_value *text,
					      const struct expression_value *dialect,
					      struct expression_run *run)
{
	(void)context;
	(void)dialect;
	(void)run;
	return *text;
}

static const struct expression_subject subject = {value_of, fingerprint_of, NULL};

static const struct {
	const char *text, *value; /* as call_values_add() writes it */
} evaluated[] = {
	{"1 + 2 * 3", "7"},
	{"(1 + 2) * 3", "9"},
	{"7 / 2", "3"},
	{"-7 / 2", "-3"},
	{"-7 % 3", "-1"},
	{"7 / 2.0", "3.500"},
	{"1 / 0", "-"},
	{"1 % 0", "-"},
	{"(-9223372036854775807 - 1) / -1", "-"},
	{"0x1f", "31"},
	{"010", "8"},
	{"4k", "4096"},
	{"2M", "2097152"},
	{"1G / 1M", "1024"},
	{"10ms", "0.010000"},
	{"250us + 1ms", "0.001250"},
	{"10ms / 1ms", "10"},
	{"1.5ms / 1us", "1500.000"},
	{"2m / 1s", "120"},
	{"1h / 1min", "60"},
	{"'a'", "97"},
	{"'\\n'", "10"},
	{"'\\x41'", "65"},
	{"1 << 4 | 1", "17"},
	{"1 << 64", "-"},
	{"08", "8"},
	{"1.5e3", "1500.000"},
	{"010.5", "10.500"},
	{"1.25k", "1280.000"},
	{"-1 >> 1", "-1"},
	{"~0", "-1"},
	{"6 & 3 ^ 1", "3"},
	{"!0", "1"},
	{"!5", "0"},
	{"- -5", "5"},
	{"+5", "5"},
	{"1 < 2", "1"},
	{"2 <= 1", "0"},
	{"1 == 1.0", "1"},
	{"1 < 2 == 1", "1"},
	{"1 || 1 / 0", "1"},
	{"0 && 1 / 0", "0"},
	{"1 / 0 || 1", "1"},
	{"!(1 / 0)", "-"},
	{"1 ? 2 : 3", "2"},
	{"0 ? 2 : 0 ? 4 : 5", "5"},
	{"\"a\" == \"a\"", "1"},
	{"\"a\" < \"b\"", "1"},
	{"\"abc\" =~ \"^a.c$\"", "1"},
	{"\"abc\" !~ \"b\"", "0"},
	{"\"a.c\" =~ \"a\\.c\"", "1"},
	{"\"abc\" =~ \"a\\.c\"", "0"},
	{"\"a\\tb\"", "a\tb"},
	/* of the call */
	{"arg1", "5"},
	{"arg1 + 1", "6"},
	{"arg1 - 6 < 0", "0"}, /* unsigned, as in C */
	{"arg4 < arg1", "1"},  /* but an order goes by value */
	{"arg4", "-3"},
	{"arg2", "SELECT 1"},
	{"arg2 == \"SELECT 1\"", "1"},
	{"arg2 =~ \"^select\"", "0"},
	{"arg2 =~ \"^SELECT [0-9]+$\"", "1"},
	{"arg2 == 0", "0"},
	{"arg2 != 0", "1"},
	{"arg3", "nil"},
	{"arg3 == 0", "1"},
	{"arg3 =~ \"x\"", "-"},
	{"arg5", "(unreadable)"},
	{"arg5 == 0", "0"},
	{"arg6", "-"},
	{"arg6 == 0", "-"},
	{"arg6 == 0 || arg1 == 5", "1"},
	{"result", "7"},
	{"duration", "0.001500"},
	{"duration >= 1ms", "1"},
	{"duration >= 2ms", "0"},
	{"duration / 1us", "1500"},
	{"duration * 2", "0.003000"},
	{"function == \"f\"", "1"},
	{"len(arg2)", "8"},
	{"prefix(arg2, 6)", "SELECT"},
	{"prefix(arg2, 60)", "SELECT 1"},
	{"prefix(arg2, 6) == \"SELECT\"", "1"},
	{"log2(arg1)", "[4, 8)"},
	{"log2(1)", "[1, 2)"},
	{"log2(0)", "[0]"},
	{"log2(arg4)", "(..., 0)"},
	{"log2(1024) == 10", "1"},
	{"log2(" INFINITE ")", "[9223372036854775808, ...)"},
	{"log2(" NAN ")", "-"},
	{NAN " >= 1", "0"},
	{NAN " <= 1", "0"},
	{NAN " == 1", "0"},
	{NAN " != 1", "1"},
	{"bucket(-9223372036854775807 - 1, 100)", "-9223372036854775808"},
	{"bucket(arg1, 4)", "4"},
	{"bucket(-3, 4)", "-4"},
	{"bucket(arg1, 0)", "-"},
	{"bucket(duration, 1ms)", "0.001000"},
};

static void values(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof evaluated / sizeof *evaluated; i++) {
		struct expression_error error = {0};
		struct expression *expression = expression_parse(evaluated[i].text, &error);
		struct expression_run run;
		struct strbuf text = {0};

		if (!expression)
			fail_msg("%s: column %zu: %s", evaluated[i].text, error.column,
				 error.message);
		expression_run_begin(&run, &subject);
		const struct expression_value value = expression_evaluate(expression, &run);

		call_values_add(&text, &value);
		if (strcmp(text.text, evaluated[i].value) != 0)
			fail_msg("%s: expected %s, got %s", evaluated[i].text, evaluated[i].value,
				 text.text);
		strbuf_deinit(&text);
		expression_run_end(&run);
		expression_free(expression);
	}
}

static const struct {
	const char *text;
	size_t column;
	const char *says; /* a part of the message */
} mistakes[] = {
	{"", 1, "expected a number"},
	{"1 +", 4, "expected a number"},
	{"arg3 > > 4", 8, "expected a number"},
	{"(1", 3, "expected ')'"},
	{"1)", 2, "expected an operator"},
	{"arg1 = 2", 6, "== or =~"},
	{"1 2", 3, "expected an operator"},
	{"\"abc", 1, "no closing quote"},
	{"'ab'", 1, "one character"},
	{"10q", 3, "a unit"},
	{"99999999999999999999", 1, "too large"},
	{"20000000000G", 1, "too large"},
	{"fingerprint(arg1, \"oracle\")", 19, "\"postgresql\""},
	{"foo(1)", 1, "no function foo()"},
	{"log2()", 1, "needs 1 argument"},
	{"log2(1, 2)", 9, "at most 1 argument"},
	{"arg40", 1, "at most 32"},
	{"arg1 =~ arg2", 9, "regular expression in double quotes"},
	{"arg1 =~ \"(\"", 9, "regular expression is wrong"},
	{"\"a\" + 1", 1, "expected a number, found a text"},
	{"-\"a\"", 2, "expected a number, found a text"},
	{"1 == \"a\"", 6, "cannot be compared"},
	{"1 ? 2", 6, "expected ':'"},
	{"pid->x", 4, "has no members"},
	{"arg1->", 7, "name of a member"},
	{"arg1[x]", 6, "number of an element"},
	{"arg1 ; 2", 6, "no meaning"},
};

static void columns_of_mistakes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
		struct expression_error error = {0};
		struct expression *expression = expression_parse(mistakes[i].text, &error);

		if (expression)
			fail_msg("%s is taken", mistakes[i].text);
		if (error.column != mistakes[i].column || !strstr(error.message, mistakes[i].says))
			fail_msg("%s: column %zu: %s", mistakes[i].text, error.column,
				 error.message);
		free(error.message);
	}
}

static void depth_is_bounded(void **state)
{
	struct expression_error error;
	struct strbuf text = {0};

	(void)state;
	strbuf_add_repeated(&text, '(', 100000);
	assert_null(expression_parse(text.text, &error));
	free(error.message);
	strbuf_clear(&text);
	strbuf_add_repeated(&text, '!', 100000);
	assert_null(expression_parse(text.text, &error));
	free(error.message);
	strbuf_clear(&text);
	for (unsigned i = 0; i < 10000; i++)
		strbuf_add(&text, "1+");
	strbuf_add_char(&text, '1');
	assert_null(expression_parse(text.text, &error));
	free(error.message);
	strbuf_deinit(&text);
}

static const struct {
	const char *text;
	bool fits;
} fitted[] = {
	{"arg1 > 4k", true},	      {"arg3 == 0", false},	  {"arg1 =~ \"x\"", false},
	{"arg2 =~ \"x\"", true},      {"arg2 == 0", true},	  {"arg2 > 10", false},
	{"arg2 + 1", false},	      {"len(arg1)", false},	  {"len(arg2) > 3", true},
	{"size > 1", true},	      {"other > 1", false},	  {"result == 0", true},
	{"errno == 2", false},	      {"arg1->x", false},	  {"duration > 1ms", true},
	{"function =~ \"^f\"", true}, {"arg1 > 1 || arg3", true}, {"line =~ \"a\"", true},
	{"line > 1", false},	      {"arg1 ? arg2 : 1", true},
};

static void functions_that_fit(void **state)
{
	static const struct type number = {.kind = TYPE_INT, .width = WIDTH_LONG},
				 text = {.kind = TYPE_STRING};
	static const struct parameter parameters[] = {{.type = &number, .name = "size"},
						      {.type = &text}};
	static const struct prototype prototype = {
		.name = "f", .result = &number, .parameters = parameters, .parameter_count = 2};

	(void)state;
	for (size_t i = 0; i < sizeof fitted / sizeof *fitted; i++) {
		struct expression_error error = {0};
		struct expression *expression = expression_parse(fitted[i].text, &error);

		assert_non_null(expression);
		const bool fits = expression_fits(expression, PROBE_ENTRY, &prototype, &error);

		if (fits != fitted[i].fits)
			fail_msg("%s: %s", fitted[i].text, fits ? "fits" : error.message);
		assert_true(fits || error.message);
		free(error.message);
		expression_free(expression);
	}
}

static void what_is_used(void **state)
{
	static const struct {
		const char *text;
		bool entry, wants_text;
	} used[] = {{"arg1 > 1", true, false},	    {"result > 1", false, false},
		    {"duration > 1", false, false}, {"arg2 =~ \"x\"", true, true},
		    {"arg2 == \"x\"", true, true},  {"arg2 == 0", true, false},
		    {"len(arg2) > 4", true, true},  {"1 ? arg1 : arg2", true, false}};

	(void)state;
	for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
		struct expression_error error;
		struct expression *expression = expression_parse(used[i].text, &error);

		assert_int_equal(expression_is_of_entry(expression), used[i].entry);
		assert_int_equal(expression_wants_text(expression, false), used[i].wants_text);
		expression_free(expression);
	}
}

static void what_is_decided_early(void **state)
{
	static const struct type number = {.kind = TYPE_INT,
					   .width = WIDTH_LONG,
					   .is_signed = true},
				 text = {.kind = TYPE_STRING};
	static const struct parameter parameters[] = {{.type = &number},
						      {.type = &text},
						      {.type = &number, .on_return = true},
						      {.type = &text}};
	static const struct prototype prototype = {
		.name = "f", .result = &number, .parameters = parameters, .parameter_count = 4};
	static const struct {
		const char *text;
		unsigned ops;
	} compiled[] = {
		{"arg1 > 4k", 1},
		{"arg1 > 4k && result == 0", 1},
		{"arg2 =~ \"x\" && arg1 > 4k", 1},
		{"arg1 > 4k || result == 0", 0},
		{"arg1 > 1 && arg1 < 9", 2},
		{"arg1 > 1 || arg1 < -9", 3},
		{"(arg1 & 6) == 2 || arg1 * 2 > 9", 5},
		{"arg1 == -1", 1},
		{"arg2 == 0", 1},
		{"arg2 == \"x\"", 0},
		{"arg2 == arg2", 0},
		{"arg2 != arg4", 0},
		{"arg2 < arg4", 0},
		{"arg2 == arg1", 1},
		{"arg2 && arg1", 2},
		{"!arg2", 1},
		{"!((arg2 & 1) || arg1)", 0},
		{"arg3 > 1", 0},
		{"arg1 / 2.0 > 1", 0},
		{"!(arg1 & 1)", 2},
		{"2 > 1", 2},
		{"log2(arg1) > 3", 0},
		{"arg9", 0},
		{"duration > 1ms", 0},
	};
	struct condition condition;

	(void)state;
	for (size_t i = 0; i < sizeof compiled / sizeof *compiled; i++) {
		struct expression_error error;
		struct expression *expression = expression_parse(compiled[i].text, &error);

		expression_compile(expression, &prototype, &condition);
		if (condition.count != compiled[i].ops)
			fail_msg("%s: %u operations", compiled[i].text, condition.count);
		expression_free(expression);
	}
}

static void lists(void **state)
{
	struct vec list = VEC_OF(struct expression *);
	struct expression_error error;

	(void)state;
	assert_true(expression_parse_list("function, prefix(arg2, 3), 1 + 2", &list, &error));
	assert_int_equal(list.count, 3);
	expression_list_free(&list);
	assert_false(expression_parse_list("function,", &list, &error));
	assert_int_equal(error.column, 10);
	assert_int_equal(list.count, 0);
	free(error.message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(columns_of_mistakes),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(functions_that_fit),
		cmocka_unit_test(what_is_used),
		cmocka_unit_test(what_is_decided_early),
		cmocka_unit_test(lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
