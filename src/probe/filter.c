/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parsing of filters, and what a chain of rules says about a name.
 *
 * The language is ltrace's. It has no quoting, and + and - are signs; but libraries are called
 * libstdc++.so.6 and ld-linux-x86-64.so.2 and lie in x86_64-linux-gnu, and nobody would think of
 * escaping that. So in a LIB a sign begins the next rule only where a rule can begin: not when the
 * ".so" of the LIB is still to come, nor, in a path, a '/', nor in "++". How far that is looked for
 * is up to the next '@', as what is behind that is another LIB, and to the next sign with a regular
 * expression behind it. Before these two a sign always begins a rule:
 *
 *	free@ld-linux-x86-64.so.2-malloc	-malloc is a rule: the ".so" is in front of it
 *	*@/opt/some-app/bin/prog+free@MAIN	-app is none: a '/' follows; +free is one
 *	*@some-prog				-prog is one; some\-prog or some[-]prog is the name
 *	-@/opt/c-/bin/prog-/f\|g/-@/x\|y/	-/bin/prog is none; -/f\|g/ and -@/x\|y/ are
 *
 * In a SYMBOL, where + and - do not occur, a sign always begins the next rule.
 *
 * A SYMBOL that begins with '/' is a regular expression up to the first '/' behind which it can
 * end: at a sign, at the end, at '@'. /x@y/ is short for /x/@/y/. A LIB is one only if that is the
 * next '/': what it is compared with are names, which have none, and then it is a path. So is what
 * is behind a sign in a path.
 *
 * A filter that begins with '*' is a slot only if it has a '=', as `*alloc` is a good glob and no
 * symbol's name has a '='.
 *
 * Which rules apply in a module is found out once for each module (filter_enter()), as there are
 * thousands of names in one.
 */
#include "probe/filter.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One filter being read. */
struct reader {
	const char *text;
	const char *at;
	enum filter_syntax syntax;
	char **error;
};

static int fail(const struct reader *reader, const char *at, const char *what)
{
	*reader->error = xasprintf("'%s', character %zu: %s", reader->text,
				   (size_t)(at - reader->text) + 1, what);
	return -EINVAL;
}

static bool is_sign(char c)
{
	return c == '+' || c == '-';
}

/* ------------------------------------------------------------------ where halves end */

/* Whether a regular expression can end with the '/' at `at`. */
static bool can_end_regex(const char *at, bool at_sign_ends)
{
	return !at[1] || is_sign(at[1]) || (at_sign_ends && at[1] == '@');
}

/* The '/' that ends the regular expression which begins behind the one at `at`, or NULL. */
static const char *end_of_regex(const char *at, bool at_sign_ends)
{
	for (at++; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '/' && can_end_regex(at, at_sign_ends))
			return at;
	}
	return NULL;
}

/*
 * The same where it could also be the path of a LIB, in which a '/' would follow: NULL, if it is.
 * What is in brackets is no end.
 */
static const char *end_of_name_regex(const char *at, bool at_sign_ends)
{
	for (at++; *at && *at != '/'; at++) {
		const char *behind = *at == '[' ? pattern_skip_brackets(at) : NULL;

		if (behind)
			at = behind - 1;
		else if (*at == '\\' && at[1])
			at++;
	}
	return *at && can_end_regex(at, at_sign_ends) ? at : NULL;
}

/* Whether the sign at `at` begins a rule by having a regular expression behind it. */
static bool begins_regex(const char *at, bool in_path)
{
	return is_sign(*at) && at[1] == '/' && (!in_path || end_of_name_regex(at + 1, true));
}

