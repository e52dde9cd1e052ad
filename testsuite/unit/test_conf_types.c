/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compound types of the .conf language: layout, derived fields, and errors. */
#include "abis.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "proto/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void collect(void *context, const char *file, unsigned line, const char *message)
{
	(void)file;
	strbuf_printf(context, "%u: %s\n", line, message);
}

static struct protolib *parse_ok(const char *text)
{
	struct strbuf errors = {0};
	struct protolib *lib = protolib_create();

	if (protolib_parse(lib, "t.conf", text, collect, &errors))
		fail_msg("%s: %s", text, errors.text);
	strbuf_deinit(&errors);
	return lib;
}

/* The type of the first parameter of f. */
static const struct type *first(const struct protolib *lib)
{
	const struct prototype *f = protolib_find(lib, "f");

	assert_non_null(f);
	return f->parameters[0].type;
}

static void assert_error(const char *text, const char *expected)
{
	struct strbuf errors = {0};
	struct protolib *lib = protolib_create();
	char *whole = xasprintf("%s\nint next(int);\n", text);

	assert_int_equal(protolib_parse(lib, "t.conf", whole, collect, &errors), 1);
	assert_non_null(protolib_find(lib, "next"));
	errors.text[strcspn(errors.text, "\n")] = '\0';
	assert_string_equal(errors.text, expected);
	free(whole);
	strbuf_deinit(&errors);
	protolib_destroy(lib);
}

struct example {
	char c;
	double d;
	short s;
	struct {
		char t[6];
		long l;
	} inner;
	long double x;
	int *p;
	char end;
};

static void test_bit_fields(void **state)
{
	/* By gcc -m32 and -m64: the byte and the bit where each bit-field begins. */
	static const uint8_t at[][2][2] = {{{0, 0}, {0, 0}}, {{0, 3}, {0, 3}},	{{1, 2}, {1, 2}},
					   {{2, 0}, {2, 0}}, {{3, 0}, {3, 0}},	{{8, 0}, {8, 0}},
					   {{9, 1}, {9, 1}}, {{12, 0}, {16, 0}}};
	struct protolib *lib = parse_ok("void f(struct(uint a:3, int:7, bool(uint8) c:1, uint8 d,"
					" ullong e:40, short f:9, hide(uchar):7, ullong:50,"
					" ...)*);");
	const struct type *type = first(lib)->target;

	(void)state;
	assert_int_equal(type->count, 8);
	assert_true(type->is_partial && !type->is_union);
	for (unsigned i = 0; i < type->count; i++)
		for (unsigned wide = 0; wide < 2; wide++) {
			assert_int_equal(type->members[i].offset[wide], at[i][wide][0]);
			assert_int_equal(type->members[i].shift[wide], at[i][wide][1]);
		}
	assert_int_equal(type->members[1].bits, 7);
	assert_null(type->members[1].name);
	assert_string_equal(type->members[5].name, "f");
	assert_int_equal(type_size(type, 4), 20);
	assert_int_equal(type_size(type, 8), 24);
	protolib_destroy(lib);
}

static void test_unions(void **state)
{
	struct protolib *lib = parse_ok("void f(union(string s, array(char, 9) b, double d)*);");
	const struct type *type = first(lib)->target;

	(void)state;
	assert_true(type->is_union && type->is_partial && type->follows);
	assert_int_equal(type->count, 3);
	assert_int_equal(type_shown_members(type), 1);
	assert_int_equal(type->members[2].offset[1], 0);
	assert_int_equal(type_size(type, 4), 12);
	assert_int_equal(type_size(type, 8), 16);
	assert_int_equal(type_align(type, 8), 8);
	protolib_destroy(lib);
	lib = parse_ok("void f(union(int a, string s)*, union(int), struct(int128));");
	assert_false(first(lib)->target->follows);
	const struct prototype *prototype = protolib_find(lib, "f");

	assert_false(prototype->parameters[1].type->is_partial);
	assert_int_equal(type_size(prototype->parameters[2].type, 8), 16);
	assert_int_equal(type_align(prototype->parameters[2].type, 8), 16);
	protolib_destroy(lib);
}

