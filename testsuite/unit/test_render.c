/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values as text: types and lenses, escapes, printf arguments, and forged records. */
#include "records.h"
#include "sink/render/escape.h"
#include "sink/render/render.h"
#include "sink/render/signame.h"
#include "valgrind.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct render_options shown = {.string_max = 32, .array_max = 4};

/* Returns the content of `out` as a string, and empties it. */
static const char *taken(struct outbuf *out)
{
	outbuf_char(out, '\0');
	out->length = 0;
	return out->text;
}

#define assert_rendered(type, value, expected)                                                     \
	do {                                                                                       \
		struct outbuf out_;                                                                \
                                                                                                   \
		outbuf_init(&out_, -1);                                                            \
		struct rendering rendering_ = {.out = &out_, .options = &shown};                   \
		render_typed(&rendering_, &(type), value);                                         \
		assert_string_equal(taken(&out_), expected);                                       \
		outbuf_deinit(&out_);                                                              \
	} while (0)

static void assert_word(struct type type, unsigned size, uint64_t word, const char *expected)
{
	struct record_value value = {.kind = VALUE_WORD, .size = (uint8_t)size, .word = word};

	assert_rendered(type, &value, expected);
}

static struct type integer(bool is_signed, enum type_lens lens)
{
	return (struct type){.kind = TYPE_INT, .is_signed = is_signed, .lens = (uint8_t)lens};
}

static void test_integers(void **state)
{
	(void)state;
	assert_word(integer(true, LENS_DEFAULT), 4, 0, "0");
	assert_word(integer(true, LENS_DEFAULT), 4, (uint64_t)-5, "-5");
	assert_word(integer(true, LENS_DEFAULT), 4, 0xfffffffb, "-5");
	assert_word(integer(true, LENS_DEFAULT), 8, (uint64_t)INT64_MIN, "-9223372036854775808");
	assert_word(integer(false, LENS_DEFAULT), 8, UINT64_MAX, "18446744073709551615");
	assert_word(integer(false, LENS_DEFAULT), 4, UINT64_MAX, "4294967295");
	assert_word(integer(false, LENS_HEX), 4, 0x1f, "0x1f");
	assert_word(integer(true, LENS_HEX), 4, (uint64_t)-1, "0xffffffff");
	assert_word(integer(false, LENS_HEX), 8, UINT64_MAX, "0xffffffffffffffff");
	assert_word(integer(false, LENS_HEX), 4, 0, "0");
	assert_word(integer(false, LENS_OCT), 4, 0755, "0755");
	assert_word(integer(true, LENS_OCT), 8, UINT64_MAX, "01777777777777777777777");
	assert_word(integer(false, LENS_OCT), 4, 0, "0");
	assert_word(integer(false, LENS_BIN), 4, 0x16, "0b10110");
	assert_word(integer(true, LENS_BIN), 1, UINT64_MAX, "0b11111111");
	assert_word(integer(false, LENS_BIN), 8, 0, "0");
}

static void test_guess(void **state)
{
	struct type guess = integer(true, LENS_GUESS);

	(void)state;
	assert_word(guess, 8, 10000, "10000");
	assert_word(guess, 8, 10001, "0x2711");
	assert_word(guess, 8, (uint64_t)-10000, "-10000");
	assert_word(guess, 8, (uint64_t)-10001, "0xffffffffffffd8ef");
	assert_word(guess, 4, (uint64_t)-10001, "0xffffd8ef");
	assert_word(guess, 8, 0, "0");
}

static char *name_of(void *context, int32_t pid, uint64_t address)
{
	assert_int_equal(pid, *(int *)context);
	return address == 0x1234 ? strdup("na\033me") : NULL;
}

