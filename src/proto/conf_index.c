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

/* A file and those that it imports are looked at. */
struct looking {
	conf_finder *finder;
	void *context;
	unsigned depth;
	void (*look)(struct looking *looking, char *text, size_t length); /* takes the text over */
};

struct adding {
	struct looking looking; /* first */
	struct conf_index *index;
	const void *meaning;
};

struct finding {
	struct looking looking; /* first */
	bool has_places;
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

static void look_at_file(struct looking *looking, const char *path);

/* All that looks like `import "NAME"`. `text` ends with a NUL. */
static void look_at_imports(struct looking *looking, const char *path, const char *text)
{
	for (const char *at = text; (at = strstr(at, "import")); at++) {
		const char *name = at + strlen("import");

		name += strspn(name, " \t\r\n");
		if (*name++ != '"')
			continue;
		_cleanup_free_ char *copy = xstrndup(name, strcspn(name, "\"\n"));
		_cleanup_free_ char *found = conf_find_import(path, copy, looking->finder,
							      looking->context);

		if (found && looking->depth < IMPORTS_MAX) {
			looking->depth++;
			look_at_file(looking, found);
			looking->depth--;
		}
	}
}

static void look_at_file(struct looking *looking, const char *path)
{
	struct stat status;
	size_t length;
	char *text;

	if (conf_read_file(path, &text, &length, &status) < 0)
		return;
	look_at_imports(looking, path, text);
	looking->look(looking, text, length);
}

static void add_text(struct looking *looking, char *text, size_t length)
{
	struct adding *adding = (struct adding *)(void *)looking;

	vec_push(&adding->index->texts, &text);
	add_names(adding, text, length);
}

void conf_index_add(struct conf_index *index, const char *path, const void *meaning,
		    conf_finder *finder, void *context)
{
	struct adding adding = {{finder, context, 0, add_text}, index, meaning};

	look_at_file(&adding.looking, path);
}

static void find_places(struct looking *looking, char *text, size_t length)
{
	struct finding *finding = (struct finding *)(void *)looking;

	finding->has_places |= memchr(text, '@', length) != NULL;
	free(text);
}

bool conf_has_places(const char *path, conf_finder *finder, void *context)
{
	struct finding finding = {{finder, context, 0, find_places}, false};

	look_at_file(&finding.looking, path);
	return finding.has_places;
}

const void *conf_index_get(const struct conf_index *index, const char *name)
{
	return names_get(&index->names, name, strlen(name));
}
