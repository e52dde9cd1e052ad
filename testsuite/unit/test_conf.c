/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The .conf language: what each declaration makes, and which errors are reported. */
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "proto/prototype.h"

#include <errno.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Collects errors as `FILE:LINE: message\n`. */
static void collect(void *context, const char *file, unsigned line, const char *message)
{
	strbuf_printf(context, "%s:%u: %s\n", file, line, message);
}

static struct protolib *parse_ok(const char *text)
{
	struct strbuf errors = {0};
	struct protolib *lib = protolib_create();
	int count = protolib_parse(lib, "t.conf", text, collect, &errors);

	if (count)
		fail_msg("%d errors in %s: %s", count, text, errors.text);
	strbuf_deinit(&errors);
	return lib;
}

/* Asserts that the text makes these errors, one per line, and defines `survivor` (unless NULL). */
static void assert_errors(const char *text, const char *expected, const char *survivor)
{
	struct strbuf errors = {0};
	struct protolib *lib = protolib_create();
	int count = protolib_parse(lib, "t.conf", text, collect, &errors);
	int lines = 0;

	strbuf_add(&errors, "");
	assert_string_equal(errors.text, expected);
	for (const char *c = expected; *c; c++)
		lines += *c == '\n';
	assert_int_equal(count, lines);
	if (survivor)
		assert_non_null(protolib_find(lib, survivor));
	strbuf_deinit(&errors);
	protolib_destroy(lib);
}

/* Asserts one error for one declaration, on line `line`. The next declaration must be parsed. */
static void assert_error(const char *declaration, unsigned line, const char *message)
{
	char *text = xasprintf("%s\nint next(int);\n", declaration);
	char *expected = xasprintf("t.conf:%u: %s\n", line, message);

	assert_errors(text, expected, "next");
	free(text);
	free(expected);
}

static void assert_type(const struct type *type, enum type_kind kind, enum type_width width,
			bool is_signed, enum type_lens lens)
{
	assert_int_equal(type->kind, kind);
	if (kind == TYPE_INT || kind == TYPE_FLOAT)
		assert_int_equal(type->width, width);
	if (kind == TYPE_INT)
		assert_int_equal(type->is_signed, is_signed);
	assert_int_equal(type->lens, lens);
}

static void test_bitset(void **state)
{
	struct protolib *lib = parse_ok("typedef b = bitset[ulong](A, B=2 of 6, C=4 of 0x6, D=8);\n"
					"int f(b, bitset(X=1) of);");
	const struct type *type = protolib_find(lib, "f")->parameters[0].type;
	static const struct type_name expected[] = {
		{"A", 0, 0}, {"B", 2, 6}, {"C", 4, 6}, {"D", 8, 8}};

	(void)state;
	assert_type(type, TYPE_INT, WIDTH_LONG, false, LENS_BITSET);
	assert_int_equal(type->count, 4);
	for (int i = 0; i < 4; i++) {
		assert_string_equal(type->names[i].name, expected[i].name);
		assert_int_equal(type->names[i].value, expected[i].value);
		assert_int_equal(type->names[i].field, expected[i].field);
	}
	protolib_destroy(lib);
	assert_error("int f(bitset(A=1 of));", 1, "expected a number, found ')'");
	assert_error("int f(bitset[double](A));", 1, "expected an integer type, found 'double'");
}

static void test_not_always_passed(void **state)
{
	struct protolib *lib = parse_ok("int f(int, oct with 0x41 mode, int with);");
	const struct prototype *f = protolib_find(lib, "f");

	(void)state;
	assert_int_equal(f->parameter_count, 3);
	assert_int_equal(f->parameters[0].only_with, 0);
	assert_int_equal(f->parameters[1].only_with, 0x41);
	assert_string_equal(f->parameters[1].name, "mode");
	assert_int_equal(f->parameters[2].only_with, 0);
	assert_string_equal(f->parameters[2].name, "with");
	protolib_destroy(lib);
	/* Both parameters depend on the same integer before them. */
	lib = parse_ok("int f(int, string* with 1, long with 2);");
	assert_int_equal(protolib_find(lib, "f")->parameters[2].only_with, 2);
	protolib_destroy(lib);
	assert_error("int f(string, long with 2);", 1,
		     "expected an integer parameter before it, as this gives its bits, found '2'");
}