static void test_struct_layout(void **state)
{
	static const uint32_t on_8[] = {
		offsetof(struct example, c),  offsetof(struct example, d),
		offsetof(struct example, s),  offsetof(struct example, inner),
		offsetof(struct example, x),  offsetof(struct example, p),
		offsetof(struct example, end)};
	/* By gcc -m32. */
	static const uint32_t on_4[] = {0, 4, 12, 16, 28, 40, 44};
	struct protolib *lib = parse_ok(
		"void f(struct(char c, double d, short,"
		" struct(string(array(char, 6)), long) inner, long double x, int *p, char)*);");
	const struct type *type = first(lib)->target;

	(void)state;
	assert_int_equal(first(lib)->kind, TYPE_POINTER);
	assert_int_equal(type->kind, TYPE_STRUCT);
	assert_int_equal(type->count, 7);
	for (unsigned i = 0; i < 7; i++) {
		assert_int_equal(type->members[i].offset[0], on_4[i]);
		if (sizeof(void *) == 8)
			assert_int_equal(type->members[i].offset[1], on_8[i]);
	}
	if (sizeof(void *) == 8)
		assert_int_equal(type_size(type, 8), sizeof(struct example));
	assert_int_equal(type_size(type, 4), 48);
	assert_string_equal(type->members[0].name, "c");
	assert_null(type->members[2].name);
	assert_string_equal(type->members[3].name, "inner");
	assert_string_equal(type->members[5].name, "p");
	assert_true(type_follows(type));
	assert_true(type_is_apart(type->members[5].type));
	assert_false(type_is_apart(type->members[3].type));
	assert_false(type_follows(type->members[3].type));
	protolib_destroy(lib);
}

static void test_enums(void **state)
{
	struct protolib *lib = parse_ok("void f(enum[short](A, B=5, C, D=-1, E, F=0xff));"
					"void g(enum(X=1));");
	static const int64_t values[] = {0, 5, 6, -1, 0, 255};
	const struct type *type = first(lib);

	(void)state;
	assert_int_equal(type->kind, TYPE_INT);
	assert_int_equal(type->width, WIDTH_SHORT);
	assert_int_equal(type->lens, LENS_ENUM);
	assert_int_equal(type->count, 6);
	for (unsigned i = 0; i < 6; i++) {
		const char name[] = {(char)('A' + i), '\0'};

		assert_string_equal(type->names[i].name, name);
		assert_int_equal(type->names[i].value, values[i]);
	}
	type = protolib_find(lib, "g")->parameters[0].type;
	assert_int_equal(type->width, WIDTH_INT);
	assert_true(type->is_signed);
	protolib_destroy(lib);
}

static void test_arrays_and_strings(void **state)
{
	struct protolib *lib = parse_ok(
		"void f(array(int, 3), array(short, arg4)*, array(string, zero),"
		" int, string(char*), string(array(char, arg4)*),"
		" string(array(char, 6)), string(int*), string4, string(array(int, 5)*));");
	const struct parameter *p = protolib_find(lib, "f")->parameters;

	(void)state;
	/* Arrays that are parameters are pointers to arrays. */
	assert_int_equal(p[0].type->kind, TYPE_POINTER);
	assert_int_equal(p[0].type->target->kind, TYPE_ARRAY);
	assert_int_equal(type_size(p[0].type->target, 8), 12);
	assert_int_equal(p[1].type->target->length_from, STRING_ARGUMENT);
	assert_int_equal(p[1].type->target->length, 3);
	assert_int_equal(p[1].type->arguments, 1 << 3);
	assert_int_equal(p[2].type->target->length_from, STRING_NUL);
	assert_int_equal(p[4].type->kind, TYPE_STRING);
	assert_int_equal(p[5].type->kind, TYPE_STRING);
	assert_int_equal(p[5].type->length_from, STRING_ARGUMENT);
	assert_int_equal(p[6].type->kind, TYPE_STRING);
	assert_int_equal(p[6].type->length, 6);
	assert_int_equal(p[7].type->target->lens, LENS_TEXT);
	assert_int_equal(p[7].type->target->length_from, STRING_NUL);
	assert_int_equal(p[8].type->length_from, STRING_ARGUMENT);
	assert_int_equal(p[8].type->length, 3);
	assert_int_equal(p[9].type->target->lens, LENS_TEXT);
	assert_int_equal(p[9].type->target->length, 5);
	protolib_destroy(lib);
}

