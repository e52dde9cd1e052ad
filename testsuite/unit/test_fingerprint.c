/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shapes of SQL text: the table of fingerprints.txt, and what holds for each statement of it.
 *
 * That time is linear is shown by counting the machine instructions of one call, in a child that is
 * single-stepped. A clock would show how busy the machine is.
 */
#include "probe/fingerprint.h"

#include "valgrind.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { STATEMENTS_MAX = 1024, TEXT_MAX = 2048 };

struct statement {
	enum sql_dialect dialect;
	bool cut;
	char *text;
	const char *shape;
	size_t entry; /* that it belongs to */
};

struct table {
	char *source;
	struct statement statements[STATEMENTS_MAX];
	size_t count;
	size_t entries;
};

static char *read_table(void)
{
	enum { LIMIT = 1 << 20 };
	const char *top = getenv("top_srcdir");
	char *text = calloc(1, LIMIT);
	char path[4096];
	FILE *file;

	assert_non_null(text);
	snprintf(path, sizeof path, "%s/testsuite/unit/fingerprints.txt", top ? top : ".");
	file = fopen(path, "re");
	if (!file)
		fail_msg("cannot open %s", path);
	assert_true(fread(text, 1, LIMIT - 1, file) > 0);
	assert_true(feof(file));
	fclose(file);
	return text;
}

static void add_statement(struct table *table, enum sql_dialect dialect, const char *line)
{
	assert_true(table->count < STATEMENTS_MAX);
	table->statements[table->count] = (struct statement){.dialect = dialect,
							     .cut = *line == '~',
							     .text = calloc(1, TEXT_MAX),
							     .entry = table->entries};
	assert_non_null(table->statements[table->count].text);
	assert_true(strlen(line) < TEXT_MAX);
	strcpy(table->statements[table->count++].text, line[1] ? line + 2 : "");
}

static void continue_statement(struct table *table, const char *line)
{
	char *text = table->statements[table->count - 1].text;

	assert_true(table->count && strlen(text) + strlen(line) < TEXT_MAX);
	strcat(text, "\n");
	strcat(text, line[1] ? line + 2 : "");
}

static void end_entry(struct table *table, const char *line)
{
	for (size_t i = table->count; i-- && table->statements[i].entry == table->entries;)
		table->statements[i].shape = line[1] ? line + 2 : "";
	table->entries++;
}

static int set_up(void **state)
{
	struct table *table = calloc(1, sizeof *table);
	enum sql_dialect dialect = SQL_MYSQL;

	assert_non_null(table);
	table->source = read_table();
	for (char *line = strtok(table->source, "\n"); line; line = strtok(NULL, "\n")) {
		if (*line == '[') {
			line[strlen(line) - 1] = '\0';
			assert_true(sql_dialect_find(line + 1, &dialect));
		} else if (*line == '<' || *line == '~') {
			add_statement(table, dialect, line);
		} else if (*line == '|') {
			continue_statement(table, line);
		} else if (*line == '>') {
			end_entry(table, line);
		} else {
			assert_int_equal(*line, '#');
		}
	}
	*state = table;
	return 0;
}

static int tear_down(void **state)
{
	struct table *table = *state;

	for (size_t i = 0; i < table->count; i++)
		free(table->statements[i].text);
	free(table->source);
	free(table);
	return 0;
}

/*
 * Returns the shape of a text, from storage and in storage of the sizes that are promised. The
 * caller frees it.
 */
static char *shape_of(enum sql_dialect dialect, const char *text, size_t length, bool cut)
{
	char *copy = malloc(length + !length);
	char *shape = malloc(fingerprint_room(length));
	size_t shape_length;

	assert_true(copy && shape);
	memcpy(copy, text, length);
	shape_length = fingerprint(dialect, copy, length, cut, shape);
	assert_true(shape_length < fingerprint_room(length));
	assert_int_equal(shape[shape_length], '\0');
	free(copy);
	return shape;
}

static void dialects(void **state)
{
	enum sql_dialect dialect = SQL_MYSQL;

	(void)state;
	assert_true(sql_dialect_find("postgresql", &dialect));
	assert_int_equal(dialect, SQL_POSTGRESQL);
	assert_true(sql_dialect_find("sqlite", &dialect));
	assert_int_equal(dialect, SQL_SQLITE);
	assert_false(sql_dialect_find("SQLite", &dialect));
	assert_false(sql_dialect_find("", &dialect));
	assert_int_equal(dialect, SQL_SQLITE);
	assert_true(sql_dialect_find("mysql", &dialect));
	assert_int_equal(dialect, SQL_MYSQL);
}

static void shapes(void **state)
{
	struct table *table = *state;

	assert_true(table->count >= 300);
	for (size_t i = 0; i < table->count; i++) {
		const struct statement *it = &table->statements[i];
		char *shape = shape_of(it->dialect, it->text, strlen(it->text), it->cut);

		if (!it->shape || strcmp(shape, it->shape) != 0)
			fail_msg("%s\nhas the shape\n%s\nand not\n%s", it->text, shape,
				 it->shape ? it->shape : "one of the table");
		free(shape);
	}
}

