/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bracket expressions, [a-z[:digit:]], of globs and of regular expressions: see brackets.h. */
#include "probe/brackets.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <wctype.h>

/*
 * Returns the end of a class ([:alpha:], [.x.], [=x=]) in a bracket expression, or NULL if none
 * begins at `at`.
 */
static const char *skip_class(const char *at)
{
	const char kind[3] = {at[0] == '[' ? at[1] : '\0', ']', '\0'};
	const char *end = NULL;

	if (kind[0] == ':' || kind[0] == '.' || kind[0] == '=')
		end = strstr(at + 2, kind);
	return end ? end + 2 : NULL;
}

const char *brackets_skip(const char *at)
{
	at++;
	if (*at == '!' || *at == '^')
		at++;
	if (*at == ']') /* as the first character it stands for itself */
		at++;
	while (*at && *at != ']') {
		const char *class_end = skip_class(at);

		if (*at == '\\' && at[1])
			at++;
		at = class_end ? class_end : at + 1;
	}
	return *at ? at + 1 : NULL;
}

const char *brackets_skip_regex(const char *at, const char *end)
{
	at++;
	at += at < end && *at == '^';
	at += at < end && *at == ']';
	while (at < end && *at != ']') {
		const char *class_end = skip_class(at);

		at = class_end ? class_end : at + 1;
	}
	return at < end ? at + 1 : end;
}

/* Skips a member of a bracket expression. Returns its character, or -1 if it is a class. */
static int take_member(const char **at)
{
	const char *class_end = skip_class(*at);

	if (class_end) {
		*at = class_end;
		return -1;
	}
	*at += **at == '\\' && (*at)[1];
	return (unsigned char)*(*at)++;
}

const char *brackets_empty_range(const char *at, const char *end)
{
	at++;
	at += *at == '!' || *at == '^';
	while (at < end) {
		const char *start = at;
		int first = take_member(&at);

		if (*at != '-' || at + 1 >= end)
			continue;
		at++;
		int last = take_member(&at);

		if (first > last && last >= 0)
			return start;
	}
	return NULL;
}

/* Returns true if the class is a known [:name:], or no [:name:] at all. */
static bool is_known_class(const char *at, const char *end)
{
	char name[16];
	const size_t length = (size_t)(end - at) - strlen("[::]");

	if (at[1] != ':')
		return true;
	if (length >= sizeof name)
		return false;
	memcpy(name, at + 2, length);
	name[length] = '\0';
	return wctype(name) != 0;
}

const char *brackets_unknown_class(const char *at, const char *end)
{
	for (at++; at < end; at++) {
		const char *class_end = skip_class(at);

		if (class_end && !is_known_class(at, class_end))
			return at;
		if (class_end)
			at = class_end - 1;
		else
			at += *at == '\\' && at + 1 < end;
	}
	return NULL;
}