/* Whether the sign at `at` is part of the LIB that begins at `start`. */
static bool is_in_library(const char *start, const char *at)
{
	bool is_path = memchr(start, '/', (size_t)(at - start)) != NULL;
	const char *so = strstr(start, ".so");
	bool had_so = so && so < at;

	if (at[1] == '@')
		return false;
	/* No rule begins by two, and names end so. */
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
 * The end of a glob: the first '@' or sign that is not in brackets, escaped or, in a LIB, part of
 * the name. NULL: *stray is a '[' without ']'.
 */
static const char *end_of_glob(const char *start, bool is_library, const char **stray)
{
	const char *at = start;

	while (*at && *at != '@' && !(is_sign(*at) && !(is_library && is_in_library(start, at)))) {
		if (*at == '[') {
			*stray = at;
			at = pattern_skip_brackets(at);
			if (!at)
				return NULL;
		} else {
			at += *at == '\\' && at[1] ? 2 : 1;
		}
	}
	return at;
}

/* ------------------------------------------------------------------ halves */

/* Reads a glob; of a LIB also whether it is a path. */
static int read_glob(struct reader *reader, bool is_library, struct pattern *pattern)
{
	const char *stray;
	const char *end = end_of_glob(reader->at, is_library, &stray);

	if (!end)
		return fail(reader, stray, "'[' without ']'");
	const char *why;

	stray = pattern_senseless(reader->at, (size_t)(end - reader->at), &why);
	if (stray)
		return fail(reader, stray, why);
	pattern_set_glob(pattern, reader->at, (size_t)(end - reader->at));
	reader->at = end;
	return 0;
}

static int set_regex(const struct reader *reader, const char *start, const char *end,
		     struct pattern *pattern)
{
	_cleanup_free_ char *reason = NULL;
	const char *excess = pattern_excess(start, (size_t)(end - start));

	if (excess)
		return fail(reader, excess, "this makes the regular expression too large");
	if (!pattern_set_regex(pattern, start, (size_t)(end - start), &reason))
		return 0;
	_cleanup_free_ char *message = xasprintf("no regular expression: %s", reason);

	return fail(reader, start, message);
}

static int read_library(struct reader *reader, struct filter_rule *rule)
{
	const char *start = reader->at;
	const char *end = *start == '/' ? end_of_name_regex(start, false) : NULL;

	if (end) {
		reader->at = end + 1;
		return set_regex(reader, start + 1, end, &rule->module);
	}
	int result = read_glob(reader, true, &rule->module);
	size_t length = (size_t)(reader->at - start);

	if (length == 4 && !strncmp(start, "MAIN", 4))
		rule->library = LIBRARY_MAIN;
	else if (memchr(start, '/', length))
		rule->library = LIBRARY_PATH;
	return result;
}

/* There is no '/' that ends it; perhaps one is there where a half cannot end. */
static int fail_regex(const struct reader *reader, const char *start)
{
	for (const char *at = start + 1; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '/')
			return fail(reader, at + 1,
				    "behind a regular expression '+', '-', '@' or the end is "
				    "expected");
	}
	return fail(reader, start, "a regular expression that has no second '/'");
}

/* What is between the slashes of a SYMBOL; with an '@' it has both halves. */
static int read_regex(struct reader *reader, struct filter_rule *rule)
{
	const char *start = reader->at;
	const char *end = end_of_regex(start, true);

	if (!end)
		return fail_regex(reader, start);
	const char *middle = memchr(start, '@', (size_t)(end - start));
	int result = set_regex(reader, start + 1, middle ? middle : end, &rule->symbol);

	if (!result && middle)
		result = set_regex(reader, middle + 1, end, &rule->module);
	reader->at = end + 1;
	if (!result && middle && *reader->at == '@')
		return fail(reader, reader->at, "a second '@'");
	return result;
}

/* Passes a version, `@@VERSION`. */
static void skip_version(struct reader *reader)
{
	if (reader->at[0] == '@' && reader->at[1] == '@')
		reader->at += 2 + strcspn(reader->at + 2, "@+-");
}

/* Whether a rule of -l is a LIB alone. */
static bool is_bare_library(const struct reader *reader)
{
	const char *stray;
	const char *end;

	if (reader->syntax != FILTER_LIBRARIES)
		return false;
	if (*reader->at == '/') {
		end = end_of_name_regex(reader->at, true);
		if (end)
			return end[1] != '@' &&
			       !memchr(reader->at, '@', (size_t)(end - reader->at));
	}
	end = end_of_glob(reader->at, true, &stray);
	return end && *end != '@';
}

/* [SYMBOL][@LIB] */
static int read_halves(struct reader *reader, struct filter_rule *rule)
{
	const char *start = reader->at;

	if (!*start || is_sign(*start))
		return fail(reader, start, "a function's name or @LIB is expected");
	if (is_bare_library(reader))
		return read_library(reader, rule);
	int result = *start == '/' ? read_regex(reader, rule)
				   : read_glob(reader, false, &rule->symbol);

	if (result)
		return result;
	skip_version(reader);
	if (*reader->at != '@')
		return 0;
	reader->at++;
	return read_library(reader, rule);
}

static void rule_deinit(struct filter_rule *rule)
{
	free(rule->text);
	pattern_deinit(&rule->symbol);
	pattern_deinit(&rule->module);
}

/* A rule behind its sign, up to the next one's. What messages call it begins at `start`. */
static int read_rule(struct reader *reader, struct filter *filter, bool subtracts,
		     const char *start)
{
	struct filter_rule rule = {.subtracts = subtracts};
	int result = read_halves(reader, &rule);

	if (!result && *reader->at == '@')
		result = fail(reader, reader->at, "a second '@'");
	else if (!result && *reader->at && !is_sign(*reader->at))
		result = fail(reader, reader->at, "'+', '-' or the end is expected");
	if (result) {
		rule_deinit(&rule);
		return result;
	}
	rule.text = xstrndup(start, (size_t)(reader->at - start));
	vec_push(&filter->rules, &rule);
	return 0;
}