static void test_integer_types(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum type_width width;
		bool is_signed;
		enum type_lens lens;
	} cases[] = {
		{"char", WIDTH_CHAR, true, LENS_CHAR},
		{"uchar", WIDTH_CHAR, false, LENS_CHAR},
		{"unsigned char", WIDTH_CHAR, false, LENS_CHAR},
		{"signed char", WIDTH_CHAR, true, LENS_CHAR},
		{"char unsigned", WIDTH_CHAR, false, LENS_CHAR},
		{"short", WIDTH_SHORT, true, LENS_DEFAULT},
		{"short int", WIDTH_SHORT, true, LENS_DEFAULT},
		{"ushort", WIDTH_SHORT, false, LENS_DEFAULT},
		{"unsigned short int", WIDTH_SHORT, false, LENS_DEFAULT},
		{"int", WIDTH_INT, true, LENS_DEFAULT},
		{"signed", WIDTH_INT, true, LENS_DEFAULT},
		{"uint", WIDTH_INT, false, LENS_DEFAULT},
		{"unsigned", WIDTH_INT, false, LENS_DEFAULT},
		{"unsigned int", WIDTH_INT, false, LENS_DEFAULT},
		{"int unsigned", WIDTH_INT, false, LENS_DEFAULT},
		{"long", WIDTH_LONG, true, LENS_DEFAULT},
		{"long int", WIDTH_LONG, true, LENS_DEFAULT},
		{"ulong", WIDTH_LONG, false, LENS_DEFAULT},
		{"unsigned long", WIDTH_LONG, false, LENS_DEFAULT},
		{"long unsigned int", WIDTH_LONG, false, LENS_DEFAULT},
		{"long long", WIDTH_LONG_LONG, true, LENS_DEFAULT},
		{"long long unsigned", WIDTH_LONG_LONG, false, LENS_DEFAULT},
		{"long unsigned long int", WIDTH_LONG_LONG, false, LENS_DEFAULT},
		{"llong", WIDTH_LONG_LONG, true, LENS_DEFAULT},
		{"ullong", WIDTH_LONG_LONG, false, LENS_DEFAULT},
		{"int8", WIDTH_CHAR, true, LENS_DEFAULT},
		{"uint8", WIDTH_CHAR, false, LENS_DEFAULT},
		{"int16", WIDTH_SHORT, true, LENS_DEFAULT},
		{"uint16", WIDTH_SHORT, false, LENS_DEFAULT},
		{"int32", WIDTH_INT, true, LENS_DEFAULT},
		{"uint32", WIDTH_INT, false, LENS_DEFAULT},
		{"int64", WIDTH_LONG_LONG, true, LENS_DEFAULT},
		{"uint64", WIDTH_LONG_LONG, false, LENS_DEFAULT},
		{"hex", WIDTH_INT, false, LENS_HEX},
		{"oct", WIDTH_INT, false, LENS_OCT},
		{"octal", WIDTH_INT, false, LENS_OCT},
		{"hex(long)", WIDTH_LONG, false, LENS_HEX},
		{"hex(char)", WIDTH_CHAR, false, LENS_HEX},
		{"hex(unsigned short)", WIDTH_SHORT, false, LENS_HEX},
		{"oct(short)", WIDTH_SHORT, false, LENS_OCT},
		{"octal(long long)", WIDTH_LONG_LONG, false, LENS_OCT},
		{"hex(oct(hex(short)))", WIDTH_SHORT, false, LENS_HEX},
		{"oct(hex)", WIDTH_INT, false, LENS_OCT},
		{"oct ( hex ( oct ) )", WIDTH_INT, false, LENS_OCT},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *text = xasprintf("%s f(%s, %s name);", cases[i].text, cases[i].text,
				       cases[i].text);
		struct protolib *lib = parse_ok(text);
		const struct prototype *f = protolib_find(lib, "f");

		assert_non_null(f);
		assert_int_equal(f->parameter_count, 2);
		assert_type(f->result, TYPE_INT, cases[i].width, cases[i].is_signed, cases[i].lens);
		assert_type(f->parameters[0].type, TYPE_INT, cases[i].width, cases[i].is_signed,
			    cases[i].lens);
		assert_type(f->parameters[1].type, TYPE_INT, cases[i].width, cases[i].is_signed,
			    cases[i].lens);
		protolib_destroy(lib);
		free(text);
	}
}

static void test_other_types(void **state)
{
	(void)state;
	struct protolib *lib = parse_ok(
		"void f(float, double, long double, double long, addr, file,"
		" string, hex(addr), format);");
	const struct prototype *f = protolib_find(lib, "f");
	const struct parameter *p = f->parameters;

	assert_int_equal(f->parameter_count, 9);
	assert_int_equal(f->result->kind, TYPE_VOID);
	assert_type(p[0].type, TYPE_FLOAT, WIDTH_FLOAT, true, LENS_DEFAULT);
	assert_type(p[1].type, TYPE_FLOAT, WIDTH_DOUBLE, true, LENS_DEFAULT);
	assert_type(p[2].type, TYPE_FLOAT, WIDTH_LONG_DOUBLE, true, LENS_DEFAULT);
	assert_type(p[3].type, TYPE_FLOAT, WIDTH_LONG_DOUBLE, true, LENS_DEFAULT);
	assert_type(p[4].type, TYPE_POINTER, 0, false, LENS_DEFAULT);
	assert_type(p[5].type, TYPE_POINTER, 0, false, LENS_DEFAULT);
	assert_type(p[6].type, TYPE_STRING, 0, false, LENS_DEFAULT);
	assert_int_equal(p[6].type->length_from, STRING_NUL);
	assert_type(p[7].type, TYPE_POINTER, 0, false, LENS_HEX);
	assert_type(p[8].type, TYPE_FORMAT, 0, false, LENS_DEFAULT);
	protolib_destroy(lib);
}

static void test_sizes(void **state)
{
	(void)state;
	struct protolib *lib = parse_ok("void f(char, short, int, long, long long, float, double,"
					" long double, addr, string, format);");
	const struct prototype *f = protolib_find(lib, "f");
	static const unsigned on_8[] = {1, 2, 4, 8, 8, 4, 8, 10, 8, 8, 8};
	static const unsigned on_4[] = {1, 2, 4, 4, 8, 4, 8, 10, 4, 4, 4};

	for (unsigned i = 0; i < f->parameter_count; i++) {
		assert_int_equal(type_size(f->parameters[i].type, 8), on_8[i]);
		assert_int_equal(type_size(f->parameters[i].type, 4), on_4[i]);
	}
	assert_int_equal(type_size(f->result, 8), 0);
	protolib_destroy(lib);
}

