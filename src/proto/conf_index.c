/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proto/conf_index.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "proto/conf_lexer.h"
#include "proto/protolib.h"

#include <stdlib.h>
#include <string.h>

/* How deep files are imported; what is deeper is a circle, or has names for nobody. */
enum { IMPORTS_MAX = 8 };

struct adding {
	struct conf_index *index;
	const void *meaning;
	conf_finder *finder;
	void *context;
	unsigned depth;
};

void conf_index_init(struct conf_index *index)
{
	*index = (struct conf_index){.texts = VEC_OF(char *)};
}

void conf_index_deinit(struct conf_index *index)
{
	for (size_t i = 0; i < index->texts.count; i++)
		free(*(char **)vec_at(&index->texts, i));
	vec_deinit(&index->texts);
	names_deinit(&index->names);
}

/* What stands in front of each parenthesis, if it is a name. */
static void add_names(struct adding *adding, const char *text, size_t length)
{
	struct names *names = &adding->index->names;
	const char *end = text + length;
	const char *at = text;

	while ((at = memchr(at, '(', (size_t)(end - at)))) {
		const char *last = at++;

		while (last > text && strchr(" \t\r\n\f\v", last[-1]))
			last--;
		const char *first = last;

		while (first > text && conf_continues_name(first[-1]))
			first--;
		size_t wide = (size_t)(last - first);

		if (wide && !names_get(names, first, wide))
			names_put(names, first, wide, adding->meaning);
	}
}

static void add_file(struct adding *adding, const char *path);

/* All that looks like `import "NAME"`. `text` ends with a NUL. */
static void add_imports(struct adding *adding, const char *path, const char *text)
{
	for (const char *at = text; (at = strstr(at, "import")); at++) {
		const char *name = at + strlen("import");

		name += strspn(name, " \t\r\n");
		if (*name++ != '"')
			continue;
		_cleanup_free_ char *copy = xstrndup(name, strcspn(name, "\"\n"));
		_cleanup_free_ char *found = conf_find_import(path, copy, adding->finder,
							      adding->context);

		if (found && adding->depth < IMPORTS_MAX) {
			adding->depth++;
			add_file(adding, found);
			adding->depth--;
		}
	}
}

static void add_file(struct adding *adding, const char *path)
{
	struct stat status;
	size_t length;
	char *text;

	if (conf_read_file(path, &text, &length, &status) < 0)
		return;
	vec_push(&adding->index->texts, &text);
	add_names(adding, text, length);
	add_imports(adding, path, text);
}

void conf_index_add(struct conf_index *index, const char *path, const void *meaning,
		    conf_finder *finder, void *context)
{
	struct adding adding = {index, meaning, finder, context, 0};

	add_file(&adding, path);
}

const void *conf_index_get(const struct conf_index *index, const char *name)
{
	return names_get(&index->names, name, strlen(name));
}
