/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses filters, and evaluates a chain of rules for a name. filter_lexer.c finds where the halves
 * of a rule end.
 *
 * A filter that begins with '*' is a data word (*SYMBOL[INDEX]=NAME) only if it contains a '=',
 * since `*alloc` is a valid glob, and no symbol contains a '='. C++ operators do, but have a "::"
 * in front of it: `*::operator==` is a glob.
 *
 * Which rules apply to a module is computed once per module (filter_enter()), because a module has
 * thousands of names.
 */
#include "probe/filter.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "probe/filter_lexer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The state of parsing one filter. */
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

/* ------------------------------------------------------------------ halves */

/* Reads a glob, of a SYMBOL or a LIB. */
static int read_glob(struct reader *reader, bool is_library, struct pattern *pattern)
{
	const char *stray;
	const char *end = filter_end_of_glob(reader->at, is_library, &stray);

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
	const char *end = *start == '/' ? filter_end_of_name_regex(start, false) : NULL;

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

/* Reports a regular expression without an end. A '/' may be there, but where a half cannot end. */
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

/* Reads a SYMBOL between slashes. If there is an '@' between them, they contain both halves. */
static int read_regex(struct reader *reader, struct filter_rule *rule)
{
	const char *start = reader->at;
	const char *end = filter_end_of_regex(start, true);

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

/* Skips a version, `@@VERSION`. */
static void skip_version(struct reader *reader)
{
	if (reader->at[0] == '@' && reader->at[1] == '@')
		reader->at += 2 + strcspn(reader->at + 2, "@+-");
}

/* Returns true if the rule is one of -l that consists of a LIB only. */
static bool is_bare_library(const struct reader *reader)
{
	const char *stray;
	const char *end;

	if (reader->syntax != FILTER_LIBRARIES)
		return false;
	if (*reader->at == '/') {
		end = filter_end_of_name_regex(reader->at, true);
		if (end)
			return end[1] != '@' &&
			       !memchr(reader->at, '@', (size_t)(end - reader->at));
	}
	/* The + of an operator belongs to a SYMBOL: operator+@libx. */
	end = filter_end_of_glob(reader->at, false, &stray);
	if (end && *end == '@')
		return false;
	end = filter_end_of_glob(reader->at, true, &stray);
	return end && *end != '@';
}

/* Reads the SYMBOL of a rule, and the LIB if that is between the same slashes. */
static int read_symbol(struct reader *reader, struct filter_rule *rule)
{
	int result = *reader->at == '/' ? read_regex(reader, rule)
					: read_glob(reader, false, &rule->symbol);

	if (!result)
		pattern_means_functions(&rule->symbol);
	return result;
}

/* [SYMBOL][@LIB] */
static int read_halves(struct reader *reader, struct filter_rule *rule)
{
	const char *start = reader->at;

	if (!*start || filter_is_sign(*start))
		return fail(reader, start, "a function's name or @LIB is expected");
	if (is_bare_library(reader))
		return read_library(reader, rule);
	int result = read_symbol(reader, rule);

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

/*
 * Reads a rule behind its sign, up to the sign of the next one. `start`: where its text for
 * messages begins.
 */
static int read_rule(struct reader *reader, struct filter *filter, bool subtracts,
		     const char *start)
{
	struct filter_rule rule = {.subtracts = subtracts};
	int result = read_halves(reader, &rule);

	if (!result && *reader->at == '@')
		result = fail(reader, reader->at, "a second '@'");
	else if (!result && *reader->at && !filter_is_sign(*reader->at))
		result = fail(reader, reader->at, "'+', '-' or the end is expected");
	if (result) {
		rule_deinit(&rule);
		return result;
	}
	rule.text = xstrndup(start, (size_t)(reader->at - start));
	vec_push(&filter->rules, &rule);
	return 0;
}

/* At the beginning of a filter '!' means '-', as in ltrace. */
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

/* ------------------------------------------------------------------ data words */

/* Reads +OFFSET or [INDEX], decimal or 0x hexadecimal; if left out it is 0. */
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
	/* strtoull() alone would also accept spaces, a sign and a second 0x */
	size_t digits = strspn(at, base == 16 ? "0123456789abcdefABCDEF" : "0123456789");

	if (!digits || at[digits] != (is_index ? ']' : '='))
		return fail(reader, at + digits, expected);
	if (is_index && at[digits + 1] != '=')
		return fail(reader, at + digits + 1, "'=' is expected");
	errno = 0;
	*(is_index ? &filter->slot_index : &filter->slot_offset) = strtoull(at, NULL, base);
	return errno ? fail(reader, at, "the number is too large") : 0;
}

/* Reads *SYMBOL=NAME, *SYMBOL+OFFSET=NAME or *SYMBOL[INDEX]=NAME; @LIB may follow. */
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

static bool is_slot(const char *text)
{
	const char *equals = *text == '*' ? strchr(text, '=') : NULL;
	const char *scope = equals ? strstr(text, "::") : NULL;

	return equals && (!scope || scope > equals);
}

int filter_parse(struct filter *filter, const char *text, enum filter_syntax syntax, char **error)
{
	struct reader reader = {text, text, syntax, error};
	int result;

	*filter = (struct filter){.rules = VEC_OF(struct filter_rule)};
	*error = NULL;
	if (!is_slot(text))
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

/*
 * Returns the path of a file named like `path` in the directory of `other`, or NULL. The caller
 * frees it.
 */
static char *path_beside(const char *other, const char *path)
{
	const char *slash = other ? strrchr(other, '/') : NULL;

	return slash ? xasprintf("%.*s/%s", (int)(slash - other), other, base_name(path)) : NULL;
}

/*
 * A file may have other paths than the one it was loaded by: /lib is a symbolic link to /usr/lib on
 * most systems. A plain path may be any of the file's paths. A pattern has to match a path by which
 * the file was loaded, the path that leads to, or the path with the loaded name beside that file.
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

/* Returns the ".so" in a library's file name that ends the name or has a version behind it. */
static const char *find_suffix(const char *name)
{
	const char *suffix = strstr(name, ".so");

	while (suffix && suffix[3] && suffix[3] != '.')
		suffix = strstr(suffix + 3, ".so");
	return suffix;
}

/* Returns true if `text` is a short name of the library: libssl or ssl for libssl.so.3. */
static bool is_short_name(const char *text, const char *name)
{
	const char *suffix = name ? find_suffix(name) : NULL;
	const size_t length = suffix ? (size_t)(suffix - name) : 0;
	const size_t given = strlen(text);

	return given && (length == given || (length == given + 3 && !strncmp(name, "lib", 3))) &&
	       !strncmp(name + length - given, text, given);
}

/*
 * A short name is a guess, so it counts only where it could mean nothing else: with wildcards it
 * would match more than it says, a name with .so is one already, and if it is the program's
 * (curl, which loads libcurl.so.4), it means the program.
 */
static bool short_name_fits(const struct pattern *pattern, const struct filter_module *module)
{
	const char *program = base_name(module->program);

	if (pattern->kind != PATTERN_PLAIN || find_suffix(pattern->text) ||
	    (program && !strcmp(program, pattern->text)))
		return false;
	return is_short_name(pattern->text, module->soname) ||
	       is_short_name(pattern->text, base_name(module->path)) ||
	       is_short_name(pattern->text, base_name(module->mapped)) ||
	       is_short_name(pattern->text, base_name(module->listed));
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
	       name_fits(&rule->module, base_name(module->listed)) ||
	       short_name_fits(&rule->module, module);
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

/* Returns the name without its version: `name` itself, or a copy of its beginning in *copy. */
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

		/* A rule with the plain name takes precedence over patterns that match it, too. */
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

		if (rule->applies && !rule->subtracts && !pattern_is_symbol(&rule->symbol))
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

bool filter_is_name(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return !*text;
}