static void test_function_pointers(void **state)
{
	int context = 7;
	const struct code_names code = {.find = name_of, .context = &context};
	const struct render_options options = {.code = &code};
	struct value_cursor cursor = {.pid = 7};
	static const struct type_name names[] = {{"IGNORE", 1, 0}, {"ERROR", -1, 0}};
	struct type type = {.kind = TYPE_POINTER, .lens = LENS_FUNCTION};
	const struct {
		uint64_t word;
		unsigned size;
		uint8_t lens;
		const char *expected;
	} cases[] = {
		{0, 8, LENS_FUNCTION, "nil"},
		{0x1234, 8, LENS_FUNCTION, "na\\033me"},
		{0xffffffff00001234, 4, LENS_FUNCTION, "na\\033me"},
		{0xffffffff00001234, 8, LENS_FUNCTION, "0xffffffff00001234"},
		{1, 8, LENS_FUNCTION, "0x1"},
		{1, 8, LENS_ENUM, "IGNORE"},
		{0xffffffff, 4, LENS_ENUM, "ERROR"},
		{UINT64_MAX, 8, LENS_ENUM, "ERROR"},
		{0x1234, 4, LENS_ENUM, "na\\033me"},
		{0x1234, 8, LENS_DEFAULT, "0x1234"},
	};

	(void)state;
	type.names = names;
	type.count = 2;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct record_value value = {
			.kind = VALUE_WORD, .size = (uint8_t)cases[i].size, .word = cases[i].word};
		struct outbuf out;
		struct rendering r = {.out = &out, .options = &options, .cursor = &cursor};

		outbuf_init(&out, -1);
		type.lens = cases[i].lens;
		render_typed(&r, &type, &value);
		assert_string_equal(taken(&out), cases[i].expected);
		outbuf_deinit(&out);
	}
}

static void test_bitset(void **state)
{
	static const struct type_name names[] = {{"NONE", 0, 0}, {"READ", 0, 3},   {"WRITE", 1, 3},
						 {"BOTH", 2, 3}, {"SYNC", 12, 12}, {"DATA", 4, 4}};
	struct type modes = integer(true, LENS_BITSET);
	struct type bits = modes;

	(void)state;
	modes.names = names;
	modes.count = 6;
	assert_word(modes, 4, 0, "READ");
	assert_word(modes, 4, 1, "WRITE");
	assert_word(modes, 4, 2 + 4, "BOTH|DATA");
	assert_word(modes, 4, 12, "READ|SYNC");
	assert_word(modes, 4, 8, "READ|0x8");
	assert_word(modes, 4, 3, "0x3"); /* no name has that value in the field */
	assert_word(modes, 8, UINT64_MAX, "SYNC|0xfffffffffffffff3");
	assert_word(modes, 4, UINT64_MAX, "SYNC|0xfffffff3");
	bits.names = names + 4;
	bits.count = 2;
	assert_word(bits, 4, 0, "0");
	assert_word(bits, 4, 4, "DATA");
	assert_word(bits, 4, 16, "0x10");
	bits.names = names;
	bits.count = 1;
	assert_word(bits, 4, 0, "NONE");
	bits.count = 0;
	assert_word(bits, 4, 1, "0x1");
}

