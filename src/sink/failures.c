/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which calls have failed: --failed chooses them, and spans of OpenTelemetry say it.
 *
 * A system call has failed if the kernel says so. Of a function, its prototype tells with
 * `fails(…)`; without that, the type of the result does: a number below 0, or a pointer that is
 * NULL. Calls without an end, and functions without a prototype, have not failed as far as is
 * known.
 */
#include "sink/failures.h"

#include "base/diag.h"

#include <stdlib.h>

void failures_deinit(struct failures *failures)
{
	size_t cursor = 0;
	void *value;

	while (map_next(&failures->parsed, &cursor, NULL, &value))
		expression_free(value);
	map_deinit(&failures->parsed);
}

/* Returns the expression that a prototype has for calls that have failed, or NULL. */
static const struct expression *find(struct failures *failures, const char *text)
{
	const uint64_t key = (uint64_t)(uintptr_t)text;
	struct expression *expression = text ? map_get(&failures->parsed, key) : NULL;
	struct expression_error error;
	char safe[256];

	if (expression || !text)
		return expression;
	expression = expression_parse(text, &error);
	if (!expression) {
		diag("fails(%s): column %zu: %s", diag_safe(safe, sizeof safe, text), error.column,
		     error.message);
		free(error.message);
		expression = expression_parse("0", &error);
	}
	map_put(&failures->parsed, key, expression);
	return expression;
}

bool failures_has_failed(struct failures *failures, struct call_values *values)
{
	static const struct expression result = {.kind = EXPRESSION_NAME,
						 .name = NAME_RESULT,
						 .steps = VEC_OF(struct expression_step)};
	const struct probe_info *probe = values->probe;

	if (!probe || !values->end || values->end->kind != RECORD_RETURN)
		return false;
	if (probe->kind == PROBE_SYSTEM)
		return values->end->number > 0;
	if (probe->prototype->is_unknown)
		return false;
	if (probe->prototype->fails) {
		const struct expression_value failed =
			call_values_get(values, find(failures, probe->prototype->fails));

		return expression_is_true(&failed);
	}
	const struct expression_value value = call_values_get(values, &result);

	switch (probe->prototype->result->kind) {
	case TYPE_INT:
		return value.type == EXPRESSION_SIGNED && (int64_t)value.number < 0;
	case TYPE_POINTER:
	case TYPE_STRING:
		return value.unit == UNIT_POINTER && !value.number;
	default:
		return false;
	}
}
