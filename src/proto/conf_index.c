/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the index by searching the text of the files for names before a '('. It is separate from
 * the parser, which is ten times slower.
 */
#include "proto/conf_index.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "proto/conf_lexer.h"
#include "proto/protolib.h"
#include "proto/prototype.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The depth of imports. Deeper ones are circles, or of no use. */
enum { IMPORTS_MAX = 8 };

struct indexed_file {
	const void *meaning;
	dev_t device;
	ino_t inode;
};

/* A walk over a file and those that it imports. */
struct looking {
	conf_finder *finder;
	void *context;
	unsigned depth;
	/* Takes over `text`. */
	void (*look)(struct looking *looking, char *text, size_t length, const struct stat *status);
	const struct conf_index *known; /* files of this index are skipped; NULL: none are */
};

struct adding {
	struct looking looking; /* the first member, so that it can be cast */
	struct conf_index *index;
	const void *meaning;
};

struct finding {
	struct looking looking; /* the first member, so that it can be cast */
	bool has_places;
};

void conf_index_init(struct conf_index *index)
{
	*index = (struct conf_index){.texts = VEC_OF(char *),
				     .files = VEC_OF(struct indexed_file *)};
}

void conf_index_deinit(struct conf_index *index)
{
	for (size_t i = 0; i < index->texts.count; i++)
		free(*(char **)vec_at(&index->texts, i));
	vec_deinit(&index->texts);
	for (size_t i = 0; i < index->files.count; i++)
		free(*(struct indexed_file **)vec_at(&index->files, i));
	vec_deinit(&index->files);
	names_deinit(&index->names);
	names_deinit(&index->several);
}

static void add_name(struct conf_index *index, const char *name, size_t length,
		     const struct indexed_file *file)
{
	const struct indexed_file *first = names_get(&index->names, name, length);

	if (!first)
		names_put(&index->names, name, length, file);
	else if (first->meaning != file->meaning)
		names_put(&index->several, name, length, file);
}

/* Adds the name before each parenthesis. */
static void add_names(struct adding *adding, const char *text, size_t length,
		      const struct indexed_file *file)
{
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

		if (wide)
			add_name(adding->index, first, wide, file);
	}
}

static void look_at_file(struct looking *looking, const char *path);

/* Visits all files that the text seems to import (`import "NAME"`). `text` ends with a NUL. */
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

/* Returns true if the index has the file, perhaps by another name or as an import. */
static bool is_known(const struct conf_index *index, const struct stat *status)
{
	for (size_t i = 0; i < index->files.count; i++) {
		const struct indexed_file *file = *(struct indexed_file **)vec_at(&index->files, i);

		if (file->device == status->st_dev && file->inode == status->st_ino)
			return true;
	}
	return false;
}

static void look_at_file(struct looking *looking, const char *path)
{
	struct stat status;
	size_t length;
	char *text;

	if (looking->known && stat(path, &status) == 0 && is_known(looking->known, &status))
		return;
	if (conf_read_file(path, &text, &length, &status) < 0)
		return;
	look_at_imports(looking, path, text);
	looking->look(looking, text, length, &status);
}

static void add_text(struct looking *looking, char *text, size_t length, const struct stat *status)
{
	struct adding *adding = (struct adding *)(void *)looking;
	struct indexed_file *file = xcalloc(1, sizeof *file);

	*file = (struct indexed_file){adding->meaning, status->st_dev, status->st_ino};
	vec_push(&adding->index->files, &file);
	vec_push(&adding->index->texts, &text);
	add_names(adding, text, length, file);
}

void conf_index_add(struct conf_index *index, const char *path, const void *meaning,
		    conf_finder *finder, void *context)
{
	struct adding adding = {{finder, context, 0, add_text, index}, index, meaning};

	look_at_file(&adding.looking, path);
}

static void find_places(struct looking *looking, char *text, size_t length,
			const struct stat *status)
{
	(void)status;
	struct finding *finding = (struct finding *)(void *)looking;

	finding->has_places |= memchr(text, '@', length) != NULL;
	free(text);
}

bool conf_has_places(const char *path, conf_finder *finder, void *context)
{
	struct finding finding = {{finder, context, 0, find_places, NULL}, false};

	look_at_file(&finding.looking, path);
	return finding.has_places;
}

const void *conf_index_get(const struct conf_index *index, const char *name)
{
	const struct indexed_file *file = names_get(&index->names, name, strlen(name));

	return file ? file->meaning : NULL;
}

const void *conf_index_get_only(const struct conf_index *index, const char *name)
{
	if (names_get(&index->several, name, strlen(name)))
		return NULL;
	return conf_index_get(index, name);
}

bool conf_has_span(const char *path, const char *name)
{
	_cleanup_free_ char *text = NULL;
	const size_t length = strlen(name);
	struct stat status;
	size_t size;

	if (conf_read_file(path, &text, &size, &status) != 0)
		return false;
	for (const char *at = text; (at = strstr(at, "span")); at += strlen("span")) {
		const char *word = at + strlen("span") + strspn(at + strlen("span"), " \t");

		if (!strncmp(word, name, length) && !conf_continues_name(word[length]))
			return true;
	}
	return false;
}