/* An enumeration whose values may be or-ed is distinguished from one that counts. */
static void test_enum_flags(void **state)
{
	static const struct {
		unsigned size;
		int64_t values[8]; /* of A, B, C, up to -9 */
		uint64_t word;
		const char *expected;
	} cases[] = {
		{4, {1, 2, 4, -9}, 5, "A|C"},
		{4, {1, 2, 4, -9}, 9, "A|0x8"},
		{4, {1, 2, 4, -9}, 8, "8"},
		{4, {1, 2, 4, 8, 15, -9}, 9, "A|D"},
		{4, {1, 2, 4, 8, 15, -9}, 15, "E"},
		{4, {15, 1, 2, 4, 8, -9}, 9, "B|E"},
		{4, {0, 1, 2, 4, 8, 15, 0, -9}, 9, "B|E"},
		{4, {0, 1, 2, 4, 8, 15, 0, -9}, 0, "A"},
		{4, {1, 2, -9}, 3, "A|B"},
		{4, {1, 2, -9}, 7, "7"},
		{4, {1, 2, -9}, 0, "0"},
		{4, {4, 8, -9}, 12, "A|B"},
		{4, {1, 2, 3, 4, 0x80000000, -9}, 0x80000003, "A|B|E"},
		{4, {1, 2, 4, INT32_MIN, -9}, 0x80000001, "A|D"},
		{8, {1, 2, 4, INT64_MIN, -9}, 0x8000000000000001, "A|D"},
		{1, {1, 2, 0x80, -9}, 0xffffff81, "A|C"},
		/* These values count, or may do so. */
		{4, {0, 1, -9}, 3, "3"},
		{4, {0, 1, 2, -9}, 3, "3"},
		{4, {1, 2, 3, -9}, 3, "C"},
		{4, {1, 2, 3, -9}, 7, "7"},
		{4, {1, 2, 3, 4, -9}, 7, "7"},
		{4, {0, 1, 2, 3, 4, 5, -9}, 6, "6"},
		{4, {1, 2, 3, 4, 5, 7, -9}, 6, "6"},
		{4, {1, 2, 5, -9}, 3, "3"},
		/* Not if a value is a combination of others, or has all bits. */
		{4, {1, 2, 4, 0x30, -9}, 3, "3"},
		{4, {-1, 1, 2, 4, -9}, 3, "3"},
		{4, {1, 6, -9}, 7, "7"},
	};
	static const char letters[] = "A\0B\0C\0D\0E\0F\0G";
	struct type_name names[8];
	struct type type = integer(true, LENS_ENUM);

	(void)state;
	type.names = names;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		for (type.count = 0; cases[i].values[type.count] != -9; type.count++)
			names[type.count] = (struct type_name){letters + 2 * (size_t)type.count,
							       cases[i].values[type.count], 0};
		assert_word(type, cases[i].size, cases[i].word, cases[i].expected);
	}
}

/* A set with most of its bits is shown by the bits that are missing. */
static void test_full_bitset(void **state)
{
	static const struct type_name names[] = {{"ONE", 1, 1}, {"TWO", 2, 2}, {"FOUR", 4, 4}};
	static const struct type_name field[] = {{"ONE", 1, 3}};
	struct type bits = integer(true, LENS_BITSET);

	(void)state;
	bits.names = names;
	bits.count = 3;
	assert_word(bits, 4, UINT32_MAX, "~0");
	assert_word(bits, 4, UINT32_MAX - 2, "~TWO");
	assert_word(bits, 8, UINT64_MAX - 2 - 4 - 0x80, "~(TWO|FOUR|0x80)");
	assert_word(bits, 4, 0x3fffe, "~(ONE|0xfffc0000)");
	assert_word(bits, 4, 0x1fffe, "TWO|FOUR|0x1fff8"); /* not more than half of the bits */
	assert_word(bits, 2, 0xffff, "ONE|TWO|FOUR|0xfff8");
	bits.names = field;
	bits.count = 1;
	assert_word(bits, 4, UINT32_MAX, "0xffffffff");
}

static void test_statuses(void **state)
{
	static const struct {
		uint64_t status;
		const char *shown;
	} cases[] = {
		{0, "W_EXITCODE(0, 0)"},
		{0x300, "W_EXITCODE(3, 0)"},
		{0xff00, "W_EXITCODE(255, 0)"},
		{9, "SIGKILL"},
		{0x8b, "SIGSEGV|WCOREFLAG"},
		{32, "SIGRTMIN"},
		{64, "SIGRT_32"},
		{0x137f, "W_STOPCODE(SIGSTOP)"},
		{0x857f, "W_STOPCODE(SIGTRAP|0x80)"},
		{0x4057f, "W_STOPCODE(SIGTRAP)|0x40000"},
		{0xffff, "__W_CONTINUED"},
		/* No wait status has these values. */
		{0x7f, "0x7f"},
		{0x80, "0x80"},
		{0x41, "0x41"},
		{0x309, "0x309"},
		{0x10000, "0x10000"},
		{0x557f, "0x557f"},
		{UINT64_C(0xfffffffffffffff7), "0xfffffff7"},
	};
	struct type type = integer(true, LENS_STATUS);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_word(type, 4, cases[i].status, cases[i].shown);
}

