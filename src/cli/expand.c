/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recipes among the words of the command line.
 *
 * Which `@NAME` is a recipe, only the parser of options knows: in `-x @libssl` it is a filter, and
 * behind the first word of the command nothing is an option. So the words are not expanded first
 * and parsed then. The parser gets a run of words and stops at the first that is no option. If that
 * is a recipe, the words of its file are the next run, and the rest of the command line is the run
 * behind it. An option and its argument are therefore always in one file.
 *
 * A recipe that includes itself is found by its file, since it may do so under another name. The
 * number of words is limited for all recipes together, for each could include another one twice.
 */
#include "cli/expand.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "cli/recipe.h"
#include "cli/recipe_words.h"

#include <errno.h>
#include <stddef.h>

/* What all runs of a command line share. */
struct expansion {
	expand_function *parse;
	void *context;
	struct vec *recipes;
	size_t words; /* of all recipes so far */
};

/* Words that are being parsed: those of the command line or of a recipe. */
struct source {
	const struct recipe *recipe; /* NULL: the command line */
	const struct source *around; /* what includes it */
	int count;
	char **words;
	unsigned depth;
};

static int parse_source(struct expansion *expansion, const struct source *source, int *next);

/* Returns the line of a word of a recipe. */
static unsigned line_of(const struct source *source, int word)
{
	const struct vec *words = &source->recipe->words;
	const size_t index = (size_t)word - 1; /* words[0] is not in the file */

	return index < words->count ? ((struct recipe_word *)vec_at(words, index))->line : 0;
}

/* Appends "@a -> @b" for a recipe and those that include it. */
static void add_chain(struct strbuf *text, const struct source *source)
{
	if (!source->recipe)
		return;
	add_chain(text, source->around);
	strbuf_printf(text, "@%s -> ", source->recipe->name);
}

static int refuse(const struct source *source, const struct recipe *recipe, const char *why)
{
	struct strbuf chain = {0};

	add_chain(&chain, source);
	diag("recipe @%s %s: %s@%s", recipe->name, why, chain.text ? chain.text : "", recipe->name);
	strbuf_deinit(&chain);
	return -EINVAL;
}

static bool is_included_in(const struct recipe *recipe, const struct source *source)
{
	for (; source && source->recipe; source = source->around)
		if (source->recipe->device == recipe->device &&
		    source->recipe->inode == recipe->inode)
			return true;
	return false;
}

static int parse_recipe(struct expansion *expansion, const struct source *around,
			const struct recipe *recipe)
{
	const size_t count = recipe->words.count;
	_cleanup_free_ char **words = xcalloc(count + 2, sizeof *words);
	const struct source source = {recipe, around, (int)count + 1, words, around->depth + 1};
	int next;

	words[0] = recipe->path;
	for (size_t i = 0; i < count; i++)
		words[i + 1] = ((struct recipe_word *)vec_at(&recipe->words, i))->text;
	int result = parse_source(expansion, &source, &next);

	if (result || next == source.count)
		return result;
	diag("%s:%u: '%s' is no option, and a recipe has only options", recipe->path,
	     line_of(&source, next), words[next]);
	return -EINVAL;
}

/* Parses the words of the recipe `name`, which `around` includes. */
static int include(struct expansion *expansion, const struct source *around, const char *name)
{
	struct recipe *recipe = recipe_read(name);

	if (!recipe)
		return -EINVAL;
	recipe->is_included = around->recipe;
	vec_push(expansion->recipes, &recipe);
	expansion->words += recipe->words.count;
	if (is_included_in(recipe, around))
		return refuse(around, recipe, "includes itself");
	if (around->depth >= RECIPE_DEPTH_MAX)
		return refuse(around, recipe, "is included by too many others");
	if (expansion->words > RECIPE_WORDS_MAX)
		return refuse(around, recipe, "has too many words, with those before it");
	return parse_recipe(expansion, around, recipe);
}

/* Parses the words of a recipe or of the command line, up to the first that is no option. */
static int parse_source(struct expansion *expansion, const struct source *source, int *next)
{
	int at = 0; /* the word before the run */

	for (;;) {
		struct expand_run run = {.count = source->count - at, .words = source->words + at};
		int result = expansion->parse(expansion->context, &run);

		at += run.next;
		const bool is_end = at >= source->count || run.is_ended ||
				    source->words[at][0] != '@';

		if (!result && is_end) {
			*next = at;
			return 0;
		}
		if (!result)
			result = include(expansion, source, source->words[at] + 1);
		if (result == -EINVAL && source->recipe)
			diag("%s:%u: this is in recipe @%s", source->recipe->path,
			     line_of(source, at), source->recipe->name);
		if (result)
			return result;
	}
}

int expand_words(int count, char **words, expand_function *parse, void *context,
		 struct vec *recipes, int *next)
{
	struct expansion expansion = {parse, context, recipes, 0};
	const struct source source = {.count = count, .words = words};

	return parse_source(&expansion, &source, next);
}
