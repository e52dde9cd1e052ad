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

int conditions_check(const struct target *target)
{
	const struct output_options *output = target->options->output;
	bool fit = true;

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
