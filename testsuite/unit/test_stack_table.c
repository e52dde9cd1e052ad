/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of stacks, and how the script line and the frames of a call are shown. */
#include "sink/stacks/stack_lines.h"
#include "sink/stacks/stack_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct stack_frame library = {.language = "Python",
					   .file = "/usr/lib/python3.11/shutil.py",
					   .function = "copyfile",
					   .line = 256};
static const struct stack_frame mine = {.language = "Python",
					.file = "/srv/shop/orders.py",
					.function = "load_customer",
					.line = 131,
					.is_application = true};

static void each_stack_is_kept_once(void **state)
{
	struct stack_table *table = stack_table_create();
	const struct stack_frame both[] = {library, mine};
	struct stack_frame other = mine;
	char function[] = "load_customer";
	size_t count;

	(void)state;
	other.function = function;
	const uint32_t first = stack_table_add(table, both, 2);
	const uint32_t second = stack_table_add(table, &mine, 1);

	assert_int_not_equal(first, 0);
	assert_int_not_equal(first, second);
	assert_int_equal(stack_table_add(table, &other, 1), second); /* equal texts elsewhere */
	assert_int_equal(stack_table_add(table, both, 2), first);
	memset(function, 'x', 4); /* texts are copied */
	const struct stack_frame *frames = stack_table_get(table, second, &count);

	assert_int_equal(count, 1);
	assert_string_equal(frames->function, "load_customer");
	other = mine;
	other.line++;
	assert_int_not_equal(stack_table_add(table, &other, 1), second);
	other = mine;
	other.function = NULL;
	assert_int_not_equal(stack_table_add(table, &other, 1), second);
	assert_int_equal(stack_table_add(table, both, 0), 0);
	stack_table_destroy(table);
}

static void numbers_that_are_not_there(void **state)
{
	struct stack_table *table = stack_table_create();
	size_t count = 1;

	(void)state;
	assert_null(stack_table_get(table, 0, &count));
	assert_int_equal(count, 0);
	assert_null(stack_table_get(table, 7, &count));
	assert_null(stack_table_get(NULL, 1, &count));
	stack_table_destroy(table);
	stack_table_destroy(NULL);
}

typedef void put_stack(struct outbuf *out, const struct stack_table *stacks, uint32_t stack,
		       const struct output_options *options);

/* Compares what is shown of a stack. */
static void assert_shown(const struct stack_frame *frames, size_t count,
			 const struct output_options *options, put_stack *put, const char *expected)
{
	struct stack_table *table = stack_table_create();
	struct outbuf out;
	char text[512] = "";
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	outbuf_init(&out, ends[1]);
	put(&out, table, stack_table_add(table, frames, count), options);
	outbuf_flush(&out);
	close(ends[1]);
	assert_true(read(ends[0], text, sizeof text - 1) >= 0);
	assert_string_equal(text, expected);
	close(ends[0]);
	outbuf_deinit(&out);
	stack_table_destroy(table);
}

static void assert_place(const struct stack_frame *frames, size_t count,
			 const struct output_options *options, const char *expected)
{
	assert_shown(frames, count, options, stack_lines_put_place, expected);
}

static void the_place_of_a_call(void **state)
{
	const struct stack_frame both[] = {library, mine};
	const struct output_options none = {0}, line = {.script_line = true},
				    any = {.script_line = true, .any_line = true},
				    paths = {.script_line = true, .paths = true};
	const struct stack_frame hostile = {.language = "Perl",
					    .file = "/a\n\033[2J/b\n.pl",
					    .function = "f\r",
					    .line = 1,
					    .is_application = true};

	(void)state;
	assert_place(both, 2, &none, "");
	assert_place(both, 2, &line, " at orders.py:131 load_customer");
	assert_place(both, 2, &any, " at shutil.py:256 copyfile");
	assert_place(both, 2, &paths, " at /srv/shop/orders.py:131 load_customer");
	assert_place(&library, 1, &line, "");
	assert_place(both, 0, &line, "");
	assert_place(&hostile, 1, &paths, " at /a\\n\\033[2J/b\\n.pl:1 f\\r");
}

static void native_frames(void **state)
{
	const struct stack_frame frames[] = {{.kind = STACK_NATIVE,
					      .module = "shop",
					      .function = "parent",
					      .file = "/src/shop/shop.h",
					      .line = 9,
					      .address = 0x115b,
					      .is_inlined = true},
					     {.kind = STACK_NATIVE,
					      .module = "shop",
					      .function = "bill",
					      .file = "/src/shop/a\033 b.c",
					      .address = 0x115b,
					      .offset = 0x22},
					     {.kind = STACK_NATIVE,
					      .module = "shop",
					      .address = 0x10,
					      .file = "main.c",
					      .line = 3,
					      .is_guessed = true},
					     {.kind = STACK_NATIVE, .address = 0x7f00}};
	const struct output_options four = {.where = 4, .where_native = true},
				    one = {.where = 1, .where_native = true, .paths = true};

	(void)state;
	assert_shown(frames, 4, &four, stack_lines_put_frames,
		     " > shop(parent) [0x115b] shop.h:9 [inlined]\n"
		     " > shop(bill+0x22) [0x115b] a\\033 b.c\n"
		     " > shop(-) [0x10] main.c:3 ?\n"
		     " > - [0x7f00]\n");
	assert_shown(frames, 4, &one, stack_lines_put_frames,
		     " > shop(parent) [0x115b] /src/shop/shop.h:9 [inlined]\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_stack_is_kept_once),
		cmocka_unit_test(numbers_that_are_not_there),
		cmocka_unit_test(the_place_of_a_call),
		cmocka_unit_test(native_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