static void test_names_of_bits(void **state)
{
	struct protolib *lib = parse_ok(
		"void f(bitset[oct(ushort)](A=1), bitset(A=1), ioctl_request);"
		"typedef ioctl_request = int; void g(ioctl_request);");
	const struct parameter *p = protolib_find(lib, "f")->parameters;
	const struct type *type = p[2].type;
	unsigned long found = 0;

	(void)state;
	assert_true(p[0].type->rest_in_octal);
	assert_int_equal(p[0].type->width, WIDTH_SHORT);
	assert_false(p[1].type->rest_in_octal);
	/* The kernel's headers have many requests; these are old ones. */
	assert_in_range(type->count, 300, 10000);
	for (uint32_t i = 0; i < type->count; i++)
		if (!strcmp(type->names[i].name, "TIOCGWINSZ"))
			found = (unsigned long)type->names[i].value;
	assert_int_equal(found, 0x5413);
	assert_int_equal(protolib_find(lib, "g")->parameters[0].type->count, 0);
	protolib_destroy(lib);
}

static void test_lengths_are_inherited(void **state)
{
	struct protolib *lib = parse_ok("typedef part = struct(array(int, retval)*, string[arg2]);"
					"int f(int, uint, array(part, 2)*, int);");
	const struct prototype *f = protolib_find(lib, "f");

	(void)state;
	assert_true(f->parameters[2].type->needs_result);
	assert_int_equal(f->parameters[2].type->arguments, 2);
	assert_false(f->parameters[1].on_return);
	assert_true(f->parameters[2].on_return);
	assert_true(f->parameters[3].on_return);
	protolib_destroy(lib);
}

static void test_forward(void **state)
{
	struct protolib *lib = parse_ok("typedef node = struct;\n"
					"typedef link = node*;\n"
					"typedef node = struct(int value, link next);\n"
					"typedef opaque = struct;\n"
					"void f(node*, link, opaque*);");
	const struct parameter *p = protolib_find(lib, "f")->parameters;

	(void)state;
	assert_ptr_equal(p[0].type->target, p[1].type->target);
	assert_true(p[0].type->target->is_defined);
	assert_ptr_equal(p[0].type->target->members[1].type->target, p[0].type->target);
	assert_false(p[2].type->target->is_defined);
	protolib_destroy(lib);
}

static void test_lenses(void **state)
{
	struct protolib *lib = parse_ok(
		"void f(hex(int*), bool(char), bitvec(array(char, 4)*), guess(int), hide(string),"
		" bool, hex(double), bitvec(struct(int)*), hex(array(int, 2)*), oct(enum(A)), bool(addr));");
	const struct parameter *p = protolib_find(lib, "f")->parameters;

	(void)state;
	assert_int_equal(p[0].type->target->lens, LENS_HEX);
	assert_int_equal(p[1].type->lens, LENS_BOOL);
	assert_int_equal(p[2].type->target->lens, LENS_BITVEC);
	assert_int_equal(p[2].type->target->kind, TYPE_ARRAY);
	assert_int_equal(p[3].type->lens, LENS_GUESS);
	assert_true(p[4].type->is_hidden);
	assert_int_equal(type_size(p[5].type, 8), 1);
	assert_int_equal(p[6].type->lens, LENS_HEX);
	assert_int_equal(p[7].type->target->lens, LENS_BITVEC);
	assert_int_equal(p[8].type->target->target->lens, LENS_HEX);
	assert_int_equal(p[9].type->lens, LENS_OCT);
	assert_int_equal(p[10].type->lens, LENS_BOOL);
	protolib_destroy(lib);
}

