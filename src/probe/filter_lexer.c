/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where the halves of a filter's rules, SYMBOL and LIB, begin and end.
 *
 * The language is ltrace's. It has no quoting, and + and - are signs. But libraries have names such
 * as libstdc++.so.6 and ld-linux-x86-64.so.2 and directories such as x86_64-linux-gnu, and users do
 * not expect to escape these. So in a LIB a sign begins the next rule only where a rule can begin:
 * not if the ".so" of the LIB is still to come, nor, in a path, another '/', nor in "++". The
 * search for these ends at the next '@', since another LIB follows it, and at the next sign with a
 * regular expression behind it. In front of these two, a sign always begins a rule:
 *
 *	free@ld-linux-x86-64.so.2-malloc	-malloc is a rule: the ".so" is in front of it
 *	*@/opt/some-app/bin/prog+free@MAIN	-app is none: a '/' follows; +free is one
 *	*@some-prog				-prog is one; some\-prog or some[-]prog is the name
 *	-@/opt/c-/bin/prog-/f\|g/-@/x\|y/	-/bin/prog is none; -/f\|g/ and -@/x\|y/ are
 *
 * In a SYMBOL a sign always begins the next rule, except behind the word "operator", where it is
 * part of the name: + and - occur in no other names than those of C++ operators.
 *
 * A SYMBOL that begins with '/' is a regular expression up to the first '/' behind which it can
 * end: at a sign, at the end, at '@'. /x@y/ is short for /x/@/y/. A LIB is a regular expression
 * only if it ends at the very next '/', because the names it is compared with contain no '/';
 * otherwise it is a path. This also decides whether a sign inside of a path is followed by a
 * regular expression.
 */
#include "probe/filter_lexer.h"

#include "probe/brackets.h"

#include <string.h>

bool filter_is_sign(char c)
{
	return c == '+' || c == '-';
}

/* Returns true if a regular expression can end with the '/' at `at`. */
static bool can_end_regex(const char *at, bool at_sign_ends)
{
	return !at[1] || filter_is_sign(at[1]) || (at_sign_ends && at[1] == '@');
}

const char *filter_end_of_regex(const char *at, bool at_sign_ends)
{
	for (at++; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '/' && can_end_regex(at, at_sign_ends))
			return at;
	}
	return NULL;
}

const char *filter_end_of_name_regex(const char *at, bool at_sign_ends)
{
	for (at++; *at && *at != '/'; at++) {
		const char *behind = *at == '[' ? brackets_skip(at) : NULL;

		if (behind)
			at = behind - 1;
		else if (*at == '\\' && at[1])
			at++;
	}
	return *at && can_end_regex(at, at_sign_ends) ? at : NULL;
}

/* Returns true if the sign at `at` begins a rule because a regular expression follows it. */
static bool begins_regex(const char *at, bool in_path)
{
	return filter_is_sign(*at) && at[1] == '/' &&
	       (!in_path || filter_end_of_name_regex(at + 1, true));
}

/* Returns true if the sign at `at` is part of the LIB that begins at `start`. */
static bool is_in_library(const char *start, const char *at)
{
	bool is_path = memchr(start, '/', (size_t)(at - start)) != NULL;
	const char *so = strstr(start, ".so");
	bool had_so = so && so < at;

	if (at[1] == '@')
		return false;
	/* No rule begins with two signs, and some names end with "++". */
	if (*at == '+' && (at[1] == '+' || (at > start && at[-1] == '+')))
		return true;
	if (!at[1] || begins_regex(at, is_path))
		return false;
	for (at++; *at && *at != '@' && !begins_regex(at, is_path); at++)
		if ((is_path && *at == '/') || (!had_so && !strncmp(at, ".so", 3)))
			return true;
	return false;
}

/*
 * Returns true if the sign at `at` is part of an operator's name in the SYMBOL that begins at
 * `start`.
 */
static bool is_in_operator(const char *start, const char *at)
{
	static const char word[] = "operator";
	const size_t length = sizeof word - 1;

	/* The second sign of ++, -- or ->. */
	if (at > start && filter_is_sign(at[-1]) && at[0] == at[-1])
		at--;
	if ((size_t)(at - start) < length || strncmp(at - length, word, length) != 0)
		return false;
	at -= length;
	return at == start || at[-1] == ':';
}

/* Returns true if the sign at `at` is part of the half that begins at `start`. */
static bool is_in_half(const char *start, const char *at, bool is_library)
{
	return is_library ? is_in_library(start, at) : is_in_operator(start, at);
}

const char *filter_end_of_glob(const char *start, bool is_library, const char **stray)
{
	const char *at = start;

	while (*at && *at != '@' && !(filter_is_sign(*at) && !is_in_half(start, at, is_library))) {
		if (*at == '[') {
			*stray = at;
			at = brackets_skip(at);
			if (!at)
				return NULL;
		} else {
			at += *at == '\\' && at[1] ? 2 : 1;
		}
	}
	return at;
}
