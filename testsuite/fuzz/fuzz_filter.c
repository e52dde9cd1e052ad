/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters of the command line, and names that they are asked about. */
#include "fuzz.h"
#include "probe/filter.h"

#include <string.h>

enum {
	TEXT_MAX = 200,
	STARS_MAX = 6 /* fnmatch(3) tries all ways of so many */
};

static const char *const names[] = {"",
				    "a",
				    "malloc",
				    "mysql_real_query@@libmysqlclient_18",
				    "_Z1fv",
				    "_ZN2ns5KlassIiE6methodIdEEvT_",
				    "_ZNSt6vectorIiSaIiEEltERKS1_",
				    "_RNvCs1234_7mycrate3foo",
				    "_D3app4Item3runMxFiZi"};

static const struct filter_module modules[] = {
	{.soname = NULL, .path = "", .is_main = true},
	{.soname = NULL, .path = "/usr/bin/some-prog", .is_main = true},
	{.soname = "libc.so.6", .path = "/usr/lib/x86_64-linux-gnu/libc.so.6", .is_main = false},
	{.soname = "libstdc++.so.6", .path = "libstdc++.so.6.0.30", .is_main = false},
};

/*
 * What regcomp(3) and regexec(3) take hours or gigabytes for is their users' to avoid, and theirs
 * alone: bounds, and references to what was matched before.
 */
static bool is_costly(const char *text)
{
	size_t stars = 0;

	for (const char *at = text; *at; at++) {
		if (*at == '\\' && (at[1] == '{' || (at[1] >= '0' && at[1] <= '9')))
			return true;
		stars += *at == '*';
	}
	return stars > STARS_MAX;
}

static void check_rules(const struct filter *filter, const char *text)
{
	MUST(filter->rules.count > 0);
	for (size_t i = 0; i < filter->rules.count; i++) {
		const struct filter_rule *rule = vec_at(&filter->rules, i);

		MUST(rule->text ? strstr(text, rule->text) != NULL
				: i == 0 && (*text == '-' || *text == '!'));
		MUST((rule->symbol.kind == PATTERN_REGEX) == (rule->symbol.regex != NULL));
		MUST(rule->symbol.kind == PATTERN_ANY || rule->symbol.text);
	}
}

static void ask(struct filter *filter)
{
	for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
		bool entered = filter_enter(filter, &modules[i]);

		for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
			const struct filter_rule *rule = filter_asks(filter, names[k]);

			MUST(!rule || (entered && rule->applies && !rule->subtracts));
			MUST(!rule || !filter_is_plain(filter) ||
			     rule->symbol.kind == PATTERN_PLAIN);
			MUST(!rule ||
			     filter_may_ask(filter, rule->symbol.kind == PATTERN_PLAIN
							    ? rule->symbol.text
							    : names[k]) ||
			     strchr(names[k], '@'));
		}
		filter_asks_all(filter);
		filter_found(filter, names[i]);
		filter_missed(filter, NULL, MISS_NAME);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TEXT_MAX + 1] = "";
	struct filter filter;
	char *error;

	if (size < 1 || size > TEXT_MAX)
		return 0;
	memcpy(text, data + 1, size - 1);
	if (is_costly(text))
		return 0;
	if (filter_parse(&filter, text, data[0] % 3, &error)) {
		MUST(error && strstr(error, "character"));
		free(error);
		return 0;
	}
	MUST(!error);
	check_rules(&filter, text);
	ask(&filter);
	filter_deinit(&filter);
	return 0;
}