/* Lenses on objects, strings, and numbers that have no such form. */
static void test_lenses_on_anything(void **state)
{
	struct protolib *lib = parse_ok(
		"typedef node = struct; typedef node = struct(int, node*);"
		"void f(hex(node*), bitvec(float*), oct(hex(double)), hex(string[arg6]),"
		" hex(string(array(wchar_t, 3)*)), int, hex(int128), oct(string*));");
	const struct parameter *p = protolib_find(lib, "f")->parameters;
	const struct plan_limits limits = {.string_max = 32, .array_max = 4};
	struct capture_plan *plan = plan_create(protolib_find(lib, "f"), &abi64, &limits);

	(void)state;
	assert_int_equal(p[0].type->target->lens, LENS_HEX);
	/* The lens makes no new members, so a circle is found at once. */
	assert_ptr_equal(p[0].type->target->members,
			 p[0].type->target->members[1].type->target->members);
	assert_int_equal(plan->parts[plan->entry[0].part].first,
			 plan->parts[plan->parts[plan->entry[0].part].first].first);
	assert_int_equal(p[1].type->target->lens, LENS_BITVEC);
	assert_int_equal(p[2].type->lens, LENS_DEFAULT);
	assert_int_equal(p[3].type->kind, TYPE_POINTER);
	assert_int_equal(p[3].type->target->target->lens, LENS_HEX);
	assert_int_equal(p[3].type->arguments, 1 << 5);
	assert_int_equal(p[4].type->target->lens, LENS_DEFAULT);
	assert_true(p[4].type->target->zero_ends);
	assert_true(p[6].type->is_wide);
	assert_int_equal(p[7].type->target->kind, TYPE_STRING);
	plan_destroy(plan);
	protolib_destroy(lib);
}

/* Lines like those in files for ltrace. */
static void test_as_ltrace_has_it(void **state)
{
	struct protolib *lib = parse_ok(
		"; a comment\n"
		"int open(string,int,octal);\t\t; the 3rd need not be there\n"
		"typedef in_addr = struct(hex(uint));\n"
		"int inet_aton(string, +in_addr*);\n"
		"in_addr inet_makeaddr(hex(int), hex(int));\n"
		"typedef addr = void*;\n"
		"void *malloc(ulong);\n"
		"long write(int,string3,ulong);\n"
		"int asprintf(+string*, format);\n"
		"char **environ_of(char**, int***);\n"
		"int sigaction(int, struct(addr, bitvec(ulong), hex(int), addr)*, +addr);\n"
		"addr memcpy(addr,string(array(char, arg3)*),ulong);\n"
		"void func_arrayi(array(int,arg2)*,int);\n"
		"struct(float,char,char) func_struct_2(int, struct(string(array(char, 6)),float), double);\n"
		"void empty(struct());\n"
		"long read(int, +string[arg0], ulong);\n");

	(void)state;
	assert_int_equal(protolib_find(lib, "open")->parameter_count, 3);
	assert_int_equal(protolib_find(lib, "malloc")->result->kind, TYPE_POINTER);
	assert_null(protolib_find(lib, "malloc")->result->target);
	assert_int_equal(protolib_find(lib, "read")->parameters[1].type->length_from,
			 STRING_RESULT);
	assert_int_equal(protolib_find(lib, "inet_makeaddr")->result->kind, TYPE_STRUCT);
	protolib_destroy(lib);
}

