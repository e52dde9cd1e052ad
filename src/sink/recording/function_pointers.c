/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pointers to functions are found by rendering the record and listening to what the renderer asks
 * for. So exactly those names are found that a line will show. It is done for records of the few
 * prototypes that have such pointers.
 */
#include "sink/recording/function_pointers.h"

#include "base/map.h"
#include "sink/render/render.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ types */

static bool is_in_type(const struct type *type, struct map *seen)
{
	if (!type || map_get(seen, (uintptr_t)type))
		return false;
	map_put(seen, (uintptr_t)type, seen);
	if (type->kind == TYPE_POINTER && (type->lens == LENS_FUNCTION || type->lens == LENS_ENUM))
		return true;
	for (uint32_t i = 0; type->kind == TYPE_STRUCT && i < type->count; i++)
		if (is_in_type(type->members[i].type, seen))
			return true;
	return is_in_type(type->target, seen);
}

bool function_pointers_are_in(const struct prototype *prototype)
{
	struct map seen = {0};
	bool are_in = is_in_type(prototype->result, &seen);

	for (unsigned i = 0; i < prototype->parameter_count; i++) {
		const struct parameter *parameter = &prototype->parameters[i];

		are_in |= is_in_type(parameter->type, &seen);
		for (unsigned k = 0; k < parameter->choice_count; k++)
			are_in |= is_in_type(parameter->choices[k].type, &seen);
	}
	map_deinit(&seen);
	return are_in;
}

/* ------------------------------------------------------------------ values */

struct listener {
	const struct code_names *code;
	function_pointer_found *found;
	void *context;
};

static char *listen(void *context, int32_t pid, uint64_t address)
{
	const struct listener *listener = context;
	char *name = listener->code->find(listener->code->context, pid, address);

	listener->found(listener->context, pid, address, name);
	return name;
}

void function_pointers_find(const struct sink_target *target, const struct record *record,
			    struct outbuf *scratch, function_pointer_found *found, void *context)
{
	const struct probe_info *probe = probe_table_get(target->probes, record->probe);
	struct listener listener = {target->code, found, context};
	const struct code_names code = {.find = listen, .context = &listener};
	const struct render_options options = {.string_max = target->options->string_max,
					       .array_max = target->options->array_max,
					       .code = &code};
	struct value_cursor cursor = value_cursor_start(record);

	if (!target->code || !probe)
		return;
	const struct prototype *prototype = probe->prototype;
	const unsigned entry_count = render_entry_count(prototype);

	scratch->length = 0;
	if (record->kind == RECORD_RETURN) {
		struct value_cursor arguments = cursor;

		render_result(scratch, prototype, &cursor, &options);
		render_skip_result(prototype, &arguments);
		render_arguments(scratch, prototype, entry_count, prototype->parameter_count,
				 &arguments, &options);
	} else if (!prototype->is_unknown) {
		render_arguments(scratch, prototype, 0, entry_count, &cursor, &options);
	}
	scratch->length = scratch->line_start = 0;
}
