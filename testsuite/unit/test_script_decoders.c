/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings and line tables of virtual machines, from bytes that are written down here. */
#include "unwind/script/application.h"
#include "unwind/script/page_cache.h"
#include "unwind/script/perl_lines.h"
#include "unwind/script/python_lines.h"
#include "unwind/script/ruby_lines.h"
#include "unwind/script/script_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BASE = 0x10000, BYTES = 16384, TABLE = BASE + 0x100 };

static uint8_t bytes[BYTES];
static unsigned reads;

static void read_bytes(void *context, struct memory_range *ranges, size_t count)
{
	(void)context;
	reads++;
	for (size_t i = 0; i < count; i++) {
		const uint64_t at = ranges[i].address - BASE;
		const size_t left = ranges[i].address >= BASE && at < BYTES ? BYTES - at : 0;

		ranges[i].done = ranges[i].length < left ? ranges[i].length : left;
		if (ranges[i].done)
			memcpy(ranges[i].buffer, bytes + at, ranges[i].done);
	}
}

static const struct memory_source memory = {.readv = read_bytes};

static void put(uint64_t address, uint64_t word, size_t size)
{
	memcpy(bytes + (address - BASE), &word, size);
}

static void put_bytes(uint64_t address, const void *from, size_t size)
{
	memcpy(bytes + (address - BASE), from, size);
}

static int clear(void **state)
{
	(void)state;
	memset(bytes, 0, sizeof bytes);
	return 0;
}

#define TEXT(decoder, expected, ...)                                                               \
	do {                                                                                       \
		const uint64_t arguments[] = {__VA_ARGS__};                                        \
		struct strbuf out = {0};                                                           \
		const char *wanted = expected;                                                     \
		assert_int_equal(decoder(&memory, arguments, &out), wanted != NULL);               \
		if (wanted)                                                                        \
			assert_string_equal(out.text, wanted);                                     \
		strbuf_deinit(&out);                                                               \
	} while (0)

#define LINE(decoder, expected, ...)                                                               \
	do {                                                                                       \
		const uint64_t arguments[] = {__VA_ARGS__};                                        \
		assert_int_equal(decoder(&memory, arguments), expected);                           \
	} while (0)

static void test_text(void **state)
{
	(void)state;
	put_bytes(BASE, "name\0more", 9);
	TEXT(script_text_c, "name", BASE);
	TEXT(script_text_c, "more", BASE + 5);
	TEXT(script_text_c, NULL, BASE + 4);
	TEXT(script_text_c, NULL, 0);
	TEXT(script_text_c, NULL, BASE - 100);
	TEXT(script_text_bytes, "nam", BASE, 3);
	TEXT(script_text_bytes, "name", BASE, 9);
	TEXT(script_text_bytes, NULL, BASE, 0);
	TEXT(script_text_bytes, NULL, BASE + BYTES - 2, 4);
	TEXT(script_text_bytes, NULL, 0, 4);
}

/* Too long a text is cut. */
static void test_long_text(void **state)
{
	const uint64_t arguments[] = {BASE, UINT64_MAX};
	struct strbuf out = {0};

	(void)state;
	memset(bytes, 'x', sizeof bytes);
	assert_true(script_text_bytes(&memory, arguments, &out));
	assert_int_equal(out.length, SCRIPT_TEXT_MAX);
	strbuf_clear(&out);
	assert_true(script_text_c(&memory, arguments, &out));
	assert_int_equal(out.length, SCRIPT_TEXT_MAX);
	strbuf_deinit(&out);
}

static void test_python_text(void **state)
{
	enum { ASCII = 1 | 8 | 16, LATIN = 1 | 8, WIDE = 2 | 8, WIDEST = 4 | 8 };
	static const uint16_t wide[] = {'a', 0xe9, 0x20ac, 0xd800};
	static const uint32_t widest[] = {0x1d11e, 'b', 0x110000};

	(void)state;
	put_bytes(BASE, "module.py", 9);
	TEXT(script_text_python, "module.py", 9, ASCII, BASE, BASE + 0x10);
	TEXT(script_text_python, "mod", 3, ASCII, BASE, BASE + 0x10);
	put_bytes(BASE + 0x10, "\xe9t\xe9", 3);
	TEXT(script_text_python, "été", 3, LATIN, BASE, BASE + 0x10);
	put_bytes(BASE + 0x10, wide, sizeof wide);
	TEXT(script_text_python, "aé€?", 4, WIDE, BASE, BASE + 0x10);
	put_bytes(BASE + 0x10, widest, sizeof widest);
	TEXT(script_text_python,
	     "\xf0\x9d\x84\x9e"
	     "b?",
	     3, WIDEST, BASE, BASE + 0x10);
	/* not compact; a width that there is none; empty; out of reach */
	TEXT(script_text_python, NULL, 9, 1 | 16, BASE, BASE);
	TEXT(script_text_python, NULL, 9, 3 | 8, BASE, BASE);
	TEXT(script_text_python, NULL, 0, ASCII, BASE, BASE);
	TEXT(script_text_python, NULL, UINT64_MAX, ASCII, BASE + BYTES - 100, BASE);
	TEXT(script_text_python, NULL, UINT64_MAX, WIDE, BASE, BASE + BYTES - 100);
}