/* string(…) of all kinds of types. */
static void test_text(void **state)
{
	struct protolib *lib = parse_ok(
		"int f(string(uint), string(int), string(char), string(enum(A)), string(double), "
		"string(struct(int)*), string(string), string(array(string, 2)*), string(char*), "
		"string(ushort*), string(array(uint, zero(arg2))*));");
	const struct parameter *p = protolib_find(lib, "f")->parameters;
	static const struct {
		enum type_kind kind;
		enum type_lens lens;
	} expected[] = {{TYPE_INT, LENS_CHAR},	     {TYPE_INT, LENS_CHAR},
			{TYPE_INT, LENS_CHAR},	     {TYPE_INT, LENS_CHAR},
			{TYPE_FLOAT, LENS_DEFAULT},  {TYPE_POINTER, LENS_DEFAULT},
			{TYPE_STRING, LENS_DEFAULT}, {TYPE_POINTER, LENS_DEFAULT},
			{TYPE_STRING, LENS_DEFAULT}, {TYPE_POINTER, LENS_DEFAULT},
			{TYPE_POINTER, LENS_DEFAULT}};

	(void)state;
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		assert_int_equal(p[i].type->kind, expected[i].kind);
		assert_int_equal(p[i].type->lens, expected[i].lens);
	}
	assert_int_equal(p[0].type->is_signed, false);
	assert_int_equal(p[1].type->is_signed, true);
	assert_int_equal(p[3].type->count, 0);
	assert_int_equal(p[7].type->target->lens, LENS_DEFAULT);
	assert_int_equal(p[9].type->target->lens, LENS_TEXT);
	assert_int_equal(p[10].type->target->lens, LENS_TEXT);
	assert_true(p[10].type->target->zero_ends);
	protolib_destroy(lib);
}

static void test_formats(void **state)
{
	static const struct {
		const char *text;
		bool is_wide;
	} cases[] = {
		{"format", false},
		{"format(string)", false},
		{"format(string(array(char, zero)*))", false},
		{"format[arg1]", false},
		{"format(string(array(uint, zero)*))", true},
		{"format(string(wchar_t*))", true},
		{"wformat", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = xasprintf("int f(int, %s, long behind);", cases[i].text);
		struct protolib *lib = parse_ok(text);
		const struct prototype *f = protolib_find(lib, "f");

		assert_int_equal(f->parameters[1].type->kind, TYPE_FORMAT);
		assert_int_equal(f->parameters[1].type->is_wide, cases[i].is_wide);
		assert_string_equal(f->parameters[2].name, "behind");
		protolib_destroy(lib);
		free(text);
	}
}

/* The words of the language may be names, too. */
static void test_words_as_names(void **state)
{
	static const char *const words[] = {
		"hex",	  "oct",    "octal", "bin",    "bool",	 "bitvec",  "guess",   "hide",
		"string", "format", "array", "struct", "union",	 "enum",    "bitset",  "sockaddr",
		"addr",	  "file",   "zero",  "retval", "import", "typedef", "function"};

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const char *word = words[i];
		char *text = xasprintf("int %s(char, string %s);\n", word, word);
		struct protolib *lib = parse_ok(text);
		const struct prototype *f = protolib_find(lib, word);

		assert_non_null(f);
		assert_string_equal(f->parameters[1].name, word);
		protolib_destroy(lib);
		free(text);
		text = xasprintf("typedef %s = struct(short, double); %s f(%s, %s*, hex(long));",
				 word, word, word, word);
		lib = parse_ok(text);
		f = protolib_find(lib, "f");
		assert_int_equal(f->result->kind, TYPE_STRUCT);
		assert_int_equal(f->parameters[0].type->kind, TYPE_STRUCT);
		assert_int_equal(f->parameters[1].type->target->kind, TYPE_STRUCT);
		assert_int_equal(f->parameters[2].type->lens, LENS_HEX);
		protolib_destroy(lib);
		free(text);
	}
}

/*
 * A typedef does not change a number of C, if it names another plain number. A type with a lens
 * does redefine the name.
 */
