/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parsing of filter patterns. NAME ends at the first '@' that is not inside brackets; what follows
 * is the module. A version pasted with the name from nm or readelf, `foo@@VERSION`, is taken for
 * what it is and not compared, like the versions of symbols.
 *
 * A pattern that begins with '*' is a slot only if it has a '=', as `*alloc` is a good glob and no
 * symbol's name has a '='.
 */
#include "probe/filter.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *text, const char *at, const char *what, char **error)
{
	*error = xasprintf("'%s', character %zu: %s", text, (size_t)(at - text) + 1, what);
	return -EINVAL;
}

/* Behind the bracket expression that begins at `at`, or NULL when it has no end. */
static const char *skip_brackets(const char *at)
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

/* What a scan over a glob finds. */
struct glob_scan {
	const char *end; /* the first '@' outside brackets, or the end of the text */
	bool is_glob;
	const char *unbalanced; /* a '[' without ']', or NULL */
};

static struct glob_scan scan_glob(const char *text)
{
	struct glob_scan scan = {.end = text};

	while (*scan.end && *scan.end != '@') {
		if (strchr("*?[\\", *scan.end))
			scan.is_glob = true;
		if (*scan.end == '\\' && scan.end[1]) {
			scan.end += 2;
		} else if (*scan.end == '[') {
			const char *next = skip_brackets(scan.end);

			if (!next) {
				scan.unbalanced = scan.end;
				return scan;
			}
			scan.end = next;
		} else {
			scan.end++;
		}
	}
	return scan;
}

/* Passes a version, `@@VERSION`. */
static const char *skip_version(const char *at)
{
	return at[0] == '@' && at[1] == '@' ? at + 2 + strcspn(at + 2, "@") : at;
}

/* [@@VERSION][@MODULE] up to the end. */
static int parse_module(struct filter *filter, const char *text, const char *at, char **error)
{
	at = skip_version(at);
	if (!*at)
		return 0;
	const char *module = at + 1;
	struct glob_scan scan = scan_glob(module);

	if (!*module)
		return fail(text, module, "a module's name is expected after '@'", error);
	if (scan.unbalanced)
		return fail(text, scan.unbalanced, "'[' without ']'", error);
	if (*scan.end)
		return fail(text, scan.end, "a second '@'", error);
	filter->module = xstrdup(module);
	return 0;
}

/* NAME[@MODULE] */
static int parse_name(struct filter *filter, const char *text, const char *name, char **error)
{
	struct glob_scan scan = scan_glob(name);

	if (scan.unbalanced)
		return fail(text, scan.unbalanced, "'[' without ']'", error);
	if (scan.end == name)
		return fail(text, name, "a function's name is expected", error);
	filter->name = xstrndup(name, (size_t)(scan.end - name));
	filter->name_is_glob = scan.is_glob;
	return parse_module(filter, text, scan.end, error);
}

/* +OFFSET, decimal or 0x hexadecimal; none is 0. */
static int parse_offset(struct filter *filter, const char *text, const char *at, char **error)
{
	static const char expected[] = "an offset is expected, decimal or 0x hexadecimal";
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

	if (!digits || at[digits] != '=')
		return fail(text, at + digits, expected, error);
	errno = 0;
	filter->slot_offset = strtoull(at, NULL, base);
	return errno ? fail(text, at, "the offset is too large", error) : 0;
}

/* *SYMBOL[+OFFSET]=NAME[@MODULE] */
static int parse_slot(struct filter *filter, const char *text, char **error)
{
	const char *symbol = text + 1;
	const char *symbol_end = symbol + strcspn(symbol, "+=");
	const char *name = strchr(text, '=') + 1;
	const char *stray = strpbrk(symbol, "*?[\\@");
	int result;

	if (symbol_end == symbol)
		return fail(text, symbol, "a data symbol's name is expected", error);
	if (stray && stray < symbol_end)
		return fail(text, stray, "a data symbol's plain name is expected", error);
	result = parse_offset(filter, text, symbol_end, error);
	if (result)
		return result;
	filter->slot_symbol = xstrndup(symbol, (size_t)(symbol_end - symbol));
	result = parse_name(filter, text, name, error);
	if (!result && filter->name_is_glob)
		return fail(text, name + strcspn(name, "*?[\\"),
			    "what to call the function must be a plain name", error);
	return result;
}

int filter_parse(struct filter *filter, const char *text, bool allow_slot, char **error)
{
	int result;

	*filter = (struct filter){.text = xstrdup(text)};
	*error = NULL;
	if (*text == '*' && strchr(text, '='))
		result = allow_slot
				 ? parse_slot(filter, text, error)
				 : fail(text, text,
					"a slot (*SYMBOL+OFFSET=NAME) cannot be used here", error);
	else
		result = parse_name(filter, text, text, error);
	if (result)
		filter_deinit(filter);
	return result;
}

void filter_deinit(struct filter *filter)
{
	free(filter->text);
	free(filter->name);
	free(filter->module);
	free(filter->slot_symbol);
	*filter = (struct filter){0};
}

bool filter_matches_name(const struct filter *filter, const char *name)
{
	size_t length = strcspn(name, "@");

	if (!filter->name_is_glob)
		return strlen(filter->name) == length && !memcmp(filter->name, name, length);
	if (!name[length])
		return !fnmatch(filter->name, name, 0);
	_cleanup_free_ char *plain = xstrndup(name, length);

	return !fnmatch(filter->name, plain, 0);
}

bool filter_matches_module(const struct filter *filter, const char *soname, const char *path,
			   bool is_main)
{
	const char *slash = strrchr(path, '/');

	if (!filter->module)
		return true;
	if (!strcmp(filter->module, "MAIN"))
		return is_main;
	if (!fnmatch(filter->module, path, 0))
		return true;
	if (filter->module[0] == '/')
		return false;
	return (soname && !fnmatch(filter->module, soname, 0)) ||
	       !fnmatch(filter->module, slash ? slash + 1 : path, 0);
}