static void test_characters(void **state)
{
	struct type character = integer(true, LENS_CHAR);

	(void)state;
	assert_word(character, 1, 'a', "'a'");
	assert_word(character, 1, '\n', "'\\n'");
	assert_word(character, 1, '\'', "'\\''");
	assert_word(character, 1, '"', "'\"'");
	assert_word(character, 1, '\\', "'\\\\'");
	assert_word(character, 1, 0, "'\\0'");
	assert_word(character, 1, 1, "'\\001'");
	assert_word(character, 1, (uint64_t)-1, "'\\377'");
	/* Wide characters, and values that are none. */
	assert_word(character, 4, 'a', "'a'");
	assert_word(character, 4, 0, "'\\0'");
	assert_word(character, 4, 200, "'\\u00c8'");
	assert_word(character, 2, 0x416, "'\\u0416'");
	assert_word(character, 4, 0x1f600, "'\\U0001f600'");
	assert_word(character, 4, 0x10ffff, "'\\U0010ffff'");
	assert_word(character, 4, 0x110000, "1114112");
	assert_word(character, 4, (uint64_t)-1, "-1");
	assert_word(integer(false, LENS_CHAR), 4, UINT32_MAX, "-1");
	assert_word(integer(false, LENS_CHAR), 2, 0xd83c, "'\\ud83c'");
}

static void test_pointers(void **state)
{
	(void)state;
	assert_word(type_addr, 8, 0x7ffe1234, "0x7ffe1234");
	assert_word(type_addr, 8, 0, "nil");
	assert_word(type_addr, 4, 0xfffffffff7fc1234, "0xf7fc1234");
	assert_word(type_string, 8, 0xdead, "0xdead");
}

static void assert_double(double number, const char *expected)
{
	struct made made = make_record(RECORD_CALL, 1, 0, 1);

	assert_rendered(type_double, add_double(&made, 0, number), expected);
}

static void assert_single(float number, const char *expected)
{
	struct record_value value = {.kind = VALUE_FLOAT, .size = sizeof number};
	uint32_t bits;

	memcpy(&bits, &number, sizeof bits);
	value.word = bits;
	assert_rendered(type_double, &value, expected);
}

