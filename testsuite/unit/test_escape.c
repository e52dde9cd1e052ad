/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text in UTF-8: which characters are shown, which are escaped, how many columns they take, and
 * where text is cut.
 */
#include "sink/render/escape.h"
#include "sink/render/printable.h"
#include "sink/render/render_number.h"
#include "sink/render/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Returns the content of `out` as a string, and empties it. */
static const char *taken(struct outbuf *out)
{
	outbuf_char(out, '\0');
	out->length = 0;
	out->line_start = 0;
	return out->text;
}

struct text_case {
	const char *bytes, *shown;
	size_t columns; /* of the text shown */
};

static void assert_shown(const struct text_case *cases, size_t count)
{
	struct outbuf out;

	outbuf_init(&out, -1);
	for (size_t i = 0; i < count; i++) {
		escape_bytes(&out, cases[i].bytes, strlen(cases[i].bytes), true);
		size_t columns = outbuf_column(&out);

		assert_string_equal(taken(&out), cases[i].shown);
		assert_int_equal(columns, cases[i].columns);
	}
	outbuf_deinit(&out);
}

#define SHOWN(...)                                                                                 \
	assert_shown((const struct text_case[]){__VA_ARGS__},                                      \
		     sizeof((const struct text_case[]){__VA_ARGS__}) / sizeof(struct text_case))

static void test_printable(void **state)
{
	(void)state;
	SHOWN({"", "", 0}, {"plain \"text\" \\ \n", "plain \\\"text\\\" \\\\ \\n", 20},
	      {"für 5 €", "für 5 €", 7}, {"Привет", "Привет", 6}, {"ķīļš", "ķīļš", 4},
	      {"大阪", "大阪", 4}, {"ﾗｰﾒﾝ", "ﾗｰﾒﾝ", 4}, {"한국", "한국", 4}, {"שלום", "שלום", 4},
	      {"a\u00a0b\u3000c", "a\u00a0b\u3000c", 6}, {"🎉", "🎉", 2},
	      {"\ufffd \U0001d11e", "\ufffd \U0001d11e", 3},
	      {"Грош\n\"цена\"", "Грош\\n\\\"цена\\\"", 14});
}

/* Bytes that are no UTF-8, alone and inside of valid text. */
static void test_invalid(void **state)
{
	(void)state;
	SHOWN({"\x80", "\\200", 4}, {"\xff\xfe", "\\377\\376", 8}, {"f\xfcr", "f\\374r", 6},
	      /* Overlong forms of /, NUL, ESC and U+007F. */
	      {"\xc0\xaf", "\\300\\257", 8}, {"\xc1\xbf", "\\301\\277", 8},
	      {"\xe0\x80\x9b", "\\340\\200\\233", 12}, {"\xe0\x9f\xbf", "\\340\\237\\277", 12},
	      {"\xf0\x80\x80\x80", "\\360\\200\\200\\200", 16},
	      {"\xf0\x8f\xbf\xbf", "\\360\\217\\277\\277", 16},
	      /* Surrogates, code points beyond the end, forms that are not valid any more. */
	      {"\xed\xa0\x80", "\\355\\240\\200", 12}, {"\xed\xbf\xbf", "\\355\\277\\277", 12},
	      {"\xf4\x90\x80\x80", "\\364\\220\\200\\200", 16}, {"\xf5\x80", "\\365\\200", 8},
	      {"\xf8\x88\x80\x80\x80", "\\370\\210\\200\\200\\200", 20},
	      /* Another byte where a continuation byte should be. */
	      {"\xc3(", "\\303(", 5}, {"\xe2\x82(", "\\342\\202(", 9},
	      {"\xd0\xd0\x96", "\\320Ж", 5}, {"\xf0\x9f\x8e\xc3\xa4", "\\360\\237\\216ä", 13},
	      {"ä\xa4", "ä\\244", 5},
	      /* The end of a complete string. */
	      {"a\xc3", "a\\303", 5}, {"a\xe5\xa4", "a\\345\\244", 9},
	      {"a\xf0\x9f\x8e", "a\\360\\237\\216", 13});
}