/* Statements of two entries are different ones, and have different shapes. */
static void entries_differ(void **state)
{
	struct table *table = *state;

	for (size_t i = 0; i < table->count; i++) {
		const struct statement *left = &table->statements[i];

		for (size_t k = 0; k < i; k++) {
			const struct statement *right = &table->statements[k];

			if (left->dialect == right->dialect && left->entry != right->entry &&
			    !strcmp(left->shape, right->shape))
				fail_msg("two entries with the shape %s", left->shape);
		}
	}
}

/* Counts the lists of a shape, each of which may be longer by one byte than a list of one value. */
static size_t count_lists(const char *shape)
{
	size_t count = 0;

	for (; *shape; shape++)
		count += shape[0] == '+' && shape[1] && strchr(")].", shape[1]);
	return count;
}

/* Counts the lists of one value of one byte. */
static size_t short_lists(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += text[0] == '(' && text[1] && text[2] == ')';
	return count;
}

static void not_longer(void **state)
{
	struct table *table = *state;

	for (size_t i = 0; i < table->count; i++) {
		const struct statement *it = &table->statements[i];
		size_t most = strlen(it->text) + (it->cut ? strlen("...") : 0);

		if (strlen(it->shape) > most + short_lists(it->text))
			fail_msg("%s is longer than %s", it->shape, it->text);
	}
}

static void shape_of_shape(void **state)
{
	struct table *table = *state;

	for (size_t i = 0; i < table->count; i++) {
		const struct statement *it = &table->statements[i];
		char *shape = shape_of(it->dialect, it->shape, strlen(it->shape), false);

		assert_string_equal(shape, it->shape);
		free(shape);
	}
}

/* More white space, where there is some, makes no difference. */
static void more_blanks(void **state)
{
	struct table *table = *state;

	for (size_t i = 0; i < table->count; i++) {
		const struct statement *it = &table->statements[i];
		char wide[2 * TEXT_MAX + 2] = "\t";
		char *to = wide + 1;
		char *shape;

		/* White space is part of a quoted name. */
		if (it->cut || strpbrk(it->text, "`\"[") || strstr(it->text, "@'"))
			continue;
		for (const char *from = it->text; *from; from++) {
			*to++ = *from;
			if (*from == ' ' || *from == '\n')
				*to++ = *from;
		}
		*to++ = ' ';
		shape = shape_of(it->dialect, wide, (size_t)(to - wide), false);
		assert_string_equal(shape, it->shape);
		free(shape);
	}
}

/* Cut behind each byte, a statement has a shape that is marked, and nothing else happens. */
static void cut_anywhere(void **state)
{
	struct table *table = *state;

	for (size_t i = 0; i < table->count; i++) {
		const struct statement *it = &table->statements[i];

		for (size_t length = 0; length <= strlen(it->text); length++) {
			char *shape = shape_of(it->dialect, it->text, length, true);
			size_t shape_length = strlen(shape);

			assert_true(shape_length >= 3);
			assert_string_equal(shape + shape_length - 3, "...");
			assert_true(shape_length <= length + 3 + count_lists(shape));
			free(shape);
		}
	}
}

/* A cut list and cut rows have one shape, wherever behind the first value or row the cut is. */
static void cut_lists(void **state)
{
	static const char list[] = "SELECT a FROM t WHERE b IN (1, -22, 'c', NULL";
	static const char rows[] = "INSERT INTO t VALUES (1,f(2)),(3,f(-44)), ('5', f(6)),(7,f(8))";

	(void)state;
	for (size_t length = strlen("SELECT a FROM t WHERE b IN (1,"); length <= strlen(list);
	     length++) {
		char *shape = shape_of(SQL_MYSQL, list, length, true);

		/* What begins like NULL may be a name. */
		if (list[length - 1] != 'N' && list[length - 1] != 'U' && list[length - 2] != 'U')
			assert_string_equal(shape, "SELECT a FROM t WHERE b IN(?+...");
		free(shape);
	}
	for (size_t length = strlen("INSERT INTO t VALUES (1,f(2))"); length <= strlen(rows);
	     length++) {
		char *shape = shape_of(SQL_POSTGRESQL, rows, length, true);

		assert_string_equal(shape, "INSERT INTO t VALUES(?,f(?+))...");
		free(shape);
	}
}

static void bytes(void **state)
{
	static const char text[] = "SELECT a\0b, '\0', \xff\xfe, 'c\xc3' -- \0";
	static const char shape[] = "SELECT a\0b,?,\xff\xfe,?";
	char result[sizeof text + sizeof text / 3 + 4];

	(void)state;
	for (int dialect = SQL_MYSQL; dialect <= SQL_SQLITE; dialect++) {
		size_t length = fingerprint((enum sql_dialect)dialect, text, sizeof text - 1, false,
					    result);

		assert_int_equal(length, sizeof shape - 1);
		assert_memory_equal(result, shape, sizeof shape);
	}
}

