/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filters of a replay choose among what was recorded, as those of a live trace choose among
 * what is there: -x names entries of functions, -e calls made from modules, and -g and -L leave out
 * the calls of the main program. Without any of these, all is shown.
 *
 * They are compared with the symbols and modules of the traced machine, which are in the file.
 */
#include "replay/replay_filter.h"

#include "base/diag.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "probe/filter.h"

#include <stdlib.h>
#include <string.h>

enum { SAFE_MAX = 256 };

struct replay_filter {
	struct replay_wishes wishes;
	struct vec calls, entries; /* struct filter */
	struct map shown;	   /* id + 1 → this if it is shown, else &shown */
};

static bool parse(const struct vec *texts, enum filter_syntax syntax, struct vec *filters)
{
	vec_init(filters, sizeof(struct filter));
	for (size_t i = 0; i < texts->count; i++) {
		const char *text = *(const char **)vec_at(texts, i);
		char safe[SAFE_MAX];
		struct filter filter;
		char *error;

		if (filter_parse(&filter, text, syntax, &error)) {
			diag("-%c %s: %s", syntax == FILTER_CALLS ? 'e' : 'x',
			     diag_safe(safe, sizeof safe, text), error);
			free(error);
			return false;
		}
		vec_push(filters, &filter);
	}
	return true;
}

struct replay_filter *replay_filter_create(const struct replay_wishes *wishes)
{
	struct replay_filter *filter = xcalloc(1, sizeof *filter);
	const bool are_calls = parse(wishes->calls, FILTER_CALLS, &filter->calls);

	filter->wishes = *wishes;
	if (parse(wishes->entries, FILTER_ENTRIES, &filter->entries) && are_calls)
		return filter;
	replay_filter_destroy(filter);
	return NULL;
}

static void free_filters(struct vec *filters)
{
	for (size_t i = 0; i < filters->count; i++)
		filter_deinit(vec_at(filters, i));
	vec_deinit(filters);
}

void replay_filter_destroy(struct replay_filter *filter)
{
	if (!filter)
		return;
	free_filters(&filter->calls);
	free_filters(&filter->entries);
	map_deinit(&filter->shown);
	free(filter);
}

/* Asks all filters, so that each knows what it has matched. */
static bool asks(const struct vec *filters, const struct probe_info *probe)
{
	const struct filter_module module = {.soname = probe->origin.soname,
					     .path = probe->origin.path ? probe->origin.path
									: probe->module,
					     .is_main = probe->origin.is_main};
	const char *symbol = probe->origin.symbol ? probe->origin.symbol : probe->name;
	bool any = false;

	for (size_t i = 0; i < filters->count; i++) {
		struct filter *filter = vec_at(filters, i);

		if (!filter_enter(filter, &module) || !filter_asks(filter, symbol))
			continue;
		filter_found(filter, symbol);
		any = true;
	}
	return any;
}

static bool is_asked_for(const struct replay_filter *filter, const struct probe_info *probe)
{
	const struct replay_wishes *wishes = &filter->wishes;

	if (!wishes->calls->count && !wishes->entries->count && !wishes->no_default &&
	    !wishes->entries_only)
		return true;
	if (probe->kind == PROBE_CALL)
		return wishes->calls->count ? asks(&filter->calls, probe)
					    : !wishes->no_default && !wishes->entries_only;
	if (probe->kind == PROBE_SYSTEM && (wishes->system_calls || asks(&filter->calls, probe)))
		return true;
	return asks(&filter->entries, probe);
}

bool replay_filter_shows(struct replay_filter *filter, const struct probe_info *probe)
{
	const uint64_t key = (uint64_t)probe->id + 1;
	const void *known = map_get(&filter->shown, key);

	if (!known) {
		known = is_asked_for(filter, probe) ? (void *)filter : (void *)&filter->shown;
		map_put(&filter->shown, key, (void *)(uintptr_t)known);
	}
	return known == filter;
}

static bool is_optional(const struct replay_filter *filter, const char *text)
{
	for (size_t i = 0; i < filter->wishes.optional->count; i++)
		if (*(const char **)vec_at(filter->wishes.optional, i) == text)
			return true;
	return false;
}

/* Returns how many rules have matched nothing. */
static size_t list(const struct replay_filter *filter, const struct vec *filters,
		   const struct vec *texts, char option, bool is_quiet)
{
	char safe[SAFE_MAX];
	size_t unmatched = 0;

	for (size_t i = 0; i < filters->count; i++) {
		const struct filter *one = vec_at(filters, i);
		const char *text = *(const char **)vec_at(texts, i);

		for (size_t k = 0; k < one->rules.count && !is_optional(filter, text); k++) {
			const struct filter_rule *rule = vec_at(&one->rules, k);

			if (!rule->text || rule->subtracts || rule->matched)
				continue;
			unmatched++;
			if (!is_quiet)
				diag("-%c %s: no such function is in the trace", option,
				     diag_safe(safe, sizeof safe, rule->text));
		}
	}
	return unmatched;
}

size_t replay_filter_list_unmatched(const struct replay_filter *filter, bool is_quiet)
{
	return list(filter, &filter->calls, filter->wishes.calls, 'e', is_quiet) +
	       list(filter, &filter->entries, filter->wishes.entries, 'x', is_quiet);
}