/* In front of all of it '!' stands for '-', as ltrace has always had it. */
static int read_chain(struct reader *reader, struct filter *filter)
{
	bool is_first = true;
	int result = 0;

	if (*reader->at == '-' || *reader->at == '!')
		vec_push(&filter->rules, &(struct filter_rule){.text = NULL});
	do {
		bool subtracts = *reader->at == '-' || (is_first && *reader->at == '!');

		reader->at += subtracts || *reader->at == '+';
		is_first = false;
		result = read_rule(reader, filter, subtracts, reader->at);
	} while (!result && *reader->at);
	return result;
}

/* ------------------------------------------------------------------ slots */

/* +OFFSET or [INDEX], decimal or 0x hexadecimal; none is 0. */
static int read_place(struct reader *reader, struct filter *filter)
{
	static const char expected[] = "a number is expected, decimal or 0x hexadecimal";
	const char *at = reader->at;
	const bool is_index = *at == '[';
	int base = 10;

	if (*at == '=')
		return 0;
	at++;
	if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
		at += 2;
		base = 16;
	}
	/* strtoull() alone would also take spaces, a sign and a second 0x */
	size_t digits = strspn(at, base == 16 ? "0123456789abcdefABCDEF" : "0123456789");

	if (!digits || at[digits] != (is_index ? ']' : '='))
		return fail(reader, at + digits, expected);
	if (is_index && at[digits + 1] != '=')
		return fail(reader, at + digits + 1, "'=' is expected");
	errno = 0;
	*(is_index ? &filter->slot_index : &filter->slot_offset) = strtoull(at, NULL, base);
	return errno ? fail(reader, at, "the number is too large") : 0;
}

/* *SYMBOL=NAME, *SYMBOL+OFFSET=NAME, *SYMBOL[INDEX]=NAME; @LIB may follow. */
static int read_slot(struct reader *reader, struct filter *filter)
{
	const char *symbol = reader->text + 1;
	const char *symbol_end = symbol + strcspn(symbol, "+=[");
	const char *name = strchr(reader->text, '=') + 1;
	const char *stray = strpbrk(symbol, "*?[\\@");
	const char *wild = name + strcspn(name, "*?[\\/@");

	if (symbol_end == symbol)
		return fail(reader, symbol, "a data symbol's name is expected");
	if (stray && stray < symbol_end)
		return fail(reader, stray, "a data symbol's plain name is expected");
	reader->at = symbol_end;
	int result = read_place(reader, filter);

	if (result)
		return result;
	if (!*name || *name == '@' || (*wild && *wild != '@'))
		return fail(reader, wild, "what to call the function must be a plain name");
	filter->slot_symbol = xstrndup(symbol, (size_t)(symbol_end - symbol));
	reader->at = name;
	result = read_rule(reader, filter, false, reader->text);
	if (!result && *reader->at)
		return fail(reader, reader->at, "nothing can stand behind a slot's name");
	return result;
}

/* ------------------------------------------------------------------ filters */

int filter_parse(struct filter *filter, const char *text, enum filter_syntax syntax, char **error)
{
	struct reader reader = {text, text, syntax, error};
	int result;

	*filter = (struct filter){.rules = VEC_OF(struct filter_rule)};
	*error = NULL;
	if (*text != '*' || !strchr(text, '='))
		result = read_chain(&reader, filter);
	else if (syntax == FILTER_ENTRIES)
		result = read_slot(&reader, filter);
	else
		result = fail(&reader, text, "a slot (*SYMBOL[INDEX]=NAME) cannot be used here");
	if (result)
		filter_deinit(filter);
	return result;
}

static struct filter_rule *rule_at(const struct filter *filter, size_t index)
{
	return vec_at(&filter->rules, index);
}

void filter_deinit(struct filter *filter)
{
	for (size_t i = 0; i < filter->rules.count; i++)
		rule_deinit(rule_at(filter, i));
	vec_deinit(&filter->rules);
	free(filter->slot_symbol);
	filter->slot_symbol = NULL;
}

