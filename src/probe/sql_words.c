/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of SQL that matter for the shape of a statement.
 *
 * Words that no table or column can be called without quotes (reserved words) are safe: behind them
 * an operand follows. A word that is reserved in one dialect only, such as MOD, counts there only:
 * elsewhere "mod - 1" is a difference. Words that are reserved nowhere (OFFSET, STEP) are not
 * in the table although an operand may follow them.
 */
#include "probe/sql_words.h"

#include <stdlib.h>
#include <string.h>

enum {
	IN_MYSQL = 1 << SQL_MYSQL,
	IN_POSTGRESQL = 1 << SQL_POSTGRESQL,
	IN_SQLITE = 1 << SQL_SQLITE,
	IN_ALL = IN_MYSQL | IN_POSTGRESQL | IN_SQLITE,
	WORD_MAX = 24 /* longer than any word below */
};

struct meaning {
	const char *word;
	unsigned dialects; /* a set of IN_… */
	unsigned meaning;
};

/* Sorted by word. */
static const struct meaning meanings[] = {
	{"ALL", IN_ALL, SQL_WORD_OPERAND},
	{"AND", IN_ALL, SQL_WORD_OPERAND},
	{"ARRAY", IN_POSTGRESQL, SQL_WORD_ARRAY},
	{"BETWEEN", IN_ALL, SQL_WORD_OPERAND},
	{"BY", IN_ALL, SQL_WORD_OPERAND},
	{"CALL", IN_MYSQL, SQL_WORD_OPERAND},
	{"CASE", IN_ALL, SQL_WORD_OPERAND},
	{"DATE", IN_MYSQL | IN_POSTGRESQL, SQL_WORD_TYPE},
	{"DEFAULT", IN_ALL, SQL_WORD_OPERAND | SQL_WORD_CONSTANT},
	{"DISTINCT", IN_ALL, SQL_WORD_OPERAND},
	{"DISTINCTROW", IN_MYSQL, SQL_WORD_OPERAND},
	{"DIV", IN_MYSQL, SQL_WORD_OPERAND},
	{"ELSE", IN_ALL, SQL_WORD_OPERAND},
	{"ESCAPE", IN_ALL, SQL_WORD_OPERAND},
	{"FALSE", IN_ALL, SQL_WORD_CONSTANT},
	{"FROM", IN_ALL, SQL_WORD_OPERAND},
	{"GLOB", IN_SQLITE, SQL_WORD_OPERAND},
	{"HAVING", IN_ALL, SQL_WORD_OPERAND},
	{"HIGH_PRIORITY", IN_MYSQL, SQL_WORD_OPERAND},
	{"ILIKE", IN_POSTGRESQL, SQL_WORD_OPERAND},
	{"IN", IN_ALL, SQL_WORD_OPERAND},
	{"INTERVAL", IN_MYSQL | IN_POSTGRESQL, SQL_WORD_OPERAND},
	{"IS", IN_ALL, SQL_WORD_OPERAND},
	{"LIKE", IN_ALL, SQL_WORD_OPERAND},
	{"LIMIT", IN_ALL, SQL_WORD_OPERAND},
	{"MATCH", IN_SQLITE, SQL_WORD_OPERAND},
	{"MOD", IN_MYSQL, SQL_WORD_OPERAND},
	{"NOT", IN_ALL, SQL_WORD_OPERAND},
	{"NULL", IN_ALL, SQL_WORD_CONSTANT},
	{"OFFSET", IN_POSTGRESQL, SQL_WORD_OPERAND},
	{"ON", IN_ALL, SQL_WORD_OPERAND},
	{"OR", IN_ALL, SQL_WORD_OPERAND},
	{"PRECISION", IN_POSTGRESQL, SQL_WORD_TYPE_REST},
	{"REGEXP", IN_MYSQL | IN_SQLITE, SQL_WORD_OPERAND},
	{"RETURN", IN_MYSQL, SQL_WORD_OPERAND},
	{"RETURNING", IN_ALL, SQL_WORD_OPERAND},
	{"RLIKE", IN_MYSQL, SQL_WORD_OPERAND},
	{"ROW", IN_MYSQL | IN_POSTGRESQL, SQL_WORD_ROW},
	{"SELECT", IN_ALL, SQL_WORD_OPERAND},
	{"SET", IN_ALL, SQL_WORD_OPERAND},
	{"SQL_BIG_RESULT", IN_MYSQL, SQL_WORD_OPERAND},
	{"SQL_BUFFER_RESULT", IN_MYSQL, SQL_WORD_OPERAND},
	{"SQL_CACHE", IN_MYSQL, SQL_WORD_OPERAND},
	{"SQL_CALC_FOUND_ROWS", IN_MYSQL, SQL_WORD_OPERAND},
	{"SQL_NO_CACHE", IN_MYSQL, SQL_WORD_OPERAND},
	{"SQL_SMALL_RESULT", IN_MYSQL, SQL_WORD_OPERAND},
	{"STRAIGHT_JOIN", IN_MYSQL, SQL_WORD_OPERAND},
	{"THEN", IN_ALL, SQL_WORD_OPERAND},
	{"TIME", IN_MYSQL | IN_POSTGRESQL, SQL_WORD_TYPE | SQL_WORD_TYPE_REST},
	{"TIMESTAMP", IN_MYSQL | IN_POSTGRESQL, SQL_WORD_TYPE},
	{"TIMESTAMPTZ", IN_POSTGRESQL, SQL_WORD_TYPE},
	{"TO", IN_ALL, SQL_WORD_OPERAND},
	{"TRUE", IN_ALL, SQL_WORD_CONSTANT},
	{"USING", IN_ALL, SQL_WORD_OPERAND},
	{"VALUE", IN_MYSQL, SQL_WORD_ROWS},
	{"VALUES", IN_ALL, SQL_WORD_OPERAND | SQL_WORD_ROWS},
	{"VARYING", IN_POSTGRESQL, SQL_WORD_TYPE_REST},
	{"WHEN", IN_ALL, SQL_WORD_OPERAND},
	{"WHERE", IN_ALL, SQL_WORD_OPERAND},
	{"WITH", IN_POSTGRESQL, SQL_WORD_OPERAND | SQL_WORD_TYPE_REST},
	{"WITHOUT", IN_POSTGRESQL, SQL_WORD_TYPE_REST},
	{"XOR", IN_MYSQL, SQL_WORD_OPERAND},
	{"ZONE", IN_POSTGRESQL, SQL_WORD_TYPE_REST},
};

