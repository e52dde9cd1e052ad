/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits the text of a recipe into words, by the rules of sh(1) without its expansions: blanks and
 * ends of lines separate words; '#' at the beginning of a word begins a comment, which ends with
 * its line; nothing is special between '…'; between "…" a backslash is special before $, `, ", \
 * and the end of a line, elsewhere before any byte; a backslash before the end of a line joins the
 * lines. Operators, variables and patterns of the shell mean nothing: `-x foo*` needs no quotes.
 *
 * A carriage return counts as a blank, so that files with the line ends of other systems work.
 */
#include "cli/recipe_words.h"

#include "base/strbuf.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

struct splitter {
	const char *at, *end;
	unsigned line;
	struct strbuf word;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* Takes one byte, and counts lines. There must be one. */
static char take(struct splitter *splitter)
{
	const char c = *splitter->at++;

	splitter->line += c == '\n';
	return c;
}

static void skip_line(struct splitter *splitter)
{
	while (splitter->at < splitter->end && *splitter->at != '\n')
		splitter->at++;
}

/* A backslash was taken that is special before the bytes in `before`, or, if NULL, before all. */
static void take_escaped(struct splitter *splitter, const char *before)
{
	const bool is_last = splitter->at == splitter->end;

	if (is_last || (before && !strchr(before, *splitter->at))) {
		strbuf_add_char(&splitter->word, '\\');
		return;
	}
	const char c = take(splitter);

	if (c != '\n')
		strbuf_add_char(&splitter->word, c);
}

/* The quote that begins was taken. Returns false if none ends it. */
static bool take_quoted(struct splitter *splitter, char quote)
{
	while (splitter->at < splitter->end) {
		const char c = take(splitter);

		if (c == quote)
			return true;
		if (c == '\\' && quote == '"')
			take_escaped(splitter, "$`\"\\\n");
		else
			strbuf_add_char(&splitter->word, c);
	}
	return false;
}

/*
 * Takes a word, which begins here. Returns false if a quote is not ended; *line is that of the
 * quote.
 */
static bool take_word(struct splitter *splitter, unsigned *line)
{
	strbuf_clear(&splitter->word);
	strbuf_add(&splitter->word, "");
	while (splitter->at < splitter->end && !is_blank(*splitter->at)) {
		const unsigned begins = splitter->line;
		const char c = take(splitter);

		if (c == '\\') {
			take_escaped(splitter, NULL);
		} else if (c != '\'' && c != '"') {
			strbuf_add_char(&splitter->word, c);
		} else if (!take_quoted(splitter, c)) {
			*line = begins;
			return false;
		}
	}
	return true;
}

/* Skips blanks, comments and joined lines before a word. Returns false at the end of the text. */
static bool find_word(struct splitter *splitter)
{
	while (splitter->at < splitter->end) {
		const char c = *splitter->at;

		if (c == '#') {
			skip_line(splitter);
		} else if (c == '\\' && splitter->end - splitter->at > 1 &&
			   splitter->at[1] == '\n') {
			take(splitter);
			take(splitter);
		} else if (!is_blank(c)) {
			return true;
		} else {
			take(splitter);
		}
	}
	return false;
}

const char *recipe_words_split(const char *text, size_t length, size_t maximum, struct vec *words,
			       unsigned *line)
{
	struct splitter splitter = {.at = text, .end = text + length, .line = 1};
	const char *wrong = NULL;

	while (!wrong && find_word(&splitter)) {
		struct recipe_word word = {.line = splitter.line};

		*line = splitter.line;
		if (words->count == maximum) {
			wrong = "too many words";
		} else if (!take_word(&splitter, line)) {
			wrong = "a quote is not ended";
		} else {
			word.text = xstrndup(splitter.word.text, splitter.word.length);
			vec_push(words, &word);
		}
	}
	strbuf_deinit(&splitter.word);
	return wrong;
}

void recipe_words_free(struct vec *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(((struct recipe_word *)vec_at(words, i))->text);
	vec_deinit(words);
}

bool recipe_words_is_text(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (((unsigned char)text[i] < ' ' && !is_blank(text[i])) || text[i] == 0x7f)
			return false;
	return true;
}

const char *recipe_words_comment(const char *text, size_t length, size_t *comment)
{
	const char *end = text + length;

	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		const char *stop = line_end ? line_end : end;

		while (text < stop && is_blank(*text))
			text++;
		if (text < stop && *text == '#') {
			while (text < stop && (*text == '#' || is_blank(*text)))
				text++;
			while (text < stop && is_blank(stop[-1]))
				stop--;
			*comment = (size_t)(stop - text);
			return text;
		}
		text = line_end ? line_end + 1 : end;
	}
	return NULL;
}
