/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expressions that fit none of the functions that are named.
 *
 * `-x getpid --if 'arg3 > 1'` would show nothing, and look as if getpid() was not called;
 * `--sum=arg3` would show 0. So it is an error. That can be told before anything is traced only if
 * each filter of -x is the name of a function whose prototype is in a .conf file; otherwise each
 * function that a condition does not fit is named when it is called first (sink/whole_calls.c).
 * Lines of --template are no such case: a value that a call does not have is `-` in them.
 */
#include "target/conditions.h"

#include "base/diag.h"
#include "base/xalloc.h"
#include "probe/expression_fit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct prototype *find(const struct target *target, const char *name)
{
	const struct protolib *libc = proto_search_library(target->prototypes, "libc.so.6");
	const struct prototype *found = protolib_find(proto_search_global(target->prototypes),
						      name);
	const char *library;

	if (!found && libc)
		found = protolib_find(libc, name);
	/* Of a name that several libraries have, it is not known which one it is. */
	return found ? found : proto_search_only(target->prototypes, name, "", &library);
}

/*
 * Returns true if the expression may fit the function of that name. If not, *why is the first
 * mistake, and *misfit the function; both are owned by the caller.
 */
static bool may_fit_name(const struct target *target, const struct expression *expression,
			 const char *name, struct expression_error *why, char **misfit)
{
	const struct prototype *prototype = filter_is_name(name) ? find(target, name) : NULL;
	struct expression_error error;

	if (!prototype || expression_fits(expression, PROBE_ENTRY, prototype, &error))
		return true;
	if (*misfit) {
		free(error.message);
		return false;
	}
	*why = error;
	*misfit = xstrdup(name);
	return false;
}

/* The same for a filter, which may be NAME+NAME. */
static bool may_fit_filter(const struct target *target, const struct expression *expression,
			   const char *filter, struct expression_error *why, char **misfit)
{
	char *names = xstrdup(filter), *rest = names;
	bool may_fit = false;

	for (const char *name; !may_fit && (name = strsep(&rest, "+"));)
		may_fit = may_fit_name(target, expression, name, why, misfit);
	free(names);
	return may_fit;
}

static bool check(const struct target *target, const char *option,
		  const struct expression *expression)
{
	const struct vec *filters = &target->entry_filters;
	struct expression_error why = {0};
	char *misfit = NULL;
	bool may_fit = !filters->count;

	for (size_t i = 0; i < filters->count && !may_fit; i++)
		may_fit = may_fit_filter(target, expression, *(const char **)vec_at(filters, i),
					 &why, &misfit);
	if (!may_fit)
		diag("%s, column %zu: it fits no call of %s: %s", option, why.column, misfit,
		     why.message);
	free(why.message);
	free(misfit);
	return may_fit;
}

/* Returns true if an expression of a span may fit a function that the span is made of. */
static bool span_fits(const struct target *target, const struct span *span,
		      const struct expression *expression, const char *text, const char *function)
{
	struct expression_error why = {0};
	char *misfit = NULL;
	char safe[256];
	const bool may_fit = !expression || !function ||
			     may_fit_name(target, expression, function, &why, &misfit);

	if (!may_fit)
		diag("%s:%u: span %s: '%s', column %zu: it fits no call of %s: %s", span->file,
		     span->line, span->name, diag_safe(safe, sizeof safe, text), why.column, misfit,
		     why.message);
	free(why.message);
	free(misfit);
	return may_fit;
}

/* What a span begins with has not returned yet. `function == ...` may tell its end from it. */
static bool begin_fits(const struct span *span, const struct expression *expression,
		       const char *text)
{
	char safe[256];

	if (!expression || !expression_has_name(expression, NAME_RESULT) ||
	    expression_has_name(expression, NAME_FUNCTION))
		return true;
	diag("%s:%u: span %s: '%s': the call of %s that begins it has no result yet", span->file,
	     span->line, span->name, diag_safe(safe, sizeof safe, text), span->begin.function);
	return false;
}

/* The same for all expressions of a key. */
static bool key_fits(const struct target *target, const struct span *span, const struct vec *key,
		     const char *text, const char *function)
{
	bool fit = true;

	for (size_t i = 0; i < key->count && fit; i++)
		fit = span_fits(target, span, *(struct expression **)vec_at(key, i), text,
				function);
	return fit;
}

/*
 * A span whose key does not fit would join calls that do not belong together: the value is the same
 * for all, as it is missing.
 */
static bool check_span(const struct target *target, const struct active_span *active)
{
	const struct span *span = active->span;
	const char *begin = span->begin.function, *with = span->with.function;
	bool fit = begin_fits(span, active->begin, span->begin.condition) &&
		   span_fits(target, span, active->begin, span->begin.condition, begin) &&
		   span_fits(target, span, active->with, span->with.condition, with) &&
		   key_fits(target, span, &active->key, span->by, begin);

	for (size_t i = 0; i < active->key.count && fit; i++)
		fit = begin_fits(span, *(struct expression **)vec_at(&active->key, i), span->by);
	if (with && fit)
		fit = key_fits(target, span, span->with_by ? &active->with_key : &active->key,
			       span->with_by ? span->with_by : span->by, with);
	for (unsigned i = 0; i < span->end_count && fit; i++)
		fit = span_fits(target, span, active->ends[i], span->ends[i].condition,
				span->ends[i].function) &&
		      key_fits(target, span, &active->key, span->by, span->ends[i].function);
	return fit;
}

int conditions_check(const struct target *target)
{
	const struct output_options *output = target->options->output;
	bool fit = true;

	for (size_t i = 0; i < target->spans.spans.count && fit; i++)
		fit = check_span(target, vec_at(&target->spans.spans, i));
	if (!fit)
		return -EINVAL;
	if (!target->options->entries_only || target->spans.spans.count ||
	    target->options->system_calls)
		return 0;
	if (output->condition)
		fit = check(target, "--if", output->condition);
	if (output->sum && fit)
		fit = check(target, "--sum", output->sum);
	for (size_t i = 0; output->keys && i < output->keys->count && fit; i++)
		fit = check(target, "--by", *(struct expression **)vec_at(output->keys, i));
	return fit ? 0 : -EINVAL;
}
