/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The life of a frame description: what it owns. */
#include "unwind/script/description.h"

#include "base/xalloc.h"

#include <stdlib.h>

struct script_description *script_description_create(const char *path)
{
	struct script_description *description = xcalloc(1, sizeof *description);

	description->path = xstrdup(path);
	vec_init(&description->values, sizeof(struct script_value));
	vec_init(&description->natives, sizeof(char *));
	vec_init(&description->files, sizeof(struct script_clause));
	vec_init(&description->functions, sizeof(struct script_clause));
	vec_init(&description->lines, sizeof(struct script_clause));
	return description;
}

static void clauses_deinit(struct vec *clauses)
{
	for (size_t i = 0; i < clauses->count; i++) {
		struct script_clause *clause = vec_at(clauses, i);

		for (size_t j = 0; j < clause->parts.count; j++) {
			struct script_part *part = vec_at(&clause->parts, j);

			free(part->literal);
		}
		vec_deinit(&clause->parts);
		free(clause->program);
	}
	vec_deinit(clauses);
}

void script_description_destroy(struct script_description *description)
{
	if (!description)
		return;
	for (size_t i = 0; i < description->values.count; i++) {
		struct script_value *value = vec_at(&description->values, i);

		free(value->symbol);
	}
	vec_deinit(&description->values);
	for (size_t i = 0; i < description->natives.count; i++)
		free(*(char **)vec_at(&description->natives, i));
	vec_deinit(&description->natives);
	clauses_deinit(&description->files);
	clauses_deinit(&description->functions);
	clauses_deinit(&description->lines);
	free(description->when);
	free(description->setup);
	free(description->tell);
	free(description->walk);
	free(description->inside);
	free(description->path);
	free(description->language);
	free(description->version);
	free(description->module);
	free(description);
}