static void test_numbers_by_other_names(void **state)
{
	struct protolib *lib = parse_ok(
		"typedef llong = long; typedef ldouble = double; typedef int = short;\n"
		"int f(llong, ldouble, long long, long double, int);\n"
		"typedef uint = hex(uint); typedef double = hex(double);\n"
		"int g(uint, unsigned int, double, unsigned long, enum(A));");
	const struct parameter *p = protolib_find(lib, "f")->parameters;

	(void)state;
	assert_int_equal(p[0].type->width, WIDTH_LONG_LONG);
	assert_int_equal(p[1].type->width, WIDTH_LONG_DOUBLE);
	assert_int_equal(p[2].type->width, WIDTH_LONG_LONG);
	assert_int_equal(p[3].type->width, WIDTH_LONG_DOUBLE);
	assert_int_equal(p[4].type->width, WIDTH_INT);
	p = protolib_find(lib, "g")->parameters;
	assert_int_equal(p[0].type->lens, LENS_HEX);
	assert_int_equal(p[1].type->lens, LENS_HEX);
	assert_int_equal(p[2].type->lens, LENS_HEX);
	assert_int_equal(p[3].type->lens, LENS_DEFAULT);
	assert_int_equal(p[4].type->lens, LENS_ENUM);
	protolib_destroy(lib);
	/* Built-in types do not use a name that a file has redefined. */
	lib = parse_ok(
		"typedef char = hex(ulong); typedef uchar = double; int f(bitvec(string), sockaddr(4));");
	assert_int_equal(type_size(first(lib)->target->target, 8), 1);
	assert_int_equal(type_size(protolib_find(lib, "f")->parameters[1].type->target, 8), 4);
	protolib_destroy(lib);
}

/* A type that a file names twice is no error. The second definition causes one warning. */
static void test_given_again(void **state)
{
	static const char text[] =
		"typedef a = int;\ntypedef b = struct;\ntypedef b = struct(b*);\n"
		"typedef a = long;\ntypedef a = short;\ntypedef b = int;\n"
		"typedef size_t = ulong;\nint f(a, b);\n";
	struct strbuf said = {0};
	struct protolib *lib = protolib_create();

	(void)state;
	assert_int_equal(protolib_parse(lib, "t.conf", text, collect, &said), 0);
	assert_string_equal(said.text,
			    "4: typedef 'a' is given again; the new one counts from here on\n"
			    "6: typedef 'b' is given again; the new one counts from here on\n");
	assert_int_equal(first(lib)->width, WIDTH_SHORT);
	strbuf_deinit(&said);
	/* A name that another file has defined causes no warning. */
	assert_int_equal(protolib_parse(lib, "u.conf", "typedef a = char;", collect, &said), 0);
	assert_null(said.text);
	protolib_destroy(lib);
}

/* Text that ltrace's parser accepts as well. */
static void test_as_ltrace_does(void **state)
{
	struct protolib *lib = parse_ok(
		"function itn f(void, long, void);\n"
		"int g(enum(A=010, B, C=0x10), array(int, 0)*, string[0], enum());\n"
		"int h(bin(ushort), bin(struct(int)*), +string0, string5, long);\n"
		"addr _Znwm(ulong);  operator new\n"
		"typedef function = int; function i(int);\n");
	const struct prototype *f = protolib_find(lib, "f");

	(void)state;
	assert_int_equal(f->result->kind, TYPE_INT);
	assert_int_equal(f->parameter_count, 3);
	assert_true(f->parameters[0].type->is_hidden && f->parameters[2].type->is_hidden);
	assert_false(f->parameters[1].type->is_hidden);
	f = protolib_find(lib, "g");
	assert_int_equal(f->parameters[0].type->names[0].value, 8);
	assert_int_equal(f->parameters[0].type->names[1].value, 9);
	assert_int_equal(f->parameters[1].type->target->length, 0);
	f = protolib_find(lib, "h");
	assert_int_equal(f->parameters[0].type->lens, LENS_BIN);
	assert_int_equal(f->parameters[1].type->target->lens, LENS_BIN);
	assert_non_null(protolib_find(lib, "_Znwm"));
	assert_non_null(protolib_find(lib, "i"));
	protolib_destroy(lib);
	assert_error("int f(enum(A=09));", "1: expected a number, found '09'");
	assert_error("int f(bin);", "1: expected '(', found ')'");
}