/* Valid UTF-8 of characters that control a terminal or are invisible. */
static void test_hidden(void **state)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x80, 0x9f},	     /* controls */
		{0xad, 0xad},	     /* the soft hyphen */
		{0x34f, 0x34f},	     /* the grapheme joiner */
		{0x61c, 0x61c},	     /* marks of direction */
		{0x115f, 0x1160},    /* fillers of Hangul */
		{0x17b4, 0x17b5},    /* vowels of Khmer that are not written */
		{0x180b, 0x180f},    /* Mongolian selectors */
		{0x200b, 0x200f},    /* zero width, joiners, marks of direction */
		{0x2028, 0x202e},    /* separators, embeddings, overrides */
		{0x2060, 0x206f},    /* word joiner, isolates */
		{0x3164, 0x3164},    /* a filler of Hangul */
		{0xd800, 0xdfff},    /* surrogates, which are not valid in UTF-8 */
		{0xe000, 0xf8ff},    /* private use */
		{0xfdd0, 0xfdef},    /* no characters */
		{0xfe00, 0xfe0f},    /* selectors */
		{0xfeff, 0xfeff},    /* the byte order mark */
		{0xffa0, 0xffa0},    /* a filler of Hangul */
		{0xfff0, 0xfffb},    /* interlinear annotation */
		{0xfffe, 0xffff},    /* no characters */
		{0x1bca0, 0x1bca3},  /* format of shorthand */
		{0x1d173, 0x1d17a},  /* format of music */
		{0x1fffe, 0x1ffff},  /* no characters */
		{0xe0000, 0xe0fff},  /* tags, selectors */
		{0xf0000, 0x10ffff}, /* private use, no characters */
		{0x378, 0x379},	     /* unassigned, and so on */
		{0x2fe0, 0x2fef},    {0x323b0, 0xdffff}, {0x110000, 0x110100},
	};
	struct printable_range range = {0};

	(void)state;
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		for (uint32_t c = ranges[i].first; c <= ranges[i].last; c++)
			assert_int_equal(printable_class(c, &range), PRINTABLE_NOT);
	for (uint32_t c = 0x20; c < 0x7f; c++)
		assert_int_equal(printable_class(c, &range), PRINTABLE_NARROW);
	assert_int_equal(printable_class(UINT32_MAX, &range), PRINTABLE_NOT);
	SHOWN({"a\u202eb", "a\\342\\200\\256b", 14},
	      {"\u2066x\u2069", "\\342\\201\\246x\\342\\201\\251", 25},
	      {"\ufefftext", "\\357\\273\\277text", 16}, {"\xef\xbf\xbe", "\\357\\277\\276", 12},
	      {"z\u200dj\u200c", "z\\342\\200\\215j\\342\\200\\214", 26},
	      {"\xc2\x9b", "\\302\\233", 8}, {"one\u2028two", "one\\342\\200\\250two", 18},
	      {"hy\u00adphen", "hy\\302\\255phen", 14},
	      /* An emoji family becomes its members, a flag without its tags is a plain flag. */
	      {"👩\u200d👧", "👩\\342\\200\\215👧", 16}, {"❤\ufe0f", "❤\\357\\270\\217", 13});
}

/*
 * Combining marks are shown, but not on text that the tracer has written itself, and not without
 * limit.
 */
static void test_marks(void **state)
{
	(void)state;
	SHOWN({"e\u0301a\u0308", "e\u0301a\u0308", 2}, {"е\u0301", "е\u0301", 1},
	      {"か\u3099", "か\u3099", 2}, {"ที่", "ที่", 1}, {"각", "각", 2},
	      {"\u0301e", "\\314\\201e", 9}, {"\n\u0301", "\\n\\314\\201", 10},
	      {"\"\u0301", "\\\"\\314\\201", 10}, {"\\\u0301", "\\\\\\314\\201", 10},
	      {"\u202e\u0301", "\\342\\200\\256\\314\\201", 20},
	      {"\xff\u0301", "\\377\\314\\201", 12},
	      {"e\u0301\u0302\u0303\u0304", "e\u0301\u0302\u0303\u0304", 1},
	      {"e\u0301\u0302\u0303\u0304\u0305\u0306x\u0307",
	       "e\u0301\u0302\u0303\u0304\\314\\205\\314\\206x\u0307", 18},
	      {"1\ufe0f\u20e3", "1\\357\\270\\217\\342\\203\\243", 25});
}

