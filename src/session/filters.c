/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filters of a session: -e, -l and -x, and which of their rules matched nothing. */
#include "session/private.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

static int parse(struct session *session, struct vec *filters, const struct vec *texts,
		 enum filter_syntax syntax, const char *option)
{
	for (size_t i = 0; i < texts->count; i++) {
		struct filter filter;
		char *message = NULL;
		int error = filter_parse(&filter, *(const char **)vec_at(texts, i), syntax,
					 &message);

		if (error) {
			diag("%s: %s", option, message ? message : strerror(-error));
			session->result->bad_filter = true;
			free(message);
			return error;
		}
		vec_push(filters, &filter);
	}
	return 0;
}

/* The calls of the main program. */
static int parse_default(struct session *session, struct vec *filters)
{
	static const char *const everything_main = "@MAIN";
	struct vec texts = VEC_OF(const char *);

	vec_push(&texts, &everything_main);
	int error = parse(session, filters, &texts, FILTER_CALLS, "-e");

	vec_deinit(&texts);
	return error;
}

int filters_parse(struct session *session, struct match_filters *filters)
{
	const struct session_options *options = session->options;

	vec_init(&filters->calls, sizeof(struct filter));
	vec_init(&filters->libraries, sizeof(struct filter));
	vec_init(&filters->entries, sizeof(struct filter));
	int error = parse(session, &filters->calls, options->call_filters, FILTER_CALLS, "-e");

	if (!error)
		error = parse(session, &filters->libraries, options->callee_filters,
			      FILTER_LIBRARIES, "-l");
	if (!error)
		error = parse(session, &filters->entries, options->entry_filters, FILTER_ENTRIES,
			      "-x");
	if (error || filters->calls.count || filters->libraries.count || options->no_default ||
	    options->entries_only)
		return error;
	return parse_default(session, &filters->calls);
}

int filters_set_up(struct session *session)
{
	int error = filters_parse(session, &session->filters);

	if (error)
		return error;
	system_calls_set_up(session);
	session->calls_named = session->options->call_filters->count ||
			       session->options->callee_filters->count;
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

/* ------------------------------------------------------------------ what matched nothing */

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

static void list_unmatched(struct session *session, const struct vec *filters, const char *option)
{
	for (size_t i = 0; i < filters->count; i++) {
		const struct filter *filter = vec_at(filters, i);

		for (size_t k = 0; k < filter->rules.count; k++) {
			const struct filter_rule *rule = vec_at(&filter->rules, k);

			if (rule->matched || rule->subtracts || !rule->text)
				continue;
			_cleanup_free_ char *thing = xasprintf("%s %s", option, rule->text);

			untraced_thing(session->untraced, thing, why_unmatched(rule));
		}
	}
}

void filters_list_unmatched(struct session *session)
{
	if (!session->looked)
		return;
	list_unmatched(session, &session->filters.entries, "-x");
	if (session->calls_named)
		list_unmatched(session, &session->filters.calls, "-e");
	list_unmatched(session, &session->filters.libraries, "-l");
}