/* Makes a bytes object at TABLE. */
static void put_table(const char *table, size_t size)
{
	put(TABLE + 0x10, size, 8);
	put_bytes(TABLE + 0x20, table, size);
}

static void test_lnotab(void **state)
{
	(void)state;
	/* Lines 10 (bytes 0 to 5), 11 (6 to 7), 9 (from 8). */
	put_table("\x06\x01\x02\xfe", 4);
	LINE(python_line_lnotab, 10, TABLE, 0, 10);
	LINE(python_line_lnotab, 10, TABLE, 5, 10);
	LINE(python_line_lnotab, 11, TABLE, 6, 10);
	LINE(python_line_lnotab, 9, TABLE, 8, 10);
	LINE(python_line_lnotab, 9, TABLE, 1000, 10);
	LINE(python_line_lnotab, 10, TABLE, (uint64_t)-1, 10);
	LINE(python_line_lnotab, 0, 0, 0, 10);
}

static void test_linetable(void **state)
{
	(void)state;
	/* Lines 10 (bytes 0 to 3), none (4 to 5), 12 (6 to 9). */
	put_table("\x04\x00\x02\x80\x04\x02", 6);
	LINE(python_line_linetable, 10, TABLE, 0, 10);
	LINE(python_line_linetable, 0, TABLE, 4, 10);
	LINE(python_line_linetable, 12, TABLE, 6, 10);
	LINE(python_line_linetable, 0, TABLE, 10, 10);
	LINE(python_line_linetable, 10, TABLE, (uint64_t)-2, 10);
}

static void test_locations(void **state)
{
	(void)state;
	/*
	 * Units 0-1: short form, line 10; 2: one line, +1; 3: no columns, -3 (svarint 7);
	 * 4: long, +100 (svarint 200: 0x48, 3), its end 0, columns 1, 1; 5-12: none.
	 */
	put_table("\x81\x00\xd8\x01\x02\xe8\x07\xf0\x48\x03\x00\x01\x01\xff", 14);
	LINE(python_line_locations, 10, TABLE, 0, 10);
	LINE(python_line_locations, 10, TABLE, 1, 10);
	LINE(python_line_locations, 11, TABLE, 2, 10);
	LINE(python_line_locations, 8, TABLE, 3, 10);
	LINE(python_line_locations, 108, TABLE, 4, 10);
	LINE(python_line_locations, 0, TABLE, 5, 10);
	LINE(python_line_locations, 0, TABLE, 13, 10);
	LINE(python_line_locations, 10, TABLE, (uint64_t)-1, 10);
	/* A number that does not end; an entry that does not begin with bit 7. */
	put_table("\xe8\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", 9);
	LINE(python_line_locations, 0, TABLE, 0, 10);
	put_table("\x01\x00", 2);
	LINE(python_line_locations, 0, TABLE, 0, 10);
}

/* A table that says that it is larger than memory, or than any table. */
static void test_endless_table(void **state)
{
	(void)state;
	put(TABLE + 0x10, UINT64_MAX, 8);
	LINE(python_line_lnotab, 1, TABLE, 0, 1);
	LINE(python_line_linetable, 0, TABLE, 1 << 30, 1);
	LINE(python_line_locations, 0, TABLE, 0, 1);
}