static void test_errors(void **state)
{
	(void)state;
	assert_error("int f(struct(int;", "1: expected ',' or ')', found ';'");
	assert_error("int f(struct int);", "1: expected '(', found 'int'");
	assert_error("int f(struct(void));",
		     "1: expected a type of objects of known size, found 'void'");
	assert_error("int f(struct(double:3));",
		     "1: expected an integer type for a bit-field, found 'double'");
	assert_error("int f(struct(short:17));",
		     "1: expected as many bits as the type has, or less, found '17'");
	assert_error("int f(struct(int x:0));",
		     "1: expected as many bits as the type has, or less, found '0'");
	assert_error("int f(struct(int x:));",
		     "1: expected as many bits as the type has, or less, found ')'");
	assert_error("int f(struct(int n:3, array(int, elt1)*));",
		     "1: expected integers as the members that are lengths, found '('");
	assert_error("int f(struct(int, .. .x));", "1: expected ')', found 'x'");
	assert_error("int f(struct(int, ..));", "1: expected '.', found ')'");
	assert_error("int f(struct(int, ..., int));", "1: expected ')', found ','");
	assert_error("int f(union(int:3, format));",
		     "1: expected a type of objects of known size, found 'format'");
	assert_error("int f(struct(format));",
		     "1: expected a type of objects of known size, found 'format'");
	assert_error("typedef a = struct; int f(a);",
		     "1: expected the type of a parameter, found 'a'");
	assert_error("typedef a = struct; a f(int);",
		     "1: expected the type of a result, found 'a'");
	assert_error("typedef a = struct; typedef a = struct(a);",
		     "1: expected a type of objects of known size, found 'a'");
	assert_error("int f(array(int));", "1: expected ',', found ')'");
	assert_error("int f(array(struct(), 3));",
		     "1: expected a type of objects of known size, found 'struct'");
	assert_error(
		"int f(array(int, elt1)*);",
		"1: expected a length up to 4294967295, arg1 to arg32 or retval, found 'elt1'");
	assert_error("int f(struct(array(int, elt2)*));",
		     "1: expected integers as the members that are lengths, found '('");
	assert_error("int f(struct(double, array(int, elt1)*));",
		     "1: expected integers as the members that are lengths, found '('");
	assert_error("int f(struct(int, array(int, elt65)*));",
		     "1: expected a length up to 4294967295, arg1 to arg32, elt1 to elt64 or "
		     "retval, found 'elt65'");
	assert_error(
		"int f(array(int, arg2)*, string);",
		"1: expected an integer type, or a pointer to one, as arg2 gives a length, found 'string'");
	assert_error("int f(sockaddr);", "1: expected '(', found ')'");
	assert_error(
		"int f(sockaddr(arg2), double*);",
		"1: expected an integer type, or a pointer to one, as arg2 gives a length, found 'double'");
	assert_error("int f(enum(A=));", "1: expected a number, found ')'");
	assert_error("int f(enum(A,));", "1: expected the name of a value, found ')'");
	assert_error("int f(enum[string](A));",
		     "1: expected an integer type or funcptr, found 'string'");
	assert_error("int f(string(void));",
		     "1: expected a type of objects of known size, found 'void'");
	assert_error("typedef s = struct; int f(string(s));",
		     "1: expected a type of objects of known size, found 's'");
	assert_error("int f(string(int);", "1: expected ',' or ')', found ';'");
	assert_error("int f(format(double));",
		     "1: expected a string of char or wchar_t for a format, found '('");
	assert_error("int f(format(string(array(ushort, zero)*)));",
		     "1: expected a string of char or wchar_t for a format, found '('");
	assert_error("int f(format[4);", "1: expected ']', found ')'");
	assert_error("int f(format, int, format);", "1: expected no other format, found 'format'");
	assert_error("int f(format*);", "1: expected no pointer to a format, found '*'");
	assert_error("int f(hide(void));",
		     "1: expected a type of objects of known size, found 'void'");
	assert_error(
		"int f(array(int, arg2)*, hide(int)); void g(+array(int, arg0)*, int);",
		"1: expected an integer result that is shown, as its length is taken from that "
		"(retval), found 'array'");
	assert_error("import x;", "1: expected the name of a file in quotes, found 'x'");
	assert_error("import \"no such\nfile\";",
		     "1: expected the name of a file in quotes, found '\"'");
	assert_error("import \"there-is-none\";",
		     "1: expected a file that exists, found '\"there-is-none\"'");
}

static char *write_file(const char *directory, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", directory, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	return path;
}

