/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds and reads recipes.
 *
 * A recipe may be a pipe (@<(generate), whose path has slashes), so it is read to its end and not
 * for its size. A file that is too long, or that is no text, is refused as a whole: half of the
 * options would be another trace than the one that was asked for.
 */
#include "cli/recipe.h"

#include "base/cleanup.h"
#include "base/config_dirs.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "cli/recipe_words.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".opts";

static void free_texts(struct vec *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(*(char **)vec_at(texts, i));
	vec_deinit(texts);
}

static void cleanup_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

/*
 * Returns the text of a file and stores its length, RECIPE_BYTES_MAX + 1 if it is too long; NULL
 * with errno set if it cannot be read.
 */
static char *read_text(const char *path, size_t *length, struct stat *status)
{
	_cleanup_(cleanup_file) FILE *file = fopen(path, "re");

	if (!file || fstat(fileno(file), status) < 0)
		return NULL;
	_cleanup_free_ char *text = xmalloc(RECIPE_BYTES_MAX + 1);

	*length = fread(text, 1, RECIPE_BYTES_MAX + 1, file);
	return ferror(file) ? NULL : take_ptr(text);
}

/* Says that no directory has a recipe, and where it was looked for. Always returns NULL. */
static char *say_missing(const char *name, const struct vec *directories)
{
	struct strbuf where = {0};

	for (size_t i = 0; i < directories->count; i++)
		strbuf_printf(&where, "%s%s",
			      i == 0			    ? ""
			      : i + 1 == directories->count ? " or "
							    : ", ",
			      *(char **)vec_at(directories, i));
	diag("no recipe @%s: there is no %s%s in %s (see 'tracer --recipes')", name, name, suffix,
	     where.text ? where.text : "any directory");
	strbuf_deinit(&where);
	return NULL;
}

/* Returns the path of a recipe, or NULL after a message. */
static char *find(const char *name)
{
	struct vec directories = VEC_OF(char *);
	char *path = NULL;

	if (strchr(name, '/'))
		return xstrdup(name);
	if (!*name) {
		diag("behind an @ is no name of a recipe (see 'tracer --recipes')");
		return NULL;
	}
	config_dirs_add(&directories, config_dirs_installed(), "");
	for (size_t i = 0; !path && i < directories.count; i++) {
		_cleanup_free_ char *tried = xasprintf("%s/%s%s", *(char **)vec_at(&directories, i),
						       name, suffix);

		/* A file that may not be read is an error; a directory that may not is not. */
		if (access(tried, F_OK) == 0)
			path = take_ptr(tried);
	}
	if (!path)
		say_missing(name, &directories);
	free_texts(&directories);
	return path;
}

/* Returns what is wrong with the text, or NULL after its words are stored. */
static const char *take_text(struct recipe *recipe, const char *text, size_t length, unsigned *line)
{
	if (length > RECIPE_BYTES_MAX)
		return "more than 64 KiB";
	if (!recipe_words_is_text(text, length))
		return "this is no text";
	return recipe_words_split(text, length, RECIPE_WORDS_MAX, &recipe->words, line);
}

struct recipe *recipe_read(const char *name)
{
	char *path = find(name);
	struct stat status;
	size_t length;
	unsigned line = 0;

	if (!path)
		return NULL;
	_cleanup_free_ char *text = read_text(path, &length, &status);
	struct recipe *recipe = xcalloc(1, sizeof *recipe);

	recipe->name = xstrdup(name);
	recipe->path = path;
	vec_init(&recipe->words, sizeof(struct recipe_word));
	const char *wrong = text ? take_text(recipe, text, length, &line) : strerror(errno);

	if (!wrong) {
		recipe->device = status.st_dev;
		recipe->inode = status.st_ino;
		return recipe;
	}
	if (line)
		diag("%s:%u: %s", path, line, wrong);
	else
		diag("recipe @%s: %s: %s", name, path, wrong);
	recipe_destroy(recipe);
	return NULL;
}

static bool owns(const struct recipe *recipe, const char *text)
{
	const uintptr_t place = (uintptr_t)text;

	for (size_t i = 0; i < recipe->words.count; i++) {
		const struct recipe_word *word = vec_at(&recipe->words, i);
		const uintptr_t start = (uintptr_t)word->text;

		if (place >= start && place <= start + strlen(word->text))
			return true;
	}
	return false;
}

bool recipes_own(const struct vec *recipes, const char *text)
{
	for (size_t i = 0; i < recipes->count; i++)
		if (owns(*(struct recipe **)vec_at(recipes, i), text))
			return true;
	return false;
}

void recipe_destroy(struct recipe *recipe)
{
	recipe_words_free(&recipe->words);
	free(recipe->name);
	free(recipe->path);
	free(recipe);
}

/* --- the list of all recipes --- */

/* A recipe in a directory; `rank` is that of the directory. */
struct listed {
	char *name;
	char *path;
	size_t rank;
};

static void list_directory(struct vec *found, const char *path, size_t rank)
{
	const struct dirent *entry;
	DIR *directory = opendir(path);

	if (!directory)
		return;
	while ((entry = readdir(directory))) {
		const size_t length = strlen(entry->d_name);
		const size_t stem = length - (sizeof suffix - 1);

		if (length < sizeof suffix || strcmp(entry->d_name + stem, suffix) != 0 ||
		    *entry->d_name == '.' || !recipe_words_is_text(entry->d_name, length) ||
		    strpbrk(entry->d_name, "\n\r\t\f"))
			continue;
		struct listed listed = {xstrndup(entry->d_name, stem),
					xasprintf("%s/%s", path, entry->d_name), rank};

		vec_push(found, &listed);
	}
	closedir(directory);
}

static int compare_listed(const void *left, const void *right)
{
	const struct listed *a = left;
	const struct listed *b = right;
	const int names = strcmp(a->name, b->name);

	return names ? names : (a->rank > b->rank) - (a->rank < b->rank);
}

static void add_line(struct strbuf *text, const struct listed *listed)
{
	struct stat status;
	size_t length, comment;
	_cleanup_free_ char *all = NULL;
	const char *first = NULL;

	/* A pipe among the files would be waited for. */
	if (stat(listed->path, &status) == 0 && S_ISREG(status.st_mode))
		all = read_text(listed->path, &length, &status);
	if (all && length <= RECIPE_BYTES_MAX && recipe_words_is_text(all, length))
		first = recipe_words_comment(all, length, &comment);
	if (first)
		strbuf_printf(text, "%s  %.*s\n", listed->name, (int)comment, first);
	else
		strbuf_printf(text, "%s\n", listed->name);
}

void recipe_list(struct strbuf *text)
{
	struct vec directories = VEC_OF(char *);
	struct vec found = VEC_OF(struct listed);
	const char *previous = NULL;

	config_dirs_add(&directories, config_dirs_installed(), "");
	for (size_t i = 0; i < directories.count; i++)
		list_directory(&found, *(char **)vec_at(&directories, i), i);
	if (found.count)
		qsort(found.items, found.count, sizeof(struct listed), compare_listed);
	for (size_t i = 0; i < found.count; i++) {
		const struct listed *listed = vec_at(&found, i);

		if (!previous || strcmp(listed->name, previous) != 0)
			add_line(text, listed);
		previous = listed->name;
	}
	for (size_t i = 0; i < found.count; i++) {
		const struct listed *listed = vec_at(&found, i);

		free(listed->name);
		free(listed->path);
	}
	vec_deinit(&found);
	free_texts(&directories);
}