static void test_string_lengths(void **state)
{
	(void)state;
	struct protolib *lib = parse_ok(
		"int query(addr, string[arg3], ulong);"
		"int constant(string[16], string[0x10], string[4294967295]);"
		"long receive(int, +string[retval], ulong);"
		"long implied(int, string[ retval ], ulong);"
		"int zeros(string[zero], string[zero(7)], string[zero(arg5)], string[zero(retval)], ulong);"
		"string[arg1] filled(int);"
		"int product(string[arg3*arg2], int, long, string[zero(arg2 * arg3)]);"
		"int zeros_in_zeros(string[zero(zero(7))], string[zero(zero(zero))]);"
		"int products(array(int, retval(arg2*arg2)), int, string[arg0*arg2]);");
	const struct prototype *f = protolib_find(lib, "query");

	assert_int_equal(f->parameters[1].type->kind, TYPE_STRING);
	assert_int_equal(f->parameters[1].type->length_from, STRING_ARGUMENT);
	assert_int_equal(f->parameters[1].type->length, 2);
	assert_false(f->parameters[1].on_return);
	f = protolib_find(lib, "constant");
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(f->parameters[i].type->length_from, STRING_CONSTANT);
	assert_int_equal(f->parameters[0].type->length, 16);
	assert_int_equal(f->parameters[1].type->length, 16);
	assert_int_equal(f->parameters[2].type->length, UINT32_MAX);
	for (int i = 0; i < 2; i++) {
		f = protolib_find(lib, i ? "implied" : "receive");
		assert_int_equal(f->parameters[1].type->length_from, STRING_RESULT);
		assert_false(f->parameters[0].on_return);
		assert_true(f->parameters[1].on_return);
		assert_true(f->parameters[2].on_return);
	}
	f = protolib_find(lib, "zeros");
	for (unsigned i = 0; i < 4; i++) {
		static const uint8_t from[] = {STRING_NUL, STRING_CONSTANT, STRING_ARGUMENT,
					       STRING_RESULT};

		assert_int_equal(f->parameters[i].type->length_from, from[i]);
		assert_int_equal(f->parameters[i].type->zero_ends, i > 0);
		assert_int_equal(f->parameters[i].on_return, i > 2);
	}
	assert_int_equal(f->parameters[2].type->length, 4);
	f = protolib_find(lib, "query");
	assert_false(f->parameters[1].type->zero_ends);
	f = protolib_find(lib, "filled");
	assert_int_equal(f->result->length_from, STRING_ARGUMENT);
	assert_int_equal(f->result->length, 0);
	f = protolib_find(lib, "zeros_in_zeros");
	assert_int_equal(f->parameters[0].type->length, 7);
	assert_true(f->parameters[0].type->zero_ends);
	assert_int_equal(f->parameters[1].type->length_from, STRING_NUL);
	f = protolib_find(lib, "product");
	assert_int_equal(f->parameters[0].type->length_from, STRING_PRODUCT);
	assert_int_equal(f->parameters[0].type->length, type_product(3, 2));
	assert_int_equal(f->parameters[0].type->arguments, 6);
	assert_true(f->parameters[3].type->zero_ends);
	f = protolib_find(lib, "products");
	assert_int_equal(f->parameters[0].type->target->length, type_product(2, 2));
	assert_int_equal(f->parameters[2].type->length, type_product(0, 2));
	assert_true(f->parameters[2].on_return);
	protolib_destroy(lib);
}

static void test_parameter_lists(void **state)
{
	(void)state;
	struct protolib *lib = parse_ok("int a();"
					"int b(void);"
					"int c(string path, int flags, oct mode);"
					"int d(addr, +string, int, +addr);"
					"int e(int string, string format, string file);"
					"int f.constprop.0(int);"
					"int _g$1( void );");
	const struct prototype *f;

	assert_int_equal(protolib_find(lib, "a")->parameter_count, 0);
	assert_int_equal(protolib_find(lib, "b")->parameter_count, 0);
	f = protolib_find(lib, "c");
	assert_int_equal(f->parameter_count, 3);
	assert_int_equal(f->parameters[0].type->kind, TYPE_STRING);
	assert_int_equal(f->parameters[2].type->lens, LENS_OCT);
	f = protolib_find(lib, "d");
	assert_int_equal(f->parameter_count, 4);
	assert_false(f->parameters[0].on_return);
	/* All parameters behind the '+' are shown at the return, too. */
	for (unsigned i = 1; i < 4; i++)
		assert_true(f->parameters[i].on_return);
	f = protolib_find(lib, "e");
	assert_int_equal(f->parameters[0].type->kind, TYPE_INT);
	assert_int_equal(f->parameters[1].type->kind, TYPE_STRING);
	assert_int_equal(f->parameters[2].type->kind, TYPE_STRING);
	assert_int_equal(protolib_find(lib, "f.constprop.0")->parameter_count, 1);
	assert_int_equal(protolib_find(lib, "_g$1")->parameter_count, 0);
	assert_null(protolib_find(lib, "f"));
	protolib_destroy(lib);
}

static void test_typedefs(void **state)
{
	(void)state;
	struct protolib *lib = parse_ok("typedef size_t = ulong;\n"
					"typedef mode_t = oct(uint);\n"
					"typedef bytes = string[arg2];\n"
					"typedef alias = size_t;\n"
					"size_t f(alias, mode_t, hex(size_t));\n"
					"typedef size_t = short;\n"
					"size_t g(size_t);\n"
					"int h(bytes, int);\n");
	const struct prototype *f = protolib_find(lib, "f");

	assert_type(f->result, TYPE_INT, WIDTH_LONG, false, LENS_DEFAULT);
	assert_type(f->parameters[0].type, TYPE_INT, WIDTH_LONG, false, LENS_DEFAULT);
	assert_type(f->parameters[1].type, TYPE_INT, WIDTH_INT, false, LENS_OCT);
	assert_type(f->parameters[2].type, TYPE_INT, WIDTH_LONG, false, LENS_HEX);
	/* From there on the later one is used. */
	f = protolib_find(lib, "g");
	assert_type(f->result, TYPE_INT, WIDTH_SHORT, true, LENS_DEFAULT);
	f = protolib_find(lib, "h");
	assert_int_equal(f->parameters[0].type->length_from, STRING_ARGUMENT);
	assert_int_equal(f->parameters[0].type->length, 1);
	protolib_destroy(lib);
}

