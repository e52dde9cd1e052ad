/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -x NAME, where NAME is a span of a .conf file.
 *
 * The functions that the span is made of are planted instead. Their own calls are hidden, unless
 * the user has asked for them by another filter.
 */
#include "target/span_filters.h"

#include "base/diag.h"
#include "base/xalloc.h"
#include "probe/expression.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool fail(const struct span *span, const char *text, struct expression_error *error)
{
	char safe[256];

	diag("%s:%u: span %s: '%s', column %zu: %s", span->file, span->line, span->name,
	     diag_safe(safe, sizeof safe, text), error->column, error->message);
	free(error->message);
	return false;
}

/* Parses an expression of a span. Returns false on a mistake, which is reported. */
static bool parse(const struct span *span, const char *text, struct expression **expression)
{
	struct expression_error error;

	*expression = text ? expression_parse(text, &error) : NULL;
	return *expression || !text || fail(span, text, &error);
}

static bool parse_key(const struct span *span, const char *text, struct vec *key)
{
	struct expression_error error;

	vec_init(key, sizeof(struct expression *));
	return !text || expression_parse_list(text, key, &error) || fail(span, text, &error);
}

static bool parse_all(struct active_span *active)
{
	const struct span *span = active->span;
	bool is_right = parse_key(span, span->by, &active->key) &&
			parse_key(span, span->with_by, &active->with_key) &&
			parse(span, span->begin.condition, &active->begin) &&
			parse(span, span->with.condition, &active->with);

	for (unsigned i = 0; i < span->end_count && is_right; i++)
		is_right = parse(span, span->ends[i].condition, &active->ends[i]);
	return is_right;
}

static bool has(const struct vec *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(*(const char **)vec_at(names, i), name))
			return true;
	return false;
}

static void add_name(struct vec *names, const char *name)
{
	if (!has(names, name))
		vec_push(names, &name);
}

static void add_functions(const struct span *span, struct vec *names)
{
	add_name(names, span->begin.function);
	for (unsigned i = 0; i < span->end_count; i++)
		add_name(names, span->ends[i].function);
	if (span->with.function)
		add_name(names, span->with.function);
}

/* Returns true if a filter of the user's may select the function. */
static bool is_asked_for(const struct vec *filters, const char *name)
{
	for (size_t i = 0; i < filters->count; i++) {
		const char *text = *(const char **)vec_at(filters, i);
		struct filter filter;
		char *message = NULL;
		bool asks = false;

		if (filter_parse(&filter, text, FILTER_ENTRIES, &message) == 0) {
			asks = filter_may_ask(&filter, name);
			filter_deinit(&filter);
		}
		free(message);
		if (asks)
			return true;
	}
	return false;
}

static bool is_active(const struct target *target, const struct span *span)
{
	for (size_t i = 0; i < target->spans.spans.count; i++)
		if (((const struct active_span *)vec_at(&target->spans.spans, i))->span == span)
			return true;
	return false;
}

int span_filters_set_up(struct target *target)
{
	const struct vec *given = target->options->entry_filters;
	struct vec functions = VEC_OF(const char *), *filters = &target->entry_filters;
	bool is_right = true;

	vec_init(filters, sizeof(const char *));
	vec_init(&target->optional_filters, sizeof(const char *));
	vec_init(&target->spans.spans, sizeof(struct active_span));
	vec_init(&target->spans.hidden, sizeof(const char *));
	for (size_t i = 0; i < given->count && is_right; i++) {
		const char *text = *(const char **)vec_at(given, i);
		const bool is_optional = has(target->options->optional_filters, text);
		struct active_span active = {0};

		if (filter_is_name(text))
			active.span = proto_search_span(target->prototypes, text);
		if (!active.span) {
			vec_push(filters, &text);
			if (is_optional)
				vec_push(&target->optional_filters, &text);
			continue;
		}
		if (is_active(target, active.span))
			continue; /* it is named twice, as by two recipes */
		is_right = parse_all(&active);
		vec_push(&target->spans.spans, &active);
		add_functions(active.span, &functions);
		if (is_optional)
			add_functions(active.span, &target->optional_filters);
	}
	for (size_t i = 0; i < functions.count; i++) {
		const char *name = *(const char **)vec_at(&functions, i);

		if (!is_asked_for(filters, name))
			vec_push(&target->spans.hidden, &name);
	}
	for (size_t i = 0; i < functions.count; i++)
		add_name(filters, *(const char **)vec_at(&functions, i));
	vec_deinit(&functions);
	return is_right ? 0 : -EBADMSG;
}

void span_filters_free(struct target *target)
{
	for (size_t i = 0; i < target->spans.spans.count; i++) {
		struct active_span *active = vec_at(&target->spans.spans, i);

		expression_list_free(&active->key);
		expression_list_free(&active->with_key);
		expression_free(active->begin);
		expression_free(active->with);
		for (unsigned k = 0; k < SPAN_ENDS; k++)
			expression_free(active->ends[k]);
	}
	vec_deinit(&target->spans.spans);
	vec_deinit(&target->spans.hidden);
	vec_deinit(&target->entry_filters);
	vec_deinit(&target->optional_filters);
}