/* If a string that continues is cut, an incomplete character at the cut is dropped. */
static void test_cut(void **state)
{
	static const struct {
		const char *bytes;
		size_t unfinished;
	} cases[] = {
		{"", 0},
		{"a", 0},
		{"ä", 0},
		{"大", 0},
		{"🎉", 0},
		{"a\xc3", 1},
		{"\xe5\xa4", 2},
		{"a\xe5", 1},
		{"\xf0\x9f\x8e", 3},
		{"\xf0\x9f", 2},
		{"\xf0", 1},
		{"\xf4\x8f\xbf", 3},
		/* A byte that could not begin a character stays. */
		{"\xa4", 0},
		{"\x80\x80\x80", 0},
		{"\xc0", 0},
		{"\xe0\x80", 0},
		{"\xed\xa0", 0},
		{"\xf4\x90", 0},
		{"\xf5", 0},
		{"\xf0\x9f(", 0},
		{"\xc3\xa4\xa4", 0},
		{"\xf0\x9f\x8e\x89\x89", 0},
	};
	static const uint16_t halves[] = {'a', 0xd83c, 0xdf89};
	struct outbuf out;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(escape_unfinished(cases[i].bytes, strlen(cases[i].bytes), 1),
				 cases[i].unfinished);
	assert_int_equal(escape_unfinished(halves, 0, 2), 0);
	assert_int_equal(escape_unfinished(halves, 1, 2), 0);
	assert_int_equal(escape_unfinished(halves, 2, 2), 1);
	assert_int_equal(escape_unfinished(halves, 3, 2), 0);
	assert_int_equal(escape_unfinished((const uint32_t[]){0xd83c}, 1, 4), 0);
	outbuf_init(&out, -1);
	render_text(&out, (const unsigned char *)"ab大", 4, 1, true, true);
	assert_string_equal(taken(&out), "\"ab\"...");
	render_text(&out, (const unsigned char *)"ab大", 4, 1, false, true);
	assert_string_equal(taken(&out), "\"ab\\345\\244\"");
	render_text(&out, (const unsigned char *)"ab大", 4, 1, true, false);
	assert_string_equal(taken(&out), "\"ab\\345\\244\"...");
	render_text(&out, (const unsigned char *)halves, 2, 2, true, true);
	assert_string_equal(taken(&out), "L\"a\"...");
	render_text(&out, (const unsigned char *)halves, 2, 2, false, true);
	assert_string_equal(taken(&out), "L\"a\\ud83c\"");
	outbuf_deinit(&out);
}

static void test_wide(void **state)
{
	static const uint32_t words[] = {0x447, 0x442, 0x43e, '-', '"', 0x5927, 0x1f389, '\n'};
	static const uint32_t bad[] = {0x9b,  0x202e,	0xd800,	    'x',    0x301,  '\\',
				       0x301, 0x110000, UINT32_MAX, 0xfffe, 0xe0100};
	static const uint16_t halves[] = {0x448,  0xd83c, 0xdf89, 0xd83c, 'x',
					  0xdf89, 0xdbff, 0xdfff, 0xfeff};
	struct outbuf out;

	(void)state;
	outbuf_init(&out, -1);
	escape_wide(&out, words, 8, 4, true);
	assert_int_equal(outbuf_column(&out), 12);
	assert_string_equal(taken(&out), "что-\\\"大🎉\\n");
	escape_wide(&out, words, 8, 4, false);
	assert_int_equal(outbuf_column(&out), 39);
	assert_string_equal(taken(&out), "\\u0447\\u0442\\u043e-\\\"\\u5927\\U0001f389\\n");
	escape_wide(&out, bad, 11, 4, true);
	assert_string_equal(taken(&out), "\\u009b\\u202e\\ud800x\u0301\\\\\\u0301\\U00110000"
					 "\\Uffffffff\\ufffe\\U000e0100");
	escape_wide(&out, halves, 9, 2, true);
	assert_int_equal(outbuf_column(&out), 34);
	assert_string_equal(taken(&out), "ш🎉\\ud83cx\\udf89\\udbff\\udfff\\ufeff");
	escape_wide(&out, halves, 3, 2, false);
	assert_string_equal(taken(&out), "\\u0448\\ud83c\\udf89");
	outbuf_deinit(&out);
}

