/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capture plans: where each ABI passes parameters and results, and what is captured when. */
#include "abis.h"
#include "proto/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct plan_limits limits = {.string_max = 100, .array_max = 4};

/* The plan of the only prototype in `text`. */
static struct capture_plan *plan_of(const char *text, const struct abi *abi)
{
	struct protolib *lib = protolib_create();
	size_t cursor = 0;

	assert_int_equal(protolib_parse(lib, "t", text, NULL, NULL), 0);
	const struct prototype *prototype = protolib_next(lib, &cursor);

	assert_non_null(prototype);
	struct capture_plan *plan = plan_create(prototype, abi, &limits);

	/* A plan does not refer to its prototype. */
	protolib_destroy(lib);
	assert_int_equal(plan->string_max, 100);
	assert_int_equal(plan->word, abi->word);
	return plan;
}

static void assert_gpr(const struct capture_op *op, unsigned argument, unsigned index,
		       unsigned size, bool is_signed)
{
	assert_int_equal(op->argument, argument);
	assert_int_equal(op->place, PLACE_GPR);
	assert_int_equal(op->index, index);
	assert_int_equal(op->size, size);
	assert_int_equal(op->is_signed, is_signed);
}

static void assert_xmm(const struct capture_op *op, unsigned argument, unsigned index,
		       unsigned size)
{
	assert_int_equal(op->kind, CAPTURE_FLOAT);
	assert_int_equal(op->argument, argument);
	assert_int_equal(op->place, PLACE_XMM);
	assert_int_equal(op->index, index);
	assert_int_equal(op->size, size);
}

static void assert_stack(const struct capture_op *op, unsigned argument, int offset, unsigned size)
{
	assert_int_equal(op->argument, argument);
	assert_int_equal(op->place, PLACE_STACK);
	assert_int_equal(op->offset, offset);
	assert_int_equal(op->size, size);
}

static void test_x86_64_integers(void **state)
{
	(void)state;
	struct capture_plan *plan = plan_of(
		"long f(int, ulong, char, addr, string, ushort, int, long long, file);", &abi64);

	assert_int_equal(plan->entry_count, 9);
	assert_int_equal(plan->arg_count, 9);
	assert_gpr(&plan->entry[0], 0, REG_DI, 4, true);
	assert_gpr(&plan->entry[1], 1, REG_SI, 8, false);
	assert_gpr(&plan->entry[2], 2, REG_DX, 1, true);
	assert_gpr(&plan->entry[3], 3, REG_CX, 8, false);
	assert_gpr(&plan->entry[4], 4, R8, 8, false);
	assert_int_equal(plan->entry[4].kind, CAPTURE_STRING);
	assert_gpr(&plan->entry[5], 5, R9, 2, false);
	assert_stack(&plan->entry[6], 6, 8, 4);
	assert_stack(&plan->entry[7], 7, 16, 8);
	assert_stack(&plan->entry[8], 8, 24, 8);
	assert_int_equal(plan->exit_count, 1);
	assert_gpr(&plan->exit[0], VALUE_RESULT, REG_AX, 8, true);
	assert_int_equal(plan->exit[0].kind, CAPTURE_WORD);
	assert_false(plan->needs_saved);
	assert_false(plan->needs_fp_entry);
	assert_false(plan->needs_fp_exit);
	assert_int_equal(plan->first_stack, 8);
	assert_int_equal(plan->next_stack, 32);
	plan_destroy(plan);
}

static void test_x86_64_floats(void **state)
{
	(void)state;
	struct capture_plan *plan = plan_of("double f(double, int, float, double, double, double,"
					    " double, double, double, double, float, int);",
					    &abi64);

	assert_xmm(&plan->entry[0], 0, 0, 8);
	assert_gpr(&plan->entry[1], 1, REG_DI, 4, true);
	assert_xmm(&plan->entry[2], 2, 1, 4);
	assert_xmm(&plan->entry[8], 8, 7, 8);
	assert_stack(&plan->entry[9], 9, 8, 8);
	assert_stack(&plan->entry[10], 10, 16, 4);
	assert_gpr(&plan->entry[11], 11, REG_SI, 4, true);
	assert_xmm(&plan->exit[0], VALUE_RESULT, 0, 8);
	assert_true(plan->needs_fp_entry);
	assert_true(plan->needs_fp_exit);
	assert_int_equal(plan->next_int, 2);
	assert_int_equal(plan->next_fp, 8);
	plan_destroy(plan);
}

static void test_x86_64_long_double(void **state)
{
	(void)state;
	struct capture_plan *plan = plan_of("long double f(long double, int, long double, int, int,"
					    " int, int, int, int, long double, int);",
					    &abi64);

	assert_stack(&plan->entry[0], 0, 8, 10);
	assert_gpr(&plan->entry[1], 1, REG_DI, 4, true);
	assert_stack(&plan->entry[2], 2, 24, 10);
	assert_stack(&plan->entry[8], 8, 40, 4);
	/* Aligned to 16, counted from the first stack argument. */
	assert_stack(&plan->entry[9], 9, 56, 10);
	assert_stack(&plan->entry[10], 10, 72, 4);
	assert_int_equal(plan->exit[0].place, PLACE_ST0);
	assert_int_equal(plan->exit[0].size, 10);
	assert_true(plan->needs_fp_exit);
	assert_false(plan->needs_fp_entry);
	plan_destroy(plan);
}