/* Parentheses in parentheses, of which there are more than are known at a time. */
static void deep(void **state)
{
	enum { DEPTH = 1000 };
	char text[2 * DEPTH + 64];
	char expected[2 * DEPTH + 64];
	char *shape;

	(void)state;
	memset(text, '(', DEPTH);
	strcpy(text + DEPTH, "(1,2),(3,4)");
	memset(text + strlen(text), ')', DEPTH);
	text[DEPTH + 11 + DEPTH] = '\0';
	memset(expected, '(', DEPTH);
	strcpy(expected + DEPTH, "(?+)");
	memset(expected + DEPTH + 4, ')', DEPTH);
	expected[DEPTH + 4 + DEPTH] = '\0';
	shape = shape_of(SQL_SQLITE, text, strlen(text), false);
	assert_string_equal(shape, expected);
	free(shape);

	memset(text, ')', DEPTH);
	text[DEPTH] = '\0';
	shape = shape_of(SQL_MYSQL, text, DEPTH, true);
	assert_int_equal(strlen(shape), DEPTH + 3);
	free(shape);
}

/* Returns a text of `length` bytes or less that repeats a piece, between two others. */
static char *repeat(const char *head, const char *piece, const char *tail, size_t length)
{
	char *text = calloc(1, length + 1);
	size_t used = strlen(head);

	assert_non_null(text);
	strcpy(text, head);
	while (used + strlen(piece) + strlen(tail) <= length) {
		strcpy(text + used, piece);
		used += strlen(piece);
	}
	strcpy(text + used, tail);
	return text;
}

/* Returns the number of machine instructions that a shape takes. */
static uint64_t count_instructions(enum sql_dialect dialect, const char *text, bool cut)
{
	size_t length = strlen(text);
	char *shape = malloc(fingerprint_room(length));
	uint64_t count = 0;
	int status;
	pid_t child = fork();

	assert_non_null(shape);
	assert_true(child >= 0);
	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(1);
		raise(SIGSTOP);
		fingerprint(dialect, text, length, cut, shape);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	do {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
		assert_int_equal(waitpid(child, &status, 0), child);
		count++;
	} while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	free(shape);
	return count;
}

static void linear(void **state)
{
	static const struct {
		enum sql_dialect dialect;
		bool cut;
		bool steps; /* of a few only, since steps are slow */
		const char *head, *piece, *tail;
	} texts[] = {
		{SQL_MYSQL, false, true, "INSERT INTO t VALUES ", "(1,f('a')),", "(2,3)"},
		{SQL_MYSQL, true, false, "SELECT ", "((1,a),", ""},
		{SQL_MYSQL, false, true, "SELECT ", "- ", "1"},
		{SQL_POSTGRESQL, false, true, "", "/*", ""},
		{SQL_POSTGRESQL, false, false, "SELECT ", "$a$ $b", ""},
		{SQL_POSTGRESQL, false, false, "SELECT (", "1::int,", "2::text)"},
		{SQL_POSTGRESQL, false, false, "SELECT a ", "@-", "1"},
		{SQL_SQLITE, false, true, "SELECT ", "(", "1"},
		{SQL_SQLITE, false, false, "SELECT ", "''", ""},
	};
	enum { LONG = 1 << 20 };

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		char *text = repeat(texts[i].head, texts[i].piece, texts[i].tail, LONG);

		/* With time that grows with the square this would not end. */
		free(shape_of(texts[i].dialect, text, strlen(text), texts[i].cut));
		free(text);
	}
	if (under_valgrind()) /* its steps are not the program's */
		return;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		uint64_t counts[3] = {0};

		for (size_t k = 0; texts[i].steps && k < 3; k++) {
			char *text = repeat(texts[i].head, texts[i].piece, texts[i].tail,
					    (size_t)32 << k);

			counts[k] = count_instructions(texts[i].dialect, text, texts[i].cut);
			free(text);
		}
		/* Twice the text costs twice as much: the second difference is twice the first. */
		if (counts[2] - counts[1] > (counts[1] - counts[0]) * 5 / 2 + 500)
			fail_msg("%s: %lu, %lu, %lu instructions", texts[i].piece,
				 (unsigned long)counts[0], (unsigned long)counts[1],
				 (unsigned long)counts[2]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dialects),	  cmocka_unit_test(shapes),
		cmocka_unit_test(entries_differ), cmocka_unit_test(not_longer),
		cmocka_unit_test(shape_of_shape), cmocka_unit_test(more_blanks),
		cmocka_unit_test(cut_anywhere),	  cmocka_unit_test(cut_lists),
		cmocka_unit_test(bytes),	  cmocka_unit_test(deep),
		cmocka_unit_test(linear),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
