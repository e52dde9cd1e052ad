/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conditions that can hold for none of the functions that are named.
 *
 * `-x getpid --if 'arg3 > 1'` would show nothing, and look as if getpid() was not called. So it is
 * an error. That can be told before anything is traced only if each filter of -x is the name of a
 * function whose prototype is in a .conf file; otherwise each function that a condition does not
 * fit is named when it is called first (sink/whole_calls.c).
 */
#include "target/conditions.h"

#include "base/diag.h"
#include "probe/expression_fit.h"

#include <errno.h>
#include <stdlib.h>

static const struct prototype *find(const struct target *target, const char *name)
{
	const struct protolib *libc = proto_search_library(target->prototypes, "libc.so.6");
	const struct prototype *found = protolib_find(proto_search_global(target->prototypes),
						      name);

	if (!found)
		found = proto_search_any(target->prototypes, name);
	return found || !libc ? found : protolib_find(libc, name);
}

int conditions_check(const struct target *target)
{
	const struct expression *condition = target->options->output->condition;
	const struct vec *filters = &target->entry_filters;
	struct expression_error first = {0}, error;
	const char *name = NULL;
	bool may_hold = !condition || !filters->count || !target->options->entries_only ||
			target->spans.spans.count || target->options->system_calls;

	for (size_t i = 0; i < filters->count && !may_hold; i++) {
		const char *text = *(const char **)vec_at(filters, i);
		const struct prototype *prototype = filter_is_name(text) ? find(target, text)
									 : NULL;

		may_hold = !prototype || expression_fits(condition, PROBE_ENTRY, prototype, &error);
		if (may_hold || first.message) {
			if (!may_hold)
				free(error.message);
			continue;
		}
		first = error;
		name = text;
	}
	if (!may_hold)
		diag("--if, column %zu: it cannot hold for %s: %s", first.column, name,
		     first.message);
	free(first.message);
	return may_hold ? 0 : -EINVAL;
}