static bool name_fits(const struct pattern *pattern, const char *name)
{
	return name && pattern_matches(pattern, name);
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* A file of the name that `path` has, in the directory of `other`; NULL: not to be told. Freed. */
static char *path_beside(const char *other, const char *path)
{
	const char *slash = other ? strrchr(other, '/') : NULL;

	return slash ? xasprintf("%.*s/%s", (int)(slash - other), other, base_name(path)) : NULL;
}

/*
 * A file may have other paths than the one it was loaded by: /lib is a link to /usr/lib on most
 * machines. One that is given plainly may be any of them; what a pattern matches must be one by
 * which it was loaded, what that leads to, or its name there.
 */
static bool path_fits(const struct pattern *pattern, const struct filter_module *module)
{
	if (pattern_matches(pattern, module->path) || name_fits(pattern, module->mapped) ||
	    name_fits(pattern, module->listed))
		return true;
	_cleanup_free_ char *beside = path_beside(module->mapped, module->path);

	if (name_fits(pattern, beside))
		return true;
	_cleanup_free_ char *real = realpath(module->path, NULL);
	_cleanup_free_ char *asked = pattern->kind == PATTERN_PLAIN ? realpath(pattern->text, NULL)
								    : NULL;

	return real && (pattern_matches(pattern, real) || (asked && !strcmp(asked, real)));
}

static bool rule_fits(const struct filter_rule *rule, const struct filter_module *module)
{
	if (rule->library == LIBRARY_MAIN)
		return module->is_main;
	if (rule->library == LIBRARY_PATH)
		return path_fits(&rule->module, module);
	return name_fits(&rule->module, module->soname) ||
	       name_fits(&rule->module, base_name(module->path)) ||
	       name_fits(&rule->module, base_name(module->mapped)) ||
	       name_fits(&rule->module, base_name(module->listed));
}

bool filter_enter(struct filter *filter, const struct filter_module *module)
{
	bool any = false;

	for (size_t i = 0; i < filter->rules.count; i++) {
		struct filter_rule *rule = rule_at(filter, i);

		rule->applies = rule_fits(rule, module);
		if (rule->applies && !rule->subtracts)
			any = true;
		else if (rule->applies && rule->symbol.kind == PATTERN_ANY)
			any = false;
	}
	if (!any)
		filter_missed(filter, NULL, MISS_TAKEN_BACK);
	return any;
}

/* The name without a version: itself, or a copy of its beginning in *copy. */
static const char *without_version(const char *name, char **copy)
{
	size_t length = strcspn(name, "@");

	if (!name[length])
		return name;
	*copy = xstrndup(name, length);
	return *copy;
}

struct filter_rule *filter_asks(const struct filter *filter, const char *name)
{
	_cleanup_free_ char *copy = NULL;
	const char *plain = without_version(name, &copy);
	struct filter_rule *asking = NULL;

	for (size_t i = 0; i < filter->rules.count; i++) {
		struct filter_rule *rule = rule_at(filter, i);

		/* What was named by one rule is meant by name, whatever others match it, too. */
		bool changes = rule->subtracts ? asking != NULL
					       : !asking || rule->symbol.kind == PATTERN_PLAIN;

		if (rule->applies && changes && pattern_matches(&rule->symbol, plain))
			asking = rule->subtracts ? NULL : rule;
	}
	return asking;
}

bool filter_excludes(const struct filter *filter, const char *name)
{
	for (size_t i = 0; i < filter->rules.count; i++) {
		const struct filter_rule *rule = rule_at(filter, i);

		if (rule->applies && rule->subtracts && pattern_matches(&rule->symbol, name))
			return true;
	}
	return false;
}

bool filter_is_plain(const struct filter *filter)
{
	for (size_t i = 0; i < filter->rules.count; i++) {
		const struct filter_rule *rule = rule_at(filter, i);

		if (rule->applies && !rule->subtracts && rule->symbol.kind != PATTERN_PLAIN)
			return false;
	}
	return true;
}

bool filter_asks_all(const struct filter *filter)
{
	for (size_t i = 0; i < filter->rules.count; i++) {
		const struct filter_rule *rule = rule_at(filter, i);

		if (rule->applies && !rule->subtracts &&
		    (rule->symbol.kind != PATTERN_PLAIN || rule->library == LIBRARY_MAIN ||
		     rule->module.kind != PATTERN_ANY))
			return true;
	}
	return false;
}

bool filter_may_ask(const struct filter *filter, const char *name)
{
	for (size_t i = 0; i < filter->rules.count; i++) {
		const struct filter_rule *rule = rule_at(filter, i);

		if (!rule->subtracts && pattern_matches(&rule->symbol, name))
			return true;
	}
	return false;
}

void filter_found(struct filter *filter, const char *name)
{
	for (size_t i = 0; i < filter->rules.count; i++) {
		struct filter_rule *rule = rule_at(filter, i);

		if (rule->applies && !rule->matched && pattern_matches(&rule->symbol, name))
			rule->matched = true;
	}
}

void filter_missed(struct filter *filter, const char *name, enum filter_miss miss)
{
	for (size_t i = 0; i < filter->rules.count; i++) {
		struct filter_rule *rule = rule_at(filter, i);

		if (rule->applies && miss > rule->miss &&
		    (!name || pattern_matches(&rule->symbol, name)))
			rule->miss = miss;
	}
}