static void test_i386(void **state)
{
	(void)state;
	struct capture_plan *plan = plan_of("float f(int, char, long long, double, float,"
					    " long double, string, long);",
					    &abi32);

	assert_stack(&plan->entry[0], 0, 4, 4);
	assert_stack(&plan->entry[1], 1, 8, 1);
	assert_stack(&plan->entry[2], 2, 12, 8);
	assert_stack(&plan->entry[3], 3, 20, 8);
	assert_stack(&plan->entry[4], 4, 28, 4);
	assert_stack(&plan->entry[5], 5, 32, 10);
	assert_stack(&plan->entry[6], 6, 44, 4);
	assert_stack(&plan->entry[7], 7, 48, 4);
	assert_int_equal(plan->next_stack, 52);
	assert_int_equal(plan->exit[0].kind, CAPTURE_FLOAT);
	assert_int_equal(plan->exit[0].place, PLACE_ST0);
	assert_false(plan->needs_fp_entry);
	assert_true(plan->needs_fp_exit);
	plan_destroy(plan);
}

/* Like system calls of i386. */
static void test_wide_in_pairs(void **state)
{
	(void)state;
	const struct abi abi = {.word = 4,
				.int_args = 6,
				.int_arg = {0, 1, 2, 3, 4, 5},
				.stack_first = 4,
				.wide_in_pairs = true};
	struct capture_plan *plan = plan_of("void f(int, long long, +ullong, addr, ullong);", &abi);

	assert_gpr(&plan->entry[0], 0, 0, 4, true);
	assert_int_equal(plan->entry[1].place, PLACE_PAIR);
	assert_int_equal(plan->entry[1].index, 1);
	assert_int_equal(plan->entry[1].high, 2);
	assert_int_equal(plan->entry[1].size, 8);
	assert_int_equal(plan->args[2].place, PLACE_PAIR);
	assert_int_equal(plan->args[2].index, 3);
	assert_int_equal(plan->args[2].offset, 4);
	assert_int_equal(plan->exit[0].place, PLACE_SAVED);
	assert_int_equal(plan->args[3].index, 5);
	/* No register is left for it. */
	assert_int_equal(plan->args[4].place, PLACE_STACK);
	plan_destroy(plan);
}

static void test_results(void **state)
{
	(void)state;
	struct capture_plan *plan = plan_of("void f(int);", &abi64);

	assert_int_equal(plan->exit_count, 0);
	plan_destroy(plan);
	plan = plan_of("uint8 f();", &abi64);
	assert_gpr(&plan->exit[0], VALUE_RESULT, REG_AX, 1, false);
	plan_destroy(plan);
	plan = plan_of("long long f();", &abi64);
	assert_gpr(&plan->exit[0], VALUE_RESULT, REG_AX, 8, true);
	plan_destroy(plan);
	plan = plan_of("long long f();", &abi32);
	assert_int_equal(plan->exit[0].place, PLACE_PAIR);
	assert_int_equal(plan->exit[0].index, REG_AX);
	assert_int_equal(plan->exit[0].high, REG_DX);
	assert_int_equal(plan->exit[0].size, 8);
	plan_destroy(plan);
	plan = plan_of("addr f();", &abi32);
	assert_gpr(&plan->exit[0], VALUE_RESULT, REG_AX, 4, false);
	plan_destroy(plan);
	plan = plan_of("string f();", &abi64);
	assert_int_equal(plan->exit[0].kind, CAPTURE_STRING);
	assert_int_equal(plan->exit[0].place, PLACE_GPR);
	plan_destroy(plan);
	plan = plan_of("float f();", &abi64);
	assert_xmm(&plan->exit[0], VALUE_RESULT, 0, 4);
	plan_destroy(plan);
}

static void test_lengths(void **state)
{
	(void)state;
	struct capture_plan *plan = plan_of("int f(string, string[9], string[arg4], int);", &abi64);

	assert_int_equal(plan->entry[0].length_from, LENGTH_NUL);
	assert_int_equal(plan->entry[1].length_from, LENGTH_CONSTANT);
	assert_int_equal(plan->entry[1].length, 9);
	assert_int_equal(plan->entry[2].length_from, LENGTH_ARGUMENT);
	assert_int_equal(plan->entry[2].length, 3);
	assert_int_equal(plan->args[3].place, PLACE_GPR);
	assert_int_equal(plan->args[3].index, REG_CX);
	assert_true(plan->args[3].is_signed);
	assert_false(plan->needs_saved);
	plan_destroy(plan);
}