/* Six digits behind the point, or as many as distinguish the number from its neighbours. */
static void test_digits(void **state)
{
	static const struct {
		double number;
		const char *shown;
	} cases[] = {
		{0, "0.000000"},
		{-0.0, "-0.000000"},
		{1, "1.000000"},
		{0.1, "0.100000"},
		{0.015625, "0.015625"},
		{-3.984375, "-3.984375"},
		{0.0078125, "0.0078125"},
		{123456.789, "123456.789000"},
		{0.000001, "0.000001"},
		{0.0000015, "1.5e-06"},
		{1.0000005, "1.0000005"},
		{1e-10, "1e-10"},
		{-1e-10, "-1e-10"},
		{1 / 3.0, "0.3333333333333333"},
		{3.141592653589793, "3.141592653589793"},
		{0.1 + 0.2, "0.30000000000000004"},
		{1e15 + 0.125, "1000000000000000.125000"},
		{15624999999999.984375, "15624999999999.984375"},
		{1e17, "100000000000000000.000000"},
		{-1e18, "-1.000000e+18"},
		{1e100, "1.000000e+100"},
		{1.5e300, "1.500000e+300"},
		{1.7976931348623157e308, "1.7976931348623157e+308"},
		{2.2250738585072014e-308, "2.2250738585072014e-308"},
		{5e-324, "5e-324"},
		{-1.5e-323, "-1.5e-323"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_double(cases[i].number, cases[i].shown);
	if (!under_valgrind()) { /* valgrind's long doubles are doubles */
		assert_double((double)INFINITY, "inf");
		assert_double((double)-INFINITY, "-inf");
	}
	assert_double((double)NAN, "nan");
	assert_single(0.1F, "0.100000");
	assert_single(1.0F / 3, "0.33333334");
	assert_single(3.14159274F, "3.1415927");
	assert_single(16777216, "16777216.000000");
	assert_single(1e-10F, "1e-10");
	assert_single(1e-45F, "1e-45");
	assert_single(3.40282347e38F, "3.4028235e+38");
}

static void test_floats(void **state)
{
	static const unsigned char x87_minus_2_5[16] = {0, 0, 0, 0, 0, 0, 0, 0xa0, 0x00, 0xc0};
	static const struct type type_single = {.kind = TYPE_FLOAT, .width = WIDTH_FLOAT};
	static const struct type type_long_double = {.kind = TYPE_FLOAT,
						     .width = WIDTH_LONG_DOUBLE};
	static const unsigned char x87_third[16] = {0xab, 0xaa, 0xaa, 0xaa, 0xaa,
						    0xaa, 0xaa, 0xaa, 0xfd, 0x3f};
	static const unsigned char x87_infinity[16] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x7f};
	struct made made = make_record(RECORD_CALL, 1, 0, 1);
	struct record_value value = {.kind = VALUE_FLOAT, .size = 4, .word = 0x3fc00000};

	(void)state;
	assert_rendered(type_double, &value, "1.500000");
	value = (struct record_value){.kind = VALUE_FLOAT, .size = 10, .length = 16};
	assert_rendered(type_double, add_value(&made, value, x87_minus_2_5), "-2.500000");
	if (!under_valgrind()) {
		assert_rendered(type_double, add_value(&made, value, x87_infinity), "inf");
		assert_rendered(type_long_double, add_value(&made, value, x87_third),
				"0.33333333333333333334");
		/* i386 returns a number with more digits than its type has. */
		assert_rendered(type_double, add_value(&made, value, x87_third),
				"0.3333333333333333");
		assert_rendered(type_single, add_value(&made, value, x87_third), "0.33333334");
	}
	value.length = 8;
	assert_rendered(type_double, add_value(&made, value, x87_infinity), "?");
}

static void assert_string(const char *text, unsigned flags, const char *expected)
{
	struct made made = make_record(RECORD_CALL, 1, 0, 1);

	assert_rendered(type_string, add_string(&made, 0, text, flags), expected);
}

static void test_strings(void **state)
{
	struct record_value value = {.kind = VALUE_STRING, .size = 8};
	struct made made = make_record(RECORD_CALL, 1, 0, 1);

	(void)state;
	assert_string("SELECT 1", 0, "\"SELECT 1\"");
	assert_string("", 0, "\"\"");
	assert_string("abc", VALUE_TRUNCATED, "\"abc\"...");
	assert_string("abc", VALUE_FAULT, "\"abc\"...");
	assert_string("", VALUE_FAULT, "0xdead");
	assert_string("0123456789012345678901234567890", 0, "\"0123456789012345678901234567890\"");
	assert_string("01234567890123456789012345678901", 0,
		      "\"01234567890123456789012345678901\"");
	assert_string("012345678901234567890123456789012", 0,
		      "\"01234567890123456789012345678901\"...");
	assert_rendered(type_string, &value, "nil");
	value = (struct record_value){.kind = VALUE_STRING, .size = 8, .length = 3, .word = 1};
	assert_rendered(type_string, add_value(&made, value, "a\0b"), "\"a\\000b\"");
}

static void test_escapes(void **state)
{
	(void)state;
	assert_string("\n\t\r\a\b\v\f", 0, "\"\\n\\t\\r\\a\\b\\v\\f\"");
	assert_string("\\ \" '", 0, "\"\\\\ \\\" '\"");
	assert_string("\x1b[2J\x7f\x80\xff", 0, "\"\\033[2J\\177\\200\\377\"");
}

/* Whatever the bytes are, only printable ASCII is written. */
static void test_nothing_raw(void **state)
{
	struct outbuf out;
	char name[2] = "";

	(void)state;
	outbuf_init(&out, -1);
	for (int c = 0; c < 256; c++) {
		unsigned char byte = (unsigned char)c;

		name[0] = (char)byte;
		escape_bytes(&out, &byte, 1, false);
		escape_bytes(&out, &byte, 1, true);
		escape_char(&out, byte);
		escape_name(&out, name);
	}
	for (size_t i = 0; i < out.length; i++)
		assert_in_range((unsigned char)out.text[i], 0x20, 0x7e);
	outbuf_deinit(&out);
}

static void test_names(void **state)
{
	struct outbuf out;

	(void)state;
	outbuf_init(&out, -1);
	escape_name(&out, "std::foo<char*>(int) \"x\"");
	assert_string_equal(taken(&out), "std::foo<char*>(int) \"x\"");
	escape_name(&out, "evil\x1b]0;\n");
	assert_string_equal(taken(&out), "evil\\033]0;\\n");
	escape_name(&out, NULL);
	assert_string_equal(taken(&out), "?");
	outbuf_deinit(&out);
}

static const char *arguments(struct outbuf *out, const struct prototype *prototype,
			     const struct record *record, unsigned first, unsigned last)
{
	struct value_cursor cursor = value_cursor_start(record);

	render_arguments(out, prototype, first, last, &cursor, &shown);
	return taken(out);
}

static void test_arguments(void **state)
{
	static const struct parameter parameters[] = {{.type = &type_int},
						      {.type = &type_string, .on_return = true},
						      {.type = &type_ulong}};
	static const struct prototype read_prototype = {.name = "read",
							.result = &type_int,
							.parameters = parameters,
							.parameter_count = 3};
	struct made made = make_record(RECORD_CALL, 1, 0, 1);
	struct outbuf out;

	(void)state;
	outbuf_init(&out, -1);
	assert_int_equal(render_entry_count(&read_prototype), 1);
	add_word(&made, 0, 4, 3);
	assert_string_equal(arguments(&out, &read_prototype, &made.record, 0, 1), "3");
	made = make_record(RECORD_RETURN, 1, 0, 1);
	add_string(&made, 1, "hi", 0);
	add_word(&made, 2, 8, 100);
	assert_string_equal(arguments(&out, &read_prototype, &made.record, 1, 3), ", \"hi\", 100");
	/* Values of other parameters than the prototype has: nothing is guessed. */
	assert_string_equal(arguments(&out, &read_prototype, &made.record, 0, 3), "?");
	/* Fewer values than parameters. */
	made.record.value_count = 1;
	assert_string_equal(arguments(&out, &read_prototype, &made.record, 1, 3), ", \"hi\", ?");
	outbuf_deinit(&out);
}

static void add_conversion(struct made *made, char conversion, unsigned size, uint64_t word)
{
	by_conversion(add_word(made, 0, size, word), conversion);
}

static const struct parameter printf_parameters[] = {{.type = &type_format}, {.type = &type_int}};
static const struct prototype printf_prototype = {.name = "printf",
						  .result = &type_int,
						  .parameters = printf_parameters,
						  .parameter_count = 2};

static void test_format(void **state)
{
	struct made made = make_record(RECORD_CALL, 1, 0, 1);
	struct outbuf out;

	(void)state;
	outbuf_init(&out, -1);
	add_string(&made, 0, "%d…", 0);
	add_conversion(&made, 'd', 4, 0xfffffffb);
	add_conversion(&made, 'i', 8, 7);
	add_conversion(&made, 'u', 4, (uint64_t)-1);
	add_conversion(&made, 'x', 4, 255);
	add_conversion(&made, 'X', 4, 255);
	add_conversion(&made, 'o', 4, 8);
	add_conversion(&made, 'c', 4, 'a');
	add_conversion(&made, 'p', 8, 0x7ffe);
	add_conversion(&made, 's', 8, 0);
	by_conversion(add_string(&made, 0, "str", 0), 's');
	by_conversion(add_double(&made, 0, 1.5), 'f');
	add_conversion(&made, 'b', 4, 5);
	add_conversion(&made, '*', 4, 12);
	end_format(&made, 0);
	add_word(&made, 1, 4, 99);
	assert_string_equal(
		arguments(&out, &printf_prototype, &made.record, 0, 2),
		"\"%d\\342\\200\\246\", 99, -5, 7, 4294967295, 0xff, 0xff, 010, 'a', 0x7ffe, "
		"nil, \"str\", 1.500000, 0b101, 12");
	outbuf_deinit(&out);
}

static void test_format_without_end(void **state)
{
	struct made made = make_record(RECORD_CALL, 1, 0, 1);
	struct outbuf out;

	(void)state;
	outbuf_init(&out, -1);
	add_string(&made, 0, "%d", 0);
	add_conversion(&made, 'd', 4, 5);
	assert_string_equal(arguments(&out, &printf_prototype, &made.record, 0, 2),
			    "\"%d\", ?, 5, ?");
	add_word(&made, 1, 4, 99);
	assert_string_equal(arguments(&out, &printf_prototype, &made.record, 0, 2),
			    "\"%d\", 99, 5, ?");
	outbuf_deinit(&out);
}

static void assert_result(const struct type *type, const struct record *record,
			  const char *expected)
{
	struct prototype prototype = {.name = "f", .result = type};
	struct value_cursor cursor = value_cursor_start(record);
	struct outbuf out;

	outbuf_init(&out, -1);
	render_result(&out, &prototype, &cursor, &shown);
	assert_string_equal(taken(&out), expected);
	outbuf_deinit(&out);
}

static void test_result(void **state)
{
	struct made made = make_record(RECORD_RETURN, 1, 0, 1);

	(void)state;
	assert_result(&type_void, &made.record, "<void>");
	assert_result(&type_int, &made.record, "?");
	add_word(&made, VALUE_RESULT, 4, (uint64_t)-1);
	assert_result(&type_int, &made.record, "-1");
	assert_result(&type_void, &made.record, "<void>");
}

/* Counts and lengths that do not fit the record: nothing behind its end is accessed. */
static void test_lies(void **state)
{
	static const struct parameter parameters[] = {{.type = &type_string}};
	static const struct prototype prototype = {
		.name = "f", .result = &type_void, .parameters = parameters, .parameter_count = 1};
	struct made made = make_record(RECORD_CALL, 1, 0, 1);
	struct outbuf out;

	(void)state;
	outbuf_init(&out, -1);
	struct record_value *value = add_string(&made, 0, "abcdefgh", 0);

	/* In memory of exactly its size, so that sanitizers see an access behind it. */
	for (unsigned i = 0; i < 5; i++) {
		static const uint32_t lengths[] = {9, 16, UINT32_MAX - 7, UINT32_MAX - 3,
						   UINT32_MAX};

		value->length = lengths[i];
		struct record *copy = malloc(made.record.size);

		assert_non_null(copy);
		memcpy(copy, &made, made.record.size);
		assert_string_equal(arguments(&out, &prototype, copy, 0, 1), "?");
		free(copy);
	}
	value->length = 5; /* and 3 bytes of padding: valid */
	assert_string_equal(arguments(&out, &prototype, &made.record, 0, 1), "\"abcde\"");
	made.record.value_count = UINT16_MAX;
	struct value_cursor cursor = value_cursor_start(&made.record);

	assert_non_null(value_cursor_next(&cursor));
	assert_null(value_cursor_next(&cursor));
	assert_null(value_cursor_next(&cursor));
	made.record.size = 8; /* less than its own header */
	assert_string_equal(arguments(&out, &prototype, &made.record, 0, 1), "?");
	value->kind = 77;
	made.record.size = 96;
	assert_string_equal(arguments(&out, &prototype, &made.record, 0, 1), "?");
	outbuf_deinit(&out);
}

/* A last value whose padding is missing is still complete. */
static void test_missing_padding(void **state)
{
	struct made made = make_record(RECORD_CALL, 1, 0, 1);

	(void)state;
	add_string(&made, 0, "abc", 0);
	made.record.size -= 5;
	made.record.value_count = 2;
	struct value_cursor cursor = value_cursor_start(&made.record);

	assert_non_null(value_cursor_next(&cursor));
	assert_null(value_cursor_next(&cursor));
}

static void test_signals(void **state)
{
	struct outbuf out;

	(void)state;
	outbuf_init(&out, -1);
	signame_put(&out, SIGCHLD);
	assert_string_equal(taken(&out), "SIGCHLD");
	signame_put_meaning(&out, SIGCHLD);
	assert_string_equal(taken(&out), "Child exited");
	for (int i = 1; i < 32; i++) {
		signame_put_meaning(&out, i);
		assert_string_equal(taken(&out), strsignal(i));
	}
	signame_put(&out, 32);
	assert_string_equal(taken(&out), "SIGRTMIN");
	signame_put(&out, SIGRTMIN);
	assert_string_equal(taken(&out), "SIGRT_2");
	signame_put_meaning(&out, SIGRTMIN);
	assert_string_equal(taken(&out), "Real-time signal 2");
	signame_put(&out, SIGRTMAX);
	assert_string_equal(taken(&out), "SIGRT_32");
	signame_put(&out, SIGRTMAX + 1);
	assert_string_equal(taken(&out), "SIG65");
	signame_put(&out, -1);
	assert_string_equal(taken(&out), "SIG-1");
	signame_put(&out, INT64_MAX);
	assert_string_equal(taken(&out), "SIG9223372036854775807");
	signame_put_meaning(&out, 0);
	assert_string_equal(taken(&out), "Unknown signal 0");
	outbuf_deinit(&out);
}

/* Columns are counted across a flush in the middle of a line. */
static void test_columns(void **state)
{
	int fd = open("/dev/null", O_WRONLY);
	struct outbuf out;

	(void)state;
	outbuf_init(&out, fd);
	outbuf_text(&out, "first\nsecond");
	outbuf_newline(&out);
	assert_int_equal(outbuf_column(&out), 0);
	outbuf_text(&out, "abc");
	assert_int_equal(outbuf_flush(&out), 0);
	assert_int_equal(outbuf_column(&out), 3);
	outbuf_text(&out, "de");
	assert_int_equal(outbuf_column(&out), 5);
	outbuf_pad_to(&out, 4);
	assert_int_equal(outbuf_column(&out), 5);
	outbuf_pad_to(&out, 9);
	assert_string_equal(taken(&out), "de    ");
	outbuf_deinit(&out);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_bitset),
		cmocka_unit_test(test_enum_flags),
		cmocka_unit_test(test_statuses),
		cmocka_unit_test(test_full_bitset),
		cmocka_unit_test(test_function_pointers),
		cmocka_unit_test(test_characters),
		cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_digits),
		cmocka_unit_test(test_floats),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_nothing_raw),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_format_without_end),
		cmocka_unit_test(test_result),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_missing_padding),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
