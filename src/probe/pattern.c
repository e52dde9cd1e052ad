/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/pattern.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

const char *pattern_skip_brackets(const char *at)
{
	at++;
	if (*at == '!' || *at == '^')
		at++;
	if (*at == ']') /* as the first one it stands for itself */
		at++;
	while (*at && *at != ']') {
		const char *class_end = NULL;
		char kind[3] = {at[1], ']', '\0'};

		if (*at == '[' && (at[1] == ':' || at[1] == '.' || at[1] == '='))
			class_end = strstr(at + 2, kind);
		else if (*at == '\\' && at[1])
			at++;
		at = class_end ? class_end + 2 : at + 1;
	}
	return *at ? at + 1 : NULL;
}

const char *pattern_unbalanced(const char *text, size_t length)
{
	for (const char *at = text; at < text + length; at++) {
		if (*at == '\\') {
			at++;
		} else if (*at == '[') {
			const char *next = pattern_skip_brackets(at);

			if (!next || next > text + length)
				return at;
			at = next - 1;
		}
	}
	return NULL;
}

/* Whether the last character is a '$' that no backslash takes its meaning from. */
static bool ends_anchored(const char *text, size_t length)
{
	size_t backslashes = 0;

	if (!length || text[length - 1] != '$')
		return false;
	while (backslashes < length - 1 && text[length - 2 - backslashes] == '\\')
		backslashes++;
	return backslashes % 2 == 0;
}

/* As the name it stands for, when there are no wildcards: only backslashes go. */
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

/* Its own anchors would only hold for one of several alternatives. */
static int compile(regex_t *regex, const char *text, char **error)
{
	_cleanup_free_ char *whole = xasprintf("^\\(%s\\)$", text);
	/* Alone, it is wrong for what it is: not for an open \( that ours would close. */
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
		*pattern = (struct pattern){PATTERN_REGEX, take_ptr(copy), take_ptr(regex)};
	return result;
}

void pattern_deinit(struct pattern *pattern)
{
	if (pattern->regex)
		regfree(pattern->regex);
	free(pattern->regex);
	free(pattern->text);
	*pattern = (struct pattern){.kind = PATTERN_ANY};
}

bool pattern_matches(const struct pattern *pattern, const char *name)
{
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
