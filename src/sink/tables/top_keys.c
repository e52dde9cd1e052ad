/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the rows of --top can be. All of it could be asked for by --by, too; but which argument of a
 * function is a statement depends on the function, so its shape is looked for here: it is that of
 * the first argument that is a text. Calls without one are grouped by function.
 */
#include "sink/tables/top_keys.h"

#include "base/xalloc.h"
#include "probe/expression_fit.h"
#include "sink/call_key.h"

#include <stdlib.h>
#include <string.h>

enum { SHAPES_MAX = 16 };

static void parse(struct vec *list, const char *text)
{
	struct expression_error error;

	vec_init(list, sizeof(struct expression *));
	if (!expression_parse_list(text, list, &error))
		free(error.message); /* not reached: the texts are right */
}

void top_keys_begin(struct top_keys *keys, const struct output_options *options)
{
	struct strbuf text = {0};

	*keys = (struct top_keys){.options = options};
	parse(&keys->line, "line");
	parse(&keys->thread, "tid");
	for (unsigned i = 1; i <= SHAPES_MAX; i++)
		strbuf_printf(&text, "%sfingerprint(arg%u)", i > 1 ? "," : "", i);
	parse(&keys->shapes, text.text);
	strbuf_deinit(&text);
}

void top_keys_end(struct top_keys *keys)
{
	expression_list_free(&keys->line);
	expression_list_free(&keys->thread);
	expression_list_free(&keys->shapes);
	map_deinit(&keys->shape_of);
}

void top_keys_forget(struct top_keys *keys, const struct probe_info *probe)
{
	map_remove(&keys->shape_of, (uint64_t)probe->id + 1);
}

bool top_keys_has(const struct top_keys *keys, enum top_grouping grouping)
{
	const char *by = keys->options->keys_text;

	switch (grouping) {
	case TOP_FUNCTION:
		return by && strcmp(by, "function") != 0;
	case TOP_LINE:
		return (keys->options->script_line || keys->options->takes_lines) &&
		       !(by && !strcmp(by, "line"));
	default:
		return grouping < TOP_GROUPINGS;
	}
}

const char *top_keys_heading(const struct top_keys *keys, enum top_grouping grouping)
{
	static const char *const headings[TOP_GROUPINGS] = {[TOP_BY] = "function",
							    [TOP_FUNCTION] = "function",
							    [TOP_LINE] = "line",
							    [TOP_FINGERPRINT] = "fingerprint",
							    [TOP_THREAD] = "thread"};

	if (grouping == TOP_BY && keys->options->keys_text)
		return keys->options->keys_text;
	return headings[grouping];
}

/* Returns the expression for the text among the function's arguments, or NULL. */
static const struct expression *find_shape(struct top_keys *keys, const struct probe_info *probe)
{
	void *found = map_get(&keys->shape_of, (uint64_t)probe->id + 1);

	for (size_t i = 0; i < keys->shapes.count && !found; i++) {
		struct expression *shape = *(struct expression **)vec_at(&keys->shapes, i);

		if (i < probe->prototype->parameter_count &&
		    expression_fits(shape, (enum probe_kind)probe->kind, probe->prototype, NULL))
			found = shape;
	}
	map_put(&keys->shape_of, (uint64_t)probe->id + 1, found ? found : &keys->shapes);
	return found == &keys->shapes ? NULL : found;
}

/* Appends the shape of a call's text. Returns false if it has none. */
static bool add_shape(struct top_keys *keys, struct call_values *values, struct strbuf *key)
{
	const struct expression *shape = values->probe && !values->probe->prototype->is_unknown
						 ? find_shape(keys, values->probe)
						 : NULL;
	const size_t before = key->length;

	if (!shape)
		return false;
	const struct expression_value value = call_values_get(values, shape);

	if (value.type != EXPRESSION_TEXT || !value.length)
		return false;
	call_values_add(key, &value);
	for (size_t i = before; i < key->length; i++)
		if (!key->text[i])
			key->text[i] = ' ';
	return true;
}

void top_keys_add(struct top_keys *keys, enum top_grouping grouping, struct call_values *values,
		  struct strbuf *key)
{
	if (grouping == TOP_LINE)
		call_key_add(key, values, &keys->line);
	else if (grouping == TOP_THREAD)
		call_key_add(key, values, &keys->thread);
	else if (grouping != TOP_FINGERPRINT)
		call_key_add(key, values, grouping == TOP_BY ? keys->options->keys : NULL);
	else if (!add_shape(keys, values, key))
		call_key_add(key, values, NULL);
}
