/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses and matches patterns. fnmatch(3) and regcomp(3) do the matching; the checks here reject
 * patterns that cannot match anything, or that would take too long to compile.
 */
#include "probe/pattern.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "probe/brackets.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *pattern_unbalanced(const char *text, size_t length)
{
	for (const char *at = text; at < text + length; at++) {
		if (*at == '\\') {
			at++;
		} else if (*at == '[') {
			const char *next = brackets_skip(at);

			if (!next || next > text + length)
				return at;
			at = next - 1;
		}
	}
	return NULL;
}

/* ------------------------------------------------------------------ globs that match nothing */

const char *pattern_senseless(const char *text, size_t length, const char **why)
{
	for (const char *at = text; at < text + length; at++) {
		if (*at == '\\') {
			*why = "'\\' with nothing behind it";
			if (at + 1 == text + length)
				return at;
			at++;
		} else if (*at == '[') {
			const char *next = brackets_skip(at);
			if (!next)
				return NULL;
			const char *wrong = brackets_empty_range(at, next - 1);

			*why = "a range that ends before it begins";
			if (!wrong) {
				*why = "no such class of characters";
				wrong = brackets_unknown_class(at, next - 1);
			}
			if (wrong)
				return wrong;
			at = next - 1;
		}
	}
	return NULL;
}

/* ------------------------------------------------------------------ size of expressions */

/*
 * For \{N\}, regcomp(3) copies the repeated part N times, and needs the square of that in time and
 * memory. COPIES_MAX limits the number of copied characters.
 */
enum { COPIES_MAX = 4000, GROUPS_MAX = 64 };

/* The number of characters in the parts of an expression, with the copies. */
struct growth {
	uint64_t all[GROUPS_MAX]; /* of each open group; the first one is the expression itself */
	/* of the part that a repetition would repeat, for each open group */
	uint64_t last[GROUPS_MAX];
	uint64_t copies;
	unsigned open;
};

static void add_part(struct growth *growth, uint64_t size)
{
	growth->all[growth->open] += size;
	growth->last[growth->open] = size;
}

/* Returns the maximum of the repetition whose \{ is in front of `at`. */
static uint64_t repetitions(const char *at)
{
	uint64_t least = strtoull(at, NULL, 10), most = least;

	at += strspn(at, "0123456789");
	if (*at == ',')
		most = at[1] == '\\' ? least + 1 : strtoull(at + 1, NULL, 10);
	if (most < least)
		most = least;
	return most < UINT16_MAX ? most : UINT16_MAX;
}

/* Counts a backslash and the character behind it. Returns false if the expression is too large. */
static bool add_escape(struct growth *growth, const char *at)
{
	if (at[1] == '(') {
		if (++growth->open == GROUPS_MAX)
			return false;
		growth->all[growth->open] = growth->last[growth->open] = 0;
	} else if (at[1] == ')' && growth->open) {
		growth->open--;
		add_part(growth, growth->all[growth->open + 1]);
	} else if (at[1] == '{') {
		uint64_t last = growth->last[growth->open], times = repetitions(at + 2);
		uint64_t more = times > 1 ? last * (times - 1) : 0;

		growth->copies += more;
		growth->all[growth->open] += more;
		growth->last[growth->open] += more;
	} else {
		add_part(growth, 1);
	}
	return growth->copies <= COPIES_MAX;
}

const char *pattern_excess(const char *text, size_t length)
{
	struct growth growth = {.open = 0};
	const char *end = text + length;

	growth.all[0] = growth.last[0] = 0;
	for (const char *at = text; at < end; at++) {
		if (*at == '\\' && at + 1 < end) {
			if (!add_escape(&growth, at))
				return at;
			/* The text in \{\} is not counted. */
			if (at[1] == '{')
				at += strspn(at + 2, "0123456789,") + 2;
			at++;
		} else if (*at == '[') {
			add_part(&growth, 1);
			at = brackets_skip_regex(at, end) - 1;
		} else if (*at != '*') {
			add_part(&growth, 1);
		}
	}
	return NULL;
}

/* ------------------------------------------------------------------ patterns */