static void test_slots(void **state)
{
	(void)state;
	struct protolib *lib = parse_ok("int mysqlnd_query(addr, string[arg3], ulong)"
					" @ *mysqlnd_mysqlnd_conn_data_methods+0x18;"
					"int decimal() @*table + 24;"
					"int none() @ *table;"
					"int third() @ *table[2];"
					"int hidden() @ *table[12]()[2];"
					"int first() @ *table + 96() + 8;"
					"int plain();");
	const struct prototype *f = protolib_find(lib, "mysqlnd_query");

	assert_string_equal(f->slot_symbol, "mysqlnd_mysqlnd_conn_data_methods");
	assert_int_equal(f->slot.offset, 0x18);
	f = protolib_find(lib, "decimal");
	assert_string_equal(f->slot_symbol, "table");
	assert_int_equal(f->slot.offset, 24);
	f = protolib_find(lib, "none");
	assert_string_equal(f->slot_symbol, "table");
	assert_int_equal(f->slot.offset, 0);
	f = protolib_find(lib, "third");
	assert_string_equal(f->slot_symbol, "table");
	assert_int_equal(f->slot.offset, 0);
	assert_int_equal(f->slot.index, 2);
	assert_false(f->slot_is_getter);
	f = protolib_find(lib, "hidden");
	assert_string_equal(f->slot_symbol, "table");
	assert_int_equal(f->slot.index, 12);
	assert_true(f->slot_is_getter);
	assert_int_equal(f->table.index, 2);
	f = protolib_find(lib, "first");
	assert_int_equal(f->slot.offset, 96);
	assert_int_equal(f->table.offset, 8);
	assert_null(protolib_find(lib, "plain")->slot_symbol);
	protolib_destroy(lib);
}

static const struct text_path *path_of(const struct protolib *lib, const char *name, unsigned i)
{
	return protolib_find(lib, name)->parameters[i].path;
}

static void test_paths(void **state)
{
	(void)state;
	struct protolib *lib = parse_ok("int by_name(string @ text_of(arg1) it);"
					"int behind(int, string[arg1] @ arg2 + 24);"
					"int once(string @ *(arg1 + 0xf8), +string @ (*arg2));"
					"int twice(string @ *(*(arg1 - 8) + 0x10) + 1);"
					"int member(addr, string @ *text_of(arg2));"
					"int none(string);");
	const struct text_path *path = path_of(lib, "by_name", 0);

	assert_string_equal(path->accessor, "text_of");
	assert_string_equal(protolib_find(lib, "by_name")->parameters[0].name, "it");
	assert_int_equal(path->loads, 0);
	path = path_of(lib, "member", 1);
	assert_string_equal(path->accessor, "text_of");
	assert_int_equal(path->loads, 1);
	path = path_of(lib, "behind", 1);
	assert_null(path->accessor);
	assert_false(path->is_certain);
	assert_int_equal(path->loads, 0);
	assert_int_equal(path->offset[0], 24);
	path = path_of(lib, "once", 0);
	assert_int_equal(path->loads, 1);
	assert_int_equal(path->offset[0], 0xf8);
	assert_int_equal(path->offset[1], 0);
	path = path_of(lib, "once", 1);
	assert_int_equal(path->loads, 1);
	assert_int_equal(path->offset[0], 0);
	path = path_of(lib, "twice", 0);
	assert_int_equal(path->loads, 2);
	assert_int_equal(path->offset[0], -8);
	assert_int_equal(path->offset[1], 0x10);
	assert_int_equal(path->offset[2], 1);
	assert_null(path_of(lib, "none", 0));
	protolib_destroy(lib);
}

static void test_errors_in_paths(void **state)
{
	(void)state;
	assert_error("int f(addr @ arg1);", 1,
		     "expected no '@' behind what is no string, found '@'");
	assert_error("int f(string @ arg2 + 8, addr);", 1,
		     "expected arg1, the parameter itself, found 'arg2'");
	assert_error("int f(string @ *(arg2 + 8), addr);", 1,
		     "expected arg1, the parameter itself, found 'arg2'");
	assert_error("int f(string @ text_of());", 1,
		     "expected arg1, the parameter itself, found ')'");
	assert_error("int f(string @ text_of(arg1);", 1, "expected ',' or ')', found ';'");
	assert_error("int f(string @ *(arg1 + x));", 1, "expected an offset (a number), found 'x'");
	assert_error("int f(string @ ((arg1 - 0x7fffffff) - 0x10));", 1,
		     "expected an offset (a number), found '0x10'");
	assert_error("int f(string @ *(arg1 + 0x80000000));", 1,
		     "expected an offset (a number), found '0x80000000'");
	assert_error("int f(string @ ***arg1);", 1, "expected at most two '*', found ')'");
	assert_error("int f(string @ ((((((((((arg1);", 1, "expected fewer parentheses, found '('");
	assert_error("int f(string @ *);", 1, "expected arg1, the parameter itself, found ')'");
}

static void test_byte_order_mark(void **state)
{
	(void)state;
	struct protolib *lib = parse_ok("\xef\xbb\xbfint a();");

	assert_non_null(protolib_find(lib, "a"));
	protolib_destroy(lib);
	assert_error("int a();\n\xef\xbb\xbf;", 2, "expected a type, found '\\357'");
	assert_error("\xef\xbb;", 1, "expected a type, found '\\357'");
}