static void test_ruby(void **state)
{
	enum { ENTRIES = BASE + 0x1000, RANKS = BASE + 0x2000, BLOCK = RANKS + 6 * 8 };

	(void)state;
	/* Entries at positions 0, 3, 60, 54 + 64 and 54 + 512. */
	for (uint64_t i = 0; i < 5; i++)
		put(ENTRIES + i * 12, 100 + i, 4);
	for (unsigned position = 0; position < 54; position++) {
		uint64_t word;

		memcpy(&word, bytes + (RANKS - BASE) + position / 9 * 8, 8);
		word |= (uint64_t)(position < 3 ? 1 : 2) << position % 9 * 7;
		put(RANKS + position / 9 * 8, word, 8);
	}
	put(BLOCK, 2, 4); /* rank of the block */
	put(BLOCK + 8,
	    1 | 2ULL << 9 | 2ULL << 18 | 2ULL << 27 | 2ULL << 36 | 2ULL << 45 | 2ULL << 54, 8);
	put(BLOCK + 16, 1ULL << (60 - 54), 8);
	put(BLOCK + 24, 1, 8);
	put(BLOCK + 80, 4, 4);
	put(BLOCK + 80 + 16, 1, 8);
	LINE(ruby_line, 100, 0, 5, ENTRIES, RANKS, 12, 0);
	LINE(ruby_line, 100, 2, 5, ENTRIES, RANKS, 12, 0);
	LINE(ruby_line, 101, 3, 5, ENTRIES, RANKS, 12, 0);
	LINE(ruby_line, 101, 53, 5, ENTRIES, RANKS, 12, 0);
	LINE(ruby_line, 101, 59, 5, ENTRIES, RANKS, 12, 0);
	LINE(ruby_line, 102, 60, 5, ENTRIES, RANKS, 12, 0);
	LINE(ruby_line, 102, 117, 5, ENTRIES, RANKS, 12, 0);
	LINE(ruby_line, 103, 118, 5, ENTRIES, RANKS, 12, 0);
	LINE(ruby_line, 103, 54 + 511, 5, ENTRIES, RANKS, 12, 0);
	LINE(ruby_line, 104, 54 + 512, 5, ENTRIES, RANKS, 12, 0);
	/* One entry has no ranks; none has no line; a rank of no entry; a position of no method. */
	LINE(ruby_line, 100, 7, 1, ENTRIES, 0, 12, 0);
	LINE(ruby_line, 0, 7, 0, ENTRIES, RANKS, 12, 0);
	LINE(ruby_line, 0, 54 + 512, 4, ENTRIES, RANKS, 12, 0);
	LINE(ruby_line, 0, UINT64_MAX, 5, ENTRIES, RANKS, 12, 0);
}

enum { NEXTSTATE = 195, SCOPE = 200, COP_LINE = 0x24, OP_SIZE = 64 };

static uint64_t op_at(unsigned number)
{
	return BASE + number * (uint64_t)OP_SIZE;
}

/* Makes an op; sibling and kid are numbers of ops, 0 for none. */
static void put_op(unsigned number, unsigned type, unsigned sibling, unsigned kid, unsigned line)
{
	const uint64_t at = op_at(number);

	put(at + 8, sibling ? op_at(sibling) : 0, 8);
	put(at + 32, type | (sibling ? 1 << 14 : 0), 2);
	put(at + 34, kid ? 4 : 0, 1);
	put(at + COP_LINE, line, 4);
	put(at + 40, kid ? op_at(kid) : 0, 8);
}

#define PERL_LINE(expected, cop, op)                                                               \
	LINE(perl_line, expected, op_at(cop), op, COP_LINE, NEXTSTATE, SCOPE)

/*
 * A statement (1, line 5), behind it a block (2) of a nulled statement (3, line 6) and an op (4) with
 * a kid (5), another nulled one (6, line 8), an op (7).
 */
static void test_perl(void **state)
{
	(void)state;
	put_op(1, NEXTSTATE, 2, 0, 5);
	put_op(2, 100, 0, 3, 0);
	put_op(3, 0, 4, 0, 6);
	put(op_at(3) + 24, NEXTSTATE, 8);
	put_op(4, 101, 6, 5, 0);
	put_op(5, 102, 0, 0, 0);
	put_op(6, 0, 7, 0, 8);
	put(op_at(6) + 24, NEXTSTATE, 8);
	put_op(7, 103, 0, 0, 0);
	PERL_LINE(5, 1, op_at(2));
	PERL_LINE(6, 1, op_at(4));
	PERL_LINE(6, 1, op_at(5));
	PERL_LINE(8, 1, op_at(7));
	/* An op that is elsewhere; none; the op that returns to 9. */
	PERL_LINE(5, 1, op_at(20));
	PERL_LINE(5, 1, 0);
	PERL_LINE(5, 1, 1);
	put(op_at(5), op_at(9), 8);
	PERL_LINE(6, 1, op_at(9) | 1);
	put(op_at(7), op_at(10), 8);
	PERL_LINE(8, 1, op_at(10) | 1);
	put_op(7, SCOPE, 0, 0, 0);
	PERL_LINE(5, 1, op_at(10) | 1);
	assert_int_equal(op_at(0), BASE);
	LINE(perl_line, 0, 0, op_at(4), COP_LINE, NEXTSTATE, SCOPE);
}