static void test_on_return(void **state)
{
	(void)state;
	struct capture_plan *plan =
		plan_of("long read(int, +string[retval], ulong, double, long double);", &abi64);

	assert_int_equal(plan->entry_count, 1);
	assert_int_equal(plan->exit_count, 5);
	assert_int_equal(plan->exit[0].argument, VALUE_RESULT);
	assert_int_equal(plan->exit[1].length_from, LENGTH_RESULT);
	for (unsigned i = 1; i < 4; i++) {
		assert_int_equal(plan->exit[i].argument, i);
		assert_int_equal(plan->exit[i].place, PLACE_SAVED);
		assert_int_equal(plan->exit[i].index, i);
	}
	/* Does not fit into a saved word. */
	assert_stack(&plan->exit[4], 4, 8, 10);
	assert_true(plan->needs_saved);
	assert_int_equal(plan->saved_mask, 0xe);
	assert_true(plan->needs_fp_entry);
	assert_false(plan->needs_fp_exit);
	assert_false(plan->saves_varargs);
	plan_destroy(plan);

	/* The length is the only word that is needed from the entry. */
	plan = plan_of("string[arg2] f(int, int);", &abi32);
	assert_true(plan->needs_saved);
	assert_int_equal(plan->saved_mask, 2);
	plan_destroy(plan);

	plan = plan_of("void f(+int);", &abi32);
	assert_int_equal(plan->entry_count, 0);
	assert_int_equal(plan->exit_count, 1);
	assert_true(plan->needs_saved);
	plan_destroy(plan);
}

static void test_formats(void **state)
{
	(void)state;
	struct capture_plan *plan = plan_of("int fprintf(file, format);", &abi64);

	assert_int_equal(plan->entry_count, 2);
	assert_int_equal(plan->entry[1].kind, CAPTURE_FORMAT);
	assert_true(plan->varargs);
	assert_false(plan->saves_varargs);
	assert_false(plan->needs_saved);
	/* The format may contain %f. */
	assert_true(plan->needs_fp_entry);
	assert_int_equal(plan->next_int, 2);
	assert_int_equal(plan->next_fp, 0);
	assert_int_equal(plan->next_stack, 8);
	plan_destroy(plan);

	plan = plan_of("int sprintf(+string, format);", &abi64);
	assert_int_equal(plan->entry_count, 0);
	assert_int_equal(plan->exit_count, 3);
	assert_int_equal(plan->exit[2].kind, CAPTURE_FORMAT);
	assert_int_equal(plan->exit[2].place, PLACE_SAVED);
	assert_true(plan->needs_saved);
	assert_true(plan->saves_varargs);
	assert_true(plan->needs_fp_entry);
	plan_destroy(plan);

	plan = plan_of("int sprintf(+string, format);", &abi32);
	assert_false(plan->needs_fp_entry);
	assert_int_equal(plan->next_stack, 12);
	plan_destroy(plan);
}

static void test_too_many_parameters(void **state)
{
	(void)state;
	static const struct type type = {.kind = TYPE_INT, .width = WIDTH_INT, .is_signed = true};
	static const struct type far = {
		.kind = TYPE_STRING, .length_from = STRING_ARGUMENT, .length = 38};
	struct parameter parameters[40];
	struct prototype prototype = {.result = &type, .parameters = parameters};

	prototype.parameter_count = sizeof parameters / sizeof parameters[0];
	for (unsigned i = 0; i < prototype.parameter_count; i++)
		parameters[i] = (struct parameter){.type = &type};
	parameters[0].type = &far;
	struct capture_plan *plan = plan_create(&prototype, &abi64, &limits);

	assert_int_equal(plan->arg_count, CAPTURE_ARGS_MAX);
	assert_int_equal(plan->entry_count, CAPTURE_ARGS_MAX);
	assert_int_equal(plan->entry[0].length_from, LENGTH_NUL);
	assert_stack(&plan->entry[31], 31, 8 + 25 * 8, 4);
	plan_destroy(plan);
}

static void test_guess(void **state)
{
	(void)state;
	struct capture_plan *plan = plan_create(prototype_guess(), &abi64, &limits);

	assert_int_equal(plan->entry_count, 4);
	assert_gpr(&plan->entry[3], 3, REG_CX, 8, true);
	assert_int_equal(plan->exit_count, 1);
	plan_destroy(plan);
	plan = plan_create(prototype_guess(), &abi32, &limits);
	assert_stack(&plan->entry[3], 3, 16, 4);
	plan_destroy(plan);
}

static void test_empty(void **state)
{
	(void)state;
	struct capture_plan *plan = plan_create_empty();

	assert_int_equal(plan->entry_count, 0);
	assert_int_equal(plan->exit_count, 0);
	assert_false(plan->needs_saved || plan->needs_fp_entry || plan->needs_fp_exit);
	plan_destroy(plan);
	plan_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64_integers),
		cmocka_unit_test(test_wide_in_pairs),
		cmocka_unit_test(test_x86_64_floats),
		cmocka_unit_test(test_x86_64_long_double),
		cmocka_unit_test(test_i386),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_on_return),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_too_many_parameters),
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