/* The character sets of MySQL and MariaDB, sorted: each names an introducer, with '_' in front. */
static const char *const charsets[] = {
	"ARMSCII8", "ASCII",   "BIG5",	   "BINARY", "CP1250",	"CP1251",  "CP1256",
	"CP1257",   "CP850",   "CP852",	   "CP866",  "CP932",	"DEC8",	   "EUCJPMS",
	"EUCKR",    "GB18030", "GB2312",   "GBK",    "GEOSTD8", "GREEK",   "HEBREW",
	"HP8",	    "KEYBCS2", "KOI8R",	   "KOI8U",  "LATIN1",	"LATIN2",  "LATIN5",
	"LATIN7",   "MACCE",   "MACROMAN", "SJIS",   "SWE7",	"TIS620",  "UCS2",
	"UJIS",	    "UTF16",   "UTF16LE",  "UTF32",  "UTF8",	"UTF8MB3", "UTF8MB4",
};

/* Not toupper(3): what a word is does not depend on the user's language. */
static char to_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static int compare_meaning(const void *word, const void *entry)
{
	return strcmp(word, ((const struct meaning *)entry)->word);
}

static int compare_charset(const void *word, const void *entry)
{
	return strcmp(word, *(const char *const *)entry);
}

unsigned sql_word_meaning(enum sql_dialect dialect, const char *word, size_t length)
{
	char text[WORD_MAX + 1];
	const struct meaning *found;

	if (!length || length > WORD_MAX)
		return 0;
	for (size_t i = 0; i < length; i++)
		text[i] = to_upper(word[i]);
	text[length] = '\0';
	if (*text == '_')
		return dialect == SQL_MYSQL && bsearch(text + 1, charsets,
						       sizeof charsets / sizeof *charsets,
						       sizeof *charsets, compare_charset)
			       ? SQL_WORD_INTRODUCER
			       : 0;
	found = bsearch(text, meanings, sizeof meanings / sizeof *meanings, sizeof *meanings,
			compare_meaning);
	return found && found->dialects & 1U << dialect ? found->meaning : 0;
}

bool sql_dialect_find(const char *name, enum sql_dialect *dialect)
{
	static const char *const names[] = {
		[SQL_MYSQL] = "mysql", [SQL_POSTGRESQL] = "postgresql", [SQL_SQLITE] = "sqlite"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (!strcmp(name, names[i])) {
			*dialect = (enum sql_dialect)i;
			return true;
		}
	}
	return false;
}
