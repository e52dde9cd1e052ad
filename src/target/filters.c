/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filters of a session: -e, -l and -x, and which of their rules matched nothing. */
#include "target/filters.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "target/syscalls/syscalls.h"
#include "target/target_state.h"

#include <stdlib.h>
#include <string.h>

static int parse(struct target *target, struct vec *filters, const struct vec *texts,
		 enum filter_syntax syntax, const char *option)
{
	for (size_t i = 0; i < texts->count; i++) {
		struct filter filter;
		char *message = NULL;
		int error = filter_parse(&filter, *(const char **)vec_at(texts, i), syntax,
					 &message);

		if (error) {
			diag("%s: %s", option, message ? message : strerror(-error));
			target->bad_filter = true;
			free(message);
			return error;
		}
		vec_push(filters, &filter);
	}
	return 0;
}

/* Without filters: the calls of the main program. */
static int parse_default(struct target *target, struct vec *filters)
{
	static const char *const everything_main = "@MAIN";
	struct vec texts = VEC_OF(const char *);

	vec_push(&texts, &everything_main);
	int error = parse(target, filters, &texts, FILTER_CALLS, "-e");

	vec_deinit(&texts);
	return error;
}

int filters_parse(struct target *target, struct match_filters *filters)
{
	const struct session_options *options = target->options;

	vec_init(&filters->calls, sizeof(struct filter));
	vec_init(&filters->libraries, sizeof(struct filter));
	vec_init(&filters->entries, sizeof(struct filter));
	int error = parse(target, &filters->calls, options->call_filters, FILTER_CALLS, "-e");

	if (!error)
		error = parse(target, &filters->libraries, options->callee_filters,
			      FILTER_LIBRARIES, "-l");
	if (!error)
		error = parse(target, &filters->entries, &target->entry_filters, FILTER_ENTRIES,
			      "-x");
	if (error || filters->calls.count || filters->libraries.count || options->no_default ||
	    options->entries_only)
		return error;
	return parse_default(target, &filters->calls);
}

int filters_set_up(struct target *target)
{
	int error = filters_parse(target, &target->filters);

	if (error)
		return error;
	system_calls_set_up(target);
	target->calls_named = target->options->call_filters->count ||
			      target->options->callee_filters->count;
	return 0;
}

static void free_all(struct vec *filters)
{
	for (size_t i = 0; i < filters->count; i++)
		filter_deinit(vec_at(filters, i));
	vec_deinit(filters);
}

void filters_free(struct match_filters *filters)
{
	free_all(&filters->calls);
	free_all(&filters->libraries);
	free_all(&filters->entries);
}

/* ------------------------------------------------------------------ unmatched rules */

static const char *why_unmatched(const struct filter_rule *rule)
{
	switch (rule->miss) {
	case MISS_MODULE:
		return "matched nothing: no such module was loaded";
	case MISS_TAKEN_BACK:
		return "matched nothing: rules behind it take all of it back";
	case MISS_UNCALLED:
		return "matched nothing: no other module calls it by its functions' names";
	case MISS_NAME:
		break;
	case MISS_UNKNOWN:
		return "matched nothing, but the file of a module was gone, replaced or out of "
		       "reach, so only what it exports is known";
	case MISS_SYMBOLS:
		return "matched nothing: its module was stripped of all symbols";
	case MISS_NO_STUB:
		return "matched nothing: its address is taken, but it is not called by its name; -x "
		       "traces the function itself";
	case MISS_NO_FUNCTION:
		return "matched nothing: what has that name is not a function";
	case MISS_EMPTY:
		return "the word that is to hold its address never held that of code";
	}
	return "matched nothing";
}

static void list_unmatched_of(struct target *target, const struct filter *filter,
			      const char *option)
{
	for (size_t k = 0; k < filter->rules.count; k++) {
		const struct filter_rule *rule = vec_at(&filter->rules, k);

		if (rule->matched || rule->subtracts || !rule->text)
			continue;
		_cleanup_free_ char *thing = xasprintf("%s %s", option, rule->text);

		untraced_thing(target->untraced, thing, why_unmatched(rule));
	}
}

static void list_unmatched(struct target *target, const struct vec *filters, const char *option)
{
	for (size_t i = 0; i < filters->count; i++)
		list_unmatched_of(target, vec_at(filters, i), option);
}

static bool is_matched(const struct filter *filter)
{
	for (size_t k = 0; k < filter->rules.count; k++)
		if (((const struct filter_rule *)vec_at(&filter->rules, k))->matched)
			return true;
	return false;
}

static bool is_optional(const struct target *target, size_t index)
{
	const char *text = *(const char **)vec_at(&target->entry_filters, index);

	for (size_t i = 0; i < target->optional_filters.count; i++)
		if (!strcmp(*(const char **)vec_at(&target->optional_filters, i), text))
			return true;
	return false;
}

/* Of what recipes name, it is enough that something was found. */
static void list_unmatched_entries(struct target *target)
{
	const struct vec *filters = &target->filters.entries;
	bool has_optional = false, is_one_found = false;

	for (size_t i = 0; i < filters->count; i++) {
		if (!is_optional(target, i)) {
			list_unmatched_of(target, vec_at(filters, i), "-x");
			continue;
		}
		has_optional = true;
		is_one_found |= is_matched(vec_at(filters, i));
	}
	if (has_optional && !is_one_found)
		untraced_thing(target->untraced, "what the recipe names", "matched nothing");
}

void filters_list_unmatched(struct target *target)
{
	if (!target->looked)
		return;
	list_unmatched_entries(target);
	if (target->calls_named)
		list_unmatched(target, &target->filters.calls, "-e");
	list_unmatched(target, &target->filters.libraries, "-l");
}