static char *find_other(void *context, const char *name)
{
	return strcmp(name, "elsewhere") ? NULL : xstrdup(context);
}

static void test_import(void **state)
{
	char directory[] = "/tmp/tracer-import-XXXXXX";
	struct strbuf errors = {0};
	struct protolib *lib = protolib_create();

	(void)state;
	assert_non_null(mkdtemp(directory));
	char *top = write_file(directory, "top.conf",
			       "import \"types\";\nimport \"./types\";\nimport \"other.conf\";\n"
			       "typedef node = struct; import \"./top\";\n"
			       "typedef node = struct(node*); void g(node*);\nint wrong(;\n"
			       "import \"elsewhere\";\nnumber f(number, letter, found);\n");
	char *types = write_file(directory, "types.conf",
				 "typedef number = long;\nint broken(;\nimport \"top\";\n");
	char *other = write_file(directory, "other.conf", "typedef letter = char;\n");
	char *found = write_file(directory, "found", "typedef found = string;\n");

	protolib_set_finder(lib, find_other, found);
	/* Files that import each other in a circle are read once, also if a file imports itself. */
	assert_int_equal(protolib_read(lib, top, collect, &errors), 2);
	assert_string_equal(errors.text,
			    "2: expected a type, found ';'\n6: expected a type, found ';'\n");
	const struct type *node = protolib_find(lib, "g")->parameters[0].type->target;

	assert_ptr_equal(node->members[0].type->target, node);
	assert_int_equal(protolib_find(lib, "f")->parameter_count, 3);
	assert_int_equal(protolib_find(lib, "f")->parameters[2].type->kind, TYPE_STRING);
	unlink(top);
	unlink(types);
	unlink(other);
	unlink(found);
	rmdir(directory);
	free(top);
	free(types);
	free(other);
	free(found);
	strbuf_deinit(&errors);
	protolib_destroy(lib);
}

/* Sizes that overflow, and types that double with each line, take neither memory nor time. */
static void test_huge_types(void **state)
{
	struct strbuf text = {0};
	struct protolib *lib;

	(void)state;
	strbuf_add(&text, "typedef t0 = struct(string, array(int, 4294967295));\n");
	for (int i = 1; i < 50; i++)
		strbuf_printf(&text, "typedef t%d = struct(t%d, t%d);\n", i, i - 1, i - 1);
	strbuf_add(&text, "void f(t49*);\n");
	lib = parse_ok(text.text);
	assert_true(type_size(first(lib)->target, 8) <= 2 * TYPE_SIZE_MAX);
	for (unsigned i = 0; i < 2; i++) {
		static const struct plan_limits limits = {.string_max = 32, .array_max = 4};
		struct capture_plan *plan = plan_create(protolib_find(lib, "f"),
							i ? &abi64 : &abi32, &limits);

		/* Too many parts: the object is captured as a pointer. */
		assert_int_equal(plan->entry[0].kind, CAPTURE_WORD);
		plan_destroy(plan);
	}
	protolib_destroy(lib);
	strbuf_clear(&text);
	strbuf_add(&text, "void f(");
	for (int i = 0; i < 100000; i++)
		strbuf_add(&text, "struct(");
	strbuf_add(&text, ";");
	assert_error(text.text, "1: expected fewer types in one another, found 'struct'");
	strbuf_deinit(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_struct_layout),
		cmocka_unit_test(test_bit_fields),
		cmocka_unit_test(test_unions),
		cmocka_unit_test(test_enums),
		cmocka_unit_test(test_arrays_and_strings),
		cmocka_unit_test(test_names_of_bits),
		cmocka_unit_test(test_lengths_are_inherited),
		cmocka_unit_test(test_forward),
		cmocka_unit_test(test_lenses),
		cmocka_unit_test(test_lenses_on_anything),
		cmocka_unit_test(test_as_ltrace_has_it),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_words_as_names),
		cmocka_unit_test(test_numbers_by_other_names),
		cmocka_unit_test(test_given_again),
		cmocka_unit_test(test_as_ltrace_does),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_import),
		cmocka_unit_test(test_huge_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