static void test_wide_characters(void **state)
{
	static const struct {
		uint32_t c;
		const char *shown, *escaped;
	} cases[] = {
		{0, "'\\0'", "'\\0'"},
		{'\'', "'\\''", "'\\''"},
		{'"', "'\"'", "'\"'"},
		{0x1b, "'\\033'", "'\\033'"},
		{0x9b, "'\\u009b'", "'\\u009b'"},
		{0xe9, "'é'", "'\\u00e9'"},
		{0x424, "'Ф'", "'\\u0424'"},
		{0x301, "'\\u0301'", "'\\u0301'"},
		{0x202e, "'\\u202e'", "'\\u202e'"},
		{0x1f389, "'🎉'", "'\\U0001f389'"},
		{0x1fffe, "'\\U0001fffe'", "'\\U0001fffe'"},
	};
	struct outbuf out;

	(void)state;
	outbuf_init(&out, -1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		escape_wide_char(&out, cases[i].c, true);
		assert_string_equal(taken(&out), cases[i].shown);
		escape_wide_char(&out, cases[i].c, false);
		assert_int_equal(outbuf_column(&out), strlen(cases[i].escaped));
		assert_string_equal(taken(&out), cases[i].escaped);
	}
	outbuf_deinit(&out);
}

/* Each character is decoded as it was encoded; no other bytes are accepted. */
static void test_codec(void **state)
{
	(void)state;
	for (uint32_t c = 1; c <= 0x10ffff; c++) {
		unsigned char bytes[UTF8_MAX];
		size_t length = (size_t)(utf8_encode((char *)bytes, c) - (char *)bytes);
		size_t expected = c >> 11 == 0x1b ? 0 : length;
		uint32_t back = c;

		if (utf8_decode(bytes, length, &back) != expected || back != c)
			fail_msg("U+%04x", c);
		if (length > 1 && utf8_decode(bytes, length - 1, &back))
			fail_msg("U+%04x without its end", c);
	}
}

/*
 * Asserts that a terminal gets harmless text for any bytes: UTF-8, printable, with few marks, and
 * none on escaped bytes.
 */
static void assert_harmless(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	struct printable_range range = {0};
	unsigned marks = 0;
	uint32_t c, before = '\\';

	for (size_t size, left = strlen(text); left; at += size, left -= size) {
		size = utf8_decode(at, left, &c);
		assert_true(size);
		enum printable class = printable_class(c, &range);

		assert_int_not_equal(class, PRINTABLE_NOT);
		marks = class == PRINTABLE_MARK ? marks + 1 : 0;
		assert_in_range(marks, 0, 4);
		assert_false(marks == 1 && (before == '\\' || before == '"'));
		before = c;
	}
}

static void test_any_bytes(void **state)
{
	/* Bytes that make characters and marks more often than random bytes do. */
	static const unsigned char likely[] =
		"\xcc\x81\xe2\x80\xae\xd0\x96\xf0\x9f\x8e\x89\xef\xbb\xbf\"\\a\x1b";
	unsigned short dice[3] = {1, 2, 3};
	struct outbuf out;

	(void)state;
	outbuf_init(&out, -1);
	for (unsigned round = 0; round < 20000; round++) {
		unsigned char bytes[40];

		for (size_t i = 0; i < sizeof bytes; i++) {
			long number = nrand48(dice);

			bytes[i] = number & 1 ? (unsigned char)(number >> 8)
					      : likely[(number >> 8) % (long)(sizeof likely - 1)];
		}
		escape_bytes(&out, bytes, sizeof bytes, true);
		assert_harmless(taken(&out));
		escape_wide(&out, bytes, sizeof bytes / 2, 2, true);
		assert_harmless(taken(&out));
	}
	outbuf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_printable),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_wide_characters),
		cmocka_unit_test(test_codec),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