/* Trees that lead back to themselves end. */
static void test_perl_loops(void **state)
{
	(void)state;
	put_op(1, NEXTSTATE, 2, 0, 5);
	put_op(2, 100, 2, 2, 0);
	PERL_LINE(5, 1, op_at(20));
	put_op(2, 100, 0, 3, 0);
	put_op(3, 100, 3, 0, 0);
	PERL_LINE(5, 1, op_at(20));
	put_op(3, 100, 2, 2, 0);
	PERL_LINE(5, 1, op_at(20));
}

static void test_page_cache(void **state)
{
	struct page_cache *cache = malloc(sizeof *cache);
	uint64_t word;
	char text[8];

	(void)state;
	assert_non_null(cache);
	page_cache_init(cache, &memory);
	put(BASE + 4092, 0x1122334455667788, 8);
	reads = 0;
	for (int i = 0; i < 3; i++) {
		assert_true(page_cache_read(cache, BASE + 4092, &word, 8));
		assert_true(word == 0x1122334455667788);
	}
	assert_int_equal(reads, 2);
	/* What it has read stays, until it is cleared. */
	put(BASE + 4092, 1, 8);
	assert_true(page_cache_read(cache, BASE + 4092, &word, 8));
	assert_true(word == 0x1122334455667788);
	page_cache_clear(cache);
	assert_true(page_cache_read(cache, BASE + 4092, &word, 8));
	assert_true(word == 1);
	assert_false(page_cache_read(cache, BASE + BYTES - 4, &word, 8));
	assert_false(page_cache_read(cache, UINT64_MAX - 3, &word, 8));
	put_bytes(BASE + BYTES - 4, "end", 4);
	page_cache_clear(cache);
	assert_int_equal(memory_read_string(&cache->source, BASE + BYTES - 4, text, 8), 3);
	free(cache);
}

static void test_application(void **state)
{
	static const struct {
		const char *language, *file;
		bool is_application;
	} files[] = {
		{"Python", "/srv/app/orders.py", true},
		{"Python", "orders.py", true},
		{"Python", "<stdin>", true},
		{"Python", "/usr/lib/python3/dist-packages/MySQLdb/connections.py", false},
		{"Python", "/usr/lib/python3.11/threading.py", false},
		{"Python", "/srv/venv/lib/python3.12/site-packages/django/db.py", false},
		{"Python", "<frozen importlib._bootstrap>", false},
		{"Ruby", "/srv/app/models/order.rb", true},
		{"Ruby", "/var/lib/gems/3.1.0/gems/mysql2-0.5/lib/mysql2/client.rb", false},
		{"Ruby", "/usr/lib/ruby/vendor_ruby/mysql2/client.rb", false},
		{"Ruby", "/usr/lib/ruby/3.1.0/set.rb", false},
		{"Ruby", "<internal:kernel>", false},
		{"PHP", "/var/www/html/index.php", true},
		{"PHP", "/var/www/html/vendor/doctrine/dbal/src/Connection.php", false},
		{"PHP", "/usr/share/php/DB.php", false},
		{"Perl", "/srv/app/orders.pl", true},
		{"Perl", "/usr/share/perl5/DBIx/Simple.pm", false},
		{"Perl", "/usr/lib/x86_64-linux-gnu/perl5/5.36/DBI.pm", false},
		{"Perl", "/usr/share/perl/5.36/Carp.pm", false},
		{"Perl", "/usr/local/lib/site_perl/Thing.pm", false},
		{"Perl", NULL, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (script_is_application(files[i].language, files[i].file) !=
		    files[i].is_application)
			fail_msg("%s", files[i].file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_text, clear),
		cmocka_unit_test_setup(test_long_text, clear),
		cmocka_unit_test_setup(test_python_text, clear),
		cmocka_unit_test_setup(test_lnotab, clear),
		cmocka_unit_test_setup(test_linetable, clear),
		cmocka_unit_test_setup(test_locations, clear),
		cmocka_unit_test_setup(test_endless_table, clear),
		cmocka_unit_test_setup(test_ruby, clear),
		cmocka_unit_test_setup(test_perl, clear),
		cmocka_unit_test_setup(test_perl_loops, clear),
		cmocka_unit_test_setup(test_page_cache, clear),
		cmocka_unit_test_setup(test_application, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