/* A declaration may end at the end of a line, without ';'. */
static void test_ends_of_lines(void **state)
{
	struct protolib *lib = parse_ok("typedef number = hex(int)\n"
					"; a comment; and more\n"
					"typedef later = struct\n"
					"number a(later*)\n"
					"typedef later = struct(int,\n\n long) # another\n"
					"int b(\nint\n)\n"
					"; c(int);\n"
					"int d(int); int e(int)\n"
					"int f(int)\n@ *table+8\n"
					"int g(int)");

	(void)state;
	for (const char *name = "abdefg"; *name; name++) {
		const char text[] = {*name, '\0'};

		assert_non_null(protolib_find(lib, text));
	}
	assert_null(protolib_find(lib, "c"));
	assert_int_equal(protolib_find(lib, "f")->slot.offset, 8);
	assert_int_equal(protolib_find(lib, "a")->result->lens, LENS_HEX);
	protolib_destroy(lib);
}

static void test_comments(void **state)
{
	(void)state;
	struct protolib *lib = parse_ok("; a comment; int no1();\n"
					"  ; with blanks before\n"
					"# int no2();\n"
					"// int no3();\n"
					"/* int no4();\n int no5(); */ int a(); ; int no6();\n"
					"int b(int, // first\n"
					"      /* second */ string); # more\n"
					"int c() /* ; */ ;\r\n"
					"int d()\n"
					";\n"
					"int e(/**/);"
					"/***/ int f();\n"
					"; the last line, without its end");
	size_t cursor = 0;
	char names[16] = "";
	const struct prototype *f;

	while ((f = protolib_next(lib, &cursor)))
		strcat(names, f->name);
	assert_string_equal(names, "abcdef");
	assert_int_equal(protolib_find(lib, "b")->parameter_count, 2);
	protolib_destroy(lib);
}

static void test_replacement(void **state)
{
	(void)state;
	struct protolib *lib = parse_ok("int f(int); int g();");
	const struct prototype *before = protolib_find(lib, "f");
	const struct prototype *walked;
	size_t cursor = 0;

	assert_int_equal(protolib_parse(lib, "u.conf", "void f(int, int);", NULL, NULL), 0);
	assert_int_equal(protolib_find(lib, "f")->parameter_count, 2);
	/* A prototype that was returned stays valid. */
	assert_int_equal(before->parameter_count, 1);
	assert_string_equal(before->name, "f");
	walked = protolib_next(lib, &cursor);
	assert_string_equal(walked->name, "f");
	assert_int_equal(walked->parameter_count, 2);
	walked = protolib_next(lib, &cursor);
	assert_string_equal(walked->name, "g");
	assert_null(protolib_next(lib, &cursor));
	assert_null(protolib_next(lib, &cursor));
	assert_null(protolib_find(lib, "h"));
	assert_null(protolib_find(lib, ""));
	protolib_destroy(lib);
}

static void test_errors_in_types(void **state)
{
	(void)state;
	assert_error("foo f(int);", 1, "expected a type, found 'foo'");
	assert_error("int f(int,\n\n bar);", 3, "expected a type, found 'bar'");
	assert_error("int f(int,);", 1, "expected a type, found ')'");
	assert_error("int f(,int);", 1, "expected a type, found ','");
	assert_error("int f(unsigned double);", 1, "expected the end of the type, found 'double'");
	assert_error("int f(long char);", 1, "expected the end of the type, found 'char'");
	assert_error("int f(long long long);", 1, "expected the end of the type, found 'long'");
	assert_error("int f(short long);", 1, "expected the end of the type, found 'long'");
	assert_error("int f(signed unsigned);", 1,
		     "expected the end of the type, found 'unsigned'");
	assert_error("int f(int int);", 1, "expected the end of the type, found 'int'");
	assert_error("int f(hex(format));", 1,
		     "expected a type of objects of known size, found 'format'");
	assert_error("typedef n = struct; int f(hex(n*));", 1,
		     "expected a type of objects of known size, found 'n'");
	assert_error("int f(hex(void));", 1,
		     "expected a type of objects of known size, found 'void'");
	assert_error("int f(hex(int;", 1, "expected ')', found ';'");
	assert_error("int f(hex(hex(int));", 1, "expected ',' or ')', found ';'");
	assert_error("int f(int format*);", 1, "expected ',' or ')', found '*'");
	assert_error("int f(hex());", 1, "expected a type, found ')'");
	assert_error("int f(uint int);", 1, "expected ',' or ')', found 'int'");
}