/* Returns true if the text ends with a '$' that is not escaped. */
static bool ends_anchored(const char *text, size_t length)
{
	size_t backslashes = 0;

	if (!length || text[length - 1] != '$')
		return false;
	while (backslashes < length - 1 && text[length - 2 - backslashes] == '\\')
		backslashes++;
	return backslashes % 2 == 0;
}

/* Removes the backslashes from a text without wildcards, which leaves the name it stands for. */
static void take_backslashes_out(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == '\\' && from[1])
			from++;
		*to++ = *from;
	}
	*to = '\0';
}

void pattern_set_glob(struct pattern *pattern, const char *text, size_t length)
{
	bool anchored = length && *text == '^';

	*pattern = (struct pattern){.kind = PATTERN_ANY};
	text += anchored;
	length -= anchored;
	if (ends_anchored(text, length)) {
		length--;
		anchored = true;
	}
	if ((!length && !anchored) || (length == 1 && *text == '*'))
		return;
	pattern->text = xstrndup(text, length);
	pattern->kind = PATTERN_GLOB;
	if (!strpbrk(pattern->text, "*?[")) {
		take_backslashes_out(pattern->text);
		pattern->kind = PATTERN_PLAIN;
	}
}

/* The text's own anchors would only apply to one of several alternatives. */
static int compile(regex_t *regex, const char *text, char **error)
{
	_cleanup_free_ char *whole = xasprintf("^\\(%s\\)$", text);
	/*
	 * Compile the text alone first, so that an error in it is found: the added \) could close
	 * an open \( in it.
	 */
	int result = regcomp(regex, text, REG_NOSUB);

	if (!result) {
		regfree(regex);
		result = regcomp(regex, whole, REG_NOSUB);
	}
	if (!result)
		return 0;
	char reason[256];

	regerror(result, regex, reason, sizeof reason);
	*error = xstrdup(reason);
	return -EINVAL;
}

int pattern_set_regex(struct pattern *pattern, const char *text, size_t length, char **error)
{
	_cleanup_free_ char *copy = xstrndup(text, length);
	_cleanup_free_ regex_t *regex = xmalloc(sizeof *regex);
	int result = compile(regex, copy, error);

	if (!result)
		*pattern = (struct pattern){
			.kind = PATTERN_REGEX, .text = take_ptr(copy), .regex = take_ptr(regex)};
	return result;
}

void pattern_means_functions(struct pattern *pattern)
{
	static const enum source_syntax syntaxes[] = {[PATTERN_PLAIN] = SOURCE_PLAIN,
						      [PATTERN_GLOB] = SOURCE_GLOB,
						      [PATTERN_REGEX] = SOURCE_REGEX};
	struct source_name source;

	if (pattern->kind == PATTERN_ANY ||
	    !source_name_init(&source, pattern->text, syntaxes[pattern->kind]))
		return;
	pattern->source = xmalloc(sizeof *pattern->source);
	*pattern->source = source;
	if (pattern->kind != PATTERN_REGEX && !strncmp(pattern->text, "::", 2))
		memmove(pattern->text, pattern->text + 2, strlen(pattern->text + 2) + 1);
}

void pattern_deinit(struct pattern *pattern)
{
	if (pattern->regex)
		regfree(pattern->regex);
	free(pattern->regex);
	free(pattern->text);
	if (pattern->source)
		source_name_deinit(pattern->source);
	free(pattern->source);
	*pattern = (struct pattern){.kind = PATTERN_ANY};
}

bool pattern_is_symbol(const struct pattern *pattern)
{
	return pattern->kind == PATTERN_PLAIN && !pattern->source;
}

static bool fits(const void *context, const char *name)
{
	const struct pattern *pattern = context;

	switch (pattern->kind) {
	case PATTERN_PLAIN:
		return !strcmp(pattern->text, name);
	case PATTERN_GLOB:
		return !fnmatch(pattern->text, name, 0);
	case PATTERN_REGEX:
		return !regexec(pattern->regex, name, 0, NULL, 0);
	case PATTERN_ANY:
		break;
	}
	return true;
}

bool pattern_matches(const struct pattern *pattern, const char *name)
{
	return fits(pattern, name) ||
	       (pattern->source && source_name_matches(pattern->source, name, fits, pattern));
}
