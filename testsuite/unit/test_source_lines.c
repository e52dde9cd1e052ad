/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of source lines: questions, and answers that may be anything, since they come from
 * a process that reads damaged files.
 */
#include "target/debuginfo/source_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t addresses[] = {0x1000, 0x20, UINT64_MAX};

enum { ADDRESSES = sizeof addresses / sizeof *addresses };

/* Takes an answer about all addresses; it ends before the NUL of the string. */
#define TAKE(lines, answer) take(lines, answer, sizeof(answer) - 1)

static void take(struct source_lines *lines, const char *answer, size_t length)
{
	/* A copy of its own shows reads beyond its end. */
	char *bytes = malloc(length);
	const struct strbuf text = {.text = bytes, .length = length};

	assert_non_null(bytes);
	memcpy(bytes, answer, length);
	source_lines_take(lines, addresses, ADDRESSES, &text);
	free(bytes);
}

static void questions(void **state)
{
	struct source_lines lines = {0};
	uint64_t unknown[DWARF_ADDRESSES_MAX];
	size_t next = 0;
	char *question = source_lines_question(addresses, ADDRESSES, SOURCE_LINES);

	(void)state;
	assert_string_equal(question, "s 1000 20 ffffffffffffffff");
	free(question);
	TAKE(&lines, "0\0"
		     "1\0003\0a.c\0\0");
	assert_int_equal(source_lines_unknown(&lines, addresses, ADDRESSES, &next, unknown), 1);
	assert_int_equal(next, ADDRESSES);
	assert_true(unknown[0] == UINT64_MAX);
	assert_int_equal(source_lines_unknown(&lines, addresses, ADDRESSES, &next, unknown), 0);
	source_lines_deinit(&lines);
}

static void more_addresses_than_a_question_may_have(void **state)
{
	const struct source_lines lines = {0};
	uint64_t many[2 * DWARF_ADDRESSES_MAX + 1], unknown[DWARF_ADDRESSES_MAX];
	size_t next = 0, count = sizeof many / sizeof *many;

	(void)state;
	for (size_t i = 0; i < count; i++)
		many[i] = i;
	for (size_t round = 0; round < 2; round++) {
		assert_int_equal(source_lines_unknown(&lines, many, count, &next, unknown),
				 DWARF_ADDRESSES_MAX);
		assert_true(unknown[0] == round * DWARF_ADDRESSES_MAX);
	}
	assert_int_equal(source_lines_unknown(&lines, many, count, &next, unknown), 1);
	assert_int_equal(source_lines_unknown(&lines, many, count, &next, unknown), 0);
}

static void answers(void **state)
{
	struct source_lines lines = {0};

	(void)state;
	TAKE(&lines, "0\0"
		     "2\0007\0/src/a.h\0inner\00012\0/src/a.c\0\0"
		     "1\0000\0\0\0");
	assert_int_equal(source_lines_find(&lines, 0x1000)->count, 0);
	const struct source_code *code = source_lines_find(&lines, 0x20);

	assert_int_equal(code->count, 2);
	assert_int_equal(code->places[0].line, 7);
	assert_string_equal(code->places[0].file, "/src/a.h");
	assert_string_equal(code->places[0].function, "inner");
	assert_int_equal(code->places[1].line, 12);
	assert_string_equal(code->places[1].file, "/src/a.c");
	assert_null(code->places[1].function);
	code = source_lines_find(&lines, UINT64_MAX);
	assert_int_equal(code->count, 1);
	assert_null(code->places[0].file);
	assert_null(source_lines_find(&lines, 0x21));
	/* A second answer takes the place of the first. */
	TAKE(&lines, "1\0001\0b.c\0\0");
	assert_string_equal(source_lines_find(&lines, 0x1000)->places[0].file, "b.c");
	source_lines_make_room(&lines, 1);
	assert_non_null(source_lines_find(&lines, 0x20));
	source_lines_make_room(&lines, 1 << 16);
	assert_null(source_lines_find(&lines, 0x20));
	source_lines_deinit(&lines);
}

#define assert_unknown(answer)                                                                     \
	do {                                                                                       \
		struct source_lines lines_ = {0};                                                  \
		TAKE(&lines_, answer);                                                             \
		assert_null(source_lines_find(&lines_, 0x1000));                                   \
		source_lines_deinit(&lines_);                                                      \
	} while (0)

static void answers_that_make_no_sense(void **state)
{
	(void)state;
	assert_unknown("");
	assert_unknown("0"); /* no NUL */
	assert_unknown("\0");
	assert_unknown("x\0");
	assert_unknown("-1\0");
	assert_unknown("257\0");
	assert_unknown("99999999999999999999999\0");
	assert_unknown("1\0");
	assert_unknown("1\0007\0");
	assert_unknown("1\0007\0a.c\0");
	assert_unknown("1\0007\0a.c\0name");
	assert_unknown("1\0007x\0a.c\0\0");
	assert_unknown("1\0004294967296\0a.c\0\0");
	assert_unknown("2\0007\0a.c\0f\0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(questions),
		cmocka_unit_test(more_addresses_than_a_question_may_have),
		cmocka_unit_test(answers),
		cmocka_unit_test(answers_that_make_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