static void test_errors_in_lengths(void **state)
{
	(void)state;
	static const char length[] = "a length up to 4294967295, arg1 to arg32 or retval";
	static const struct {
		const char *between;
		const char *found;
	} cases[] = {
		{"", "']'"},
		{"08", "'08'"},
		{"4294967296", "'4294967296'"},
		{"99999999999999999999", "'99999999999999999999'"},
		{"arg", "'arg'"},
		{"arg33", "'arg33'"},
		{"arg99999999999999", "'arg99999999999999'"},
		{"arg1x", "'arg1x'"},
		{"12ab", "'12ab'"},
		{"0x", "'0x'"},
		{"-1", "'-'"},
		{"len", "'len'"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *text = xasprintf("int f(string[%s]);", cases[i].between);
		char *message = xasprintf("expected %s, found %s", length, cases[i].found);

		assert_error(text, 1, message);
		free(text);
		free(message);
	}
	assert_error("int f(string[zero(arg2];", 1, "expected ')', found ']'");
	assert_error("int f(string[zero(zero(7)]);", 1, "expected ')', found ']'");
	assert_error("int f(string[retval(arg2];", 1, "expected ')', found ']'");
	assert_error("void f(array(int, success));", 1,
		     "expected an integer result that is shown, as its length is taken from that "
		     "(retval), found 'array'");
	assert_error("int f(string[success]);", 1,
		     "expected a length up to 4294967295, arg1 to arg32 or retval, found "
		     "'success'");
	assert_error("int f(string[retval(retval)]);", 1,
		     "expected a length up to 4294967295 or arg1 to arg32, found 'retval'");
	assert_error("int f(string[arg2*retval], int);", 1,
		     "expected arg1 to arg32 as the other factor of a length, found 'retval'");
	assert_error("int f(string[arg2*arg0], int);", 1,
		     "expected arg1 to arg32 as the other factor of a length, found 'arg0'");
	assert_error("int f(string[arg2*arg2*arg2], int);", 1, "expected ']', found '*'");
	assert_error("int f(string[arg2*arg3], int);", 1,
		     "expected arg1 to arg2 as its length, found 'string'");
	assert_error("int f(string[4*arg2], int);", 1, "expected ']', found '*'");
	assert_error(
		"void f(string[retval(arg2)], int);", 1,
		"expected an integer result that is shown, as its length is taken from that (retval), "
		"found 'string'");
	assert_error("int f(string[retval(arg2)]);", 1,
		     "expected arg1 to arg1 as its length, found 'string'");
	assert_error("int f(string[zero()]);", 1,
		     "expected a length up to 4294967295, arg1 to arg32 or retval, found ')'");
	assert_error("int f(string[zero(arg2)]);", 1,
		     "expected arg1 to arg1 as its length, found 'string'");
	assert_error("int f(string[3);", 1, "expected ']', found ')'");
	assert_error("int f(string[arg2]);", 1,
		     "expected arg1 to arg1 as its length, found 'string'");
	assert_error("int f(int,\nstring[arg3]\n);", 2,
		     "expected arg1 to arg2 as its length, found 'string'");
	assert_error("string[arg1] f();", 1, "expected a parameter for the length, found 'string'");
	assert_error(
		"int f(string[arg2],\nstring);", 2,
		"expected an integer type, or a pointer to one, as arg2 gives a length, found 'string'");
	assert_error(
		"int f(string[arg1]);", 1,
		"expected an integer type, or a pointer to one, as arg1 gives a length, found 'string'");
	assert_error(
		"void f(string[retval]);", 1,
		"expected an integer result that is shown, as its length is taken from that (retval), "
		"found 'string'");
	assert_error("string[retval] f(int);", 1, "expected the type of a result, found 'string'");
}

static void test_errors_in_declarations(void **state)
{
	(void)state;
	char *many = xasprintf("int f(%s int);",
			       "int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,"
			       "int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,");

	assert_error("int (int);", 1, "expected the name of a function, found '('");
	assert_error("int 5(int);", 1, "expected the name of a function, found '5'");
	assert_error("int f;", 1, "expected '(', found ';'");
	assert_error("int f[];", 1, "expected '(', found '['");
	assert_error("int f(int) x;", 1, "expected ';' or '@', found 'x'");
	assert_error("int f(int;", 1, "expected ',' or ')', found ';'");
	assert_error("int f(int a b);", 1, "expected ',' or ')', found 'b'");
	assert_error("format f();", 1, "expected the type of a result, found 'format'");
	assert_error(many, 1, "expected at most 32 parameters, found 'int'");
	assert_error("int f(int with 4);", 1,
		     "expected an integer parameter before it, as this gives its bits, found '4'");
	assert_error("int f(string, int with 4);", 1,
		     "expected an integer parameter before it, as this gives its bits, found '4'");
	assert_error("int f(int, int with 0);", 1,
		     "expected bits of the parameter before, found '0'");
	assert_error("typedef = long;", 1, "expected a name for a type, found '='");
	assert_error("typedef t long;", 1, "expected '=', found 'long'");
	assert_error("typedef t = long x;", 1, "expected ';', found 'x'");
	assert_error("typedef t = t;", 1, "expected a type, found 't'");
	assert_error("int f() @ x+1;", 1, "expected '*', found 'x'");
	assert_error("int f() @ *5;", 1, "expected the name of a data symbol, found '5'");
	assert_error("int f() @ *x+y;", 1, "expected an offset (a number), found 'y'");
	assert_error("int f() @ *x+0x10000000000000000;", 1,
		     "expected an offset (a number), found '0x10000000000000000'");
	assert_error("int f() @ *x[y];", 1, "expected an index (a number), found 'y'");
	assert_error("int f() @ *x[1;", 1, "expected ']', found ';'");
	assert_error("int f() @ *x[1]+1;", 1, "expected ';', found '+'");
	assert_error("int f() @ *x+1 2;", 1, "expected ';', found '2'");
	assert_error("};", 1, "expected a type, found '}'");
	free(many);
}

static void test_recovery(void **state)
{
	(void)state;
	assert_errors("int f(int,);\nint g(foo);\nint h(int);\nbar;\n",
		      "t.conf:1: expected a type, found ')'\n"
		      "t.conf:2: expected a type, found 'foo'\n"
		      "t.conf:4: expected a type, found 'bar'\n",
		      "h");
	/* A ';' as the first mark of a line ends a broken declaration and begins a comment, too. */
	assert_errors("int f(int\n; about g, or so\nint g(int);\n",
		      "t.conf:2: expected ',' or ')', found ';'\n", "g");
	/* A typedef loop cannot be written: a type must have been defined. */
	assert_errors("typedef a = b;\ntypedef b = a;\nint g(int);\n",
		      "t.conf:1: expected a type, found 'b'\n"
		      "t.conf:2: expected a type, found 'a'\n",
		      "g");
	assert_errors("int f(int", "t.conf:1: expected ',' or ')', found the end of the file\n",
		      NULL);
	/* Like in ltrace; but what begins like a declaration is one. */
	assert_errors("int e(int) ; a comment (here)\nint f(int); also, 'here\nint g(int);\n", "",
		      "g");
	assert_errors("typedef t = int ; comment\nt f(t); t g(t)\n", "", "g");
	assert_errors("int f(int); int g(int x\n",
		      "t.conf:2: expected ',' or ')', found the end of the file\n", NULL);
	assert_errors("int f(int) g\n", "t.conf:1: expected ';' or '@', found 'g'\n", NULL);
	assert_errors("int g(); /* and\n\n",
		      "t.conf:3: expected '*/', found the end of the file"
		      " within a comment\n",
		      "g");
	assert_errors("int g(); int f(int /* and\n",
		      "t.conf:2: expected ',' or ')', found the end of the file within a comment\n",
		      "g");
	assert_errors("int g();\nfoo /* and\n",
		      "t.conf:2: expected a type, found 'foo'\n"
		      "t.conf:3: expected '*/', found the end of the file within a comment\n",
		      "g");
	assert_errors("", "", NULL);
	assert_errors("/", "t.conf:1: expected a type, found '/'\n", NULL);
	assert_errors("/*/",
		      "t.conf:1: expected '*/', found the end of the file within a comment\n",
		      NULL);
}

static void test_foreign_bytes_are_escaped(void **state)
{
	(void)state;
	char long_name[300];
	struct strbuf expected = {0};

	assert_error("int f(\x1b[31m);", 1, "expected a type, found '\\033'");
	assert_error("\xff\xfe;", 1, "expected a type, found '\\377'");
	memset(long_name, 'x', sizeof long_name - 1);
	long_name[sizeof long_name - 2] = ';';
	long_name[sizeof long_name - 1] = '\0';
	strbuf_printf(&expected, "expected a type, found '%.36s'...", long_name);
	assert_error(long_name, 1, expected.text);
	strbuf_deinit(&expected);
}

static void test_too_many_errors(void **state)
{
	(void)state;
	struct strbuf text = {0};
	struct strbuf errors = {0};
	struct protolib *lib = protolib_create();

	for (int i = 0; i < 10000; i++)
		strbuf_add(&text, "x;\n");
	assert_int_equal(protolib_parse(lib, "t", text.text, collect, &errors), 51);
	assert_non_null(strstr(errors.text, "t:51: too many errors, the rest is not read\n"));
	strbuf_deinit(&text);
	strbuf_deinit(&errors);
	protolib_destroy(lib);
}

/* Long names, deep nesting and large numbers of items: linear time, bounded recursion. */
static void test_huge_input(void **state)
{
	(void)state;
	enum { DEPTH = 1000000, PROTOTYPES = 50000, LEVELS = 60 };
	struct strbuf text = {0};
	struct protolib *lib;

	strbuf_add(&text, "int f(");
	for (int i = 0; i < LEVELS; i++)
		strbuf_add(&text, "hex(");
	strbuf_add(&text, "int");
	strbuf_add_repeated(&text, ')', LEVELS);
	strbuf_add(&text, ");\nint ");
	strbuf_add_repeated(&text, 'n', DEPTH);
	strbuf_add(&text, "(int);\n");
	for (int i = 0; i < PROTOTYPES; i++)
		strbuf_printf(&text, "int f%d(int, string[arg1]);\n", i);
	lib = parse_ok(text.text);
	assert_type(protolib_find(lib, "f")->parameters[0].type, TYPE_INT, WIDTH_INT, false,
		    LENS_HEX);
	assert_non_null(protolib_find(lib, "f49999"));
	protolib_destroy(lib);
	strbuf_clear(&text);
	strbuf_add(&text, "int f(");
	for (int i = 0; i < DEPTH; i++)
		strbuf_add(&text, "hex(");
	assert_errors(text.text, "t.conf:1: expected fewer types in one another, found 'hex'\n",
		      NULL);
	strbuf_clear(&text);
	strbuf_add(&text, "int f(int");
	strbuf_add_repeated(&text, '*', DEPTH);
	assert_errors(text.text, "t.conf:1: expected fewer pointers, found '*'\n", NULL);
	strbuf_deinit(&text);
}

/* Random bytes, and valid text with random bytes in it: no crash, and the next text parses. */
static void test_random_input(void **state)
{
	(void)state;
	static const char good[] =
		"typedef a = hex(ulong); int f(a, +string[arg1], format) @ *x+0x5;"
		"/* c */ ; d\nlong g(unsigned int n, string[retval]); # e\n";
	static const char marks[] = "()[]{};,=+*@/#\n \"0x19arg hexoctstring";
	uint32_t seed = 12345;

	for (int round = 0; round < 20000; round++) {
		char text[sizeof good];
		struct protolib *lib = protolib_create();
		struct strbuf errors = {0};

		memcpy(text, good, sizeof good);
		for (int i = 0; i < 1 + round % 8; i++) {
			seed = seed * 1103515245 + 12345;
			size_t at = (seed >> 8) % (sizeof good - 1);

			text[at] = seed & 1 << 30 ? marks[(seed >> 4) % (sizeof marks - 1)]
						  : (char)(seed >> 20);
		}
		protolib_parse(lib, "t", text, collect, &errors);
		for (size_t i = 0; i < errors.length; i++)
			assert_true(errors.text[i] == '\n' ||
				    (errors.text[i] >= ' ' && errors.text[i] < 0x7f));
		assert_int_equal(protolib_parse(lib, "t", ";\nint next(int);", NULL, NULL), 0);
		strbuf_deinit(&errors);
		protolib_destroy(lib);
	}
}

static void test_files(void **state)
{
	(void)state;
	char path[] = "/tmp/tracer-test-conf-XXXXXX";
	static const char text[] = "int f(int);\nint g(\0);\nint h(int);\n";
	struct strbuf errors = {0};
	struct protolib *lib = protolib_create();
	char *expected;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
	close(fd);
	assert_int_equal(protolib_read(lib, path, collect, &errors), 1);
	expected = xasprintf("%s:2: expected a type, found '\\000'\n", path);
	assert_string_equal(errors.text, expected);
	assert_non_null(protolib_find(lib, "f"));
	assert_null(protolib_find(lib, "g"));
	assert_non_null(protolib_find(lib, "h"));
	unlink(path);
	assert_int_equal(protolib_read(lib, path, collect, &errors), -ENOENT);
	assert_int_equal(protolib_read(lib, "/", collect, &errors), -EISDIR);
	free(expected);
	strbuf_deinit(&errors);
	protolib_destroy(lib);
}

static void test_guess(void **state)
{
	(void)state;
	const struct prototype *guess = prototype_guess();

	assert_null(guess->name);
	assert_int_equal(guess->parameter_count, 4);
	assert_type(guess->result, TYPE_INT, WIDTH_LONG, true, LENS_GUESS);
	for (unsigned i = 0; i < 4; i++) {
		assert_type(guess->parameters[i].type, TYPE_INT, WIDTH_LONG, true, LENS_GUESS);
		assert_false(guess->parameters[i].on_return);
	}
}

/*
 * Returns true if `written` may describe the function that debug information declares as
 * `declared`.
 */
static bool may_be(const char *written, const char *declared)
{
	struct protolib *libs[] = {protolib_create(), protolib_create()};

	assert_int_equal(protolib_parse(libs[0], "written", written, NULL, NULL), 0);
	assert_int_equal(protolib_parse(libs[1], "declared", declared, NULL, NULL), 0);
	bool may = prototype_may_be(protolib_find(libs[0], "f"), protolib_find(libs[1], "f"));

	protolib_destroy(libs[0]);
	protolib_destroy(libs[1]);
	return may;
}

static void test_may_be(void **state)
{
	(void)state;
	assert_true(may_be("ulong f(ulong, string[arg3], uint);", "ulong f(ulong a, addr, uint);"));
	assert_true(may_be("enum[int](OK) f(hex(int));", "int f(int);"));
	assert_true(may_be("void f(string, +addr, sqliteformat);", "void f(addr, addr, string);"));
	assert_true(may_be("int f(int, int if (1) or addr);", "int f(int);"));
	assert_true(may_be("double f(ldouble);", "double f(ldouble);"));
	assert_false(may_be("double f(double);", "float f(float);"));
	assert_false(may_be("double f(double);", "double f(addr);"));
	assert_false(may_be("int f(addr, addr, string, ulong);", "int f(int);"));
	assert_false(may_be("int f(addr);", "int f(int);"));
	assert_false(may_be("int f(int);", "int f(int, int);"));
	assert_false(may_be("int f(int, int);", "int f(int);"));
	assert_false(may_be("int f();", "void f();"));
	assert_false(may_be("int f(struct(int));", "int f(addr);"));
}

/* Every shipped file parses without errors or warnings. */
static void test_shipped_files(void **state)
{
	(void)state;
	const char *directory = getenv("TRACER_CONF_DIR");
	glob_t found;

	if (!directory || access(directory, R_OK) < 0)
		skip();
	char *pattern = xasprintf("%s/*.conf", directory);

	if (glob(pattern, 0, NULL, &found) != 0)
		fail_msg("no files: %s", pattern);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct strbuf errors = {0};
		struct protolib *lib = protolib_create();
		size_t cursor = 0;

		if (protolib_read(lib, found.gl_pathv[i], collect, &errors) != 0)
			fail_msg("%s: %s", found.gl_pathv[i], errors.text);
		/* That file has only types, for other files. */
		if (!strstr(found.gl_pathv[i], "/linux_types.conf"))
			assert_non_null(protolib_next(lib, &cursor));
		strbuf_deinit(&errors);
		protolib_destroy(lib);
	}
	globfree(&found);
	free(pattern);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bitset),
		cmocka_unit_test(test_not_always_passed),
		cmocka_unit_test(test_integer_types),
		cmocka_unit_test(test_other_types),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_string_lengths),
		cmocka_unit_test(test_parameter_lists),
		cmocka_unit_test(test_typedefs),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_errors_in_paths),
		cmocka_unit_test(test_ends_of_lines),
		cmocka_unit_test(test_ends_of_lines),
		cmocka_unit_test(test_comments),
		cmocka_unit_test(test_byte_order_mark),
		cmocka_unit_test(test_replacement),
		cmocka_unit_test(test_errors_in_types),
		cmocka_unit_test(test_errors_in_lengths),
		cmocka_unit_test(test_errors_in_declarations),
		cmocka_unit_test(test_recovery),
		cmocka_unit_test(test_foreign_bytes_are_escaped),
		cmocka_unit_test(test_too_many_errors),
		cmocka_unit_test(test_huge_input),
		cmocka_unit_test(test_random_input),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_may_be),
		cmocka_unit_test(test_shipped_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
