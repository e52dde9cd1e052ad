/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is traced, in words, for the head of a report. A word of the command that a shell would not
 * take as one is put into quotes, so that the line can be used again.
 */
#include "cli/traced.h"

#include "base/strbuf.h"
#include "base/xalloc.h"
#include "cli/recipe.h"

#include <string.h>
#include <sys/types.h>

static void add_word(struct strbuf *text, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "%+,-./:=@_";

	if (*word && !word[strspn(word, plain)]) {
		strbuf_add(text, word);
		return;
	}
	strbuf_add_char(text, '\'');
	for (; *word; word++)
		if (*word == '\'')
			strbuf_add(text, "'\\''");
		else
			strbuf_add_char(text, *word);
	strbuf_add_char(text, '\'');
}

/* Returns a copy, to be freed, and frees the buffer. */
static char *take_text(struct strbuf *text)
{
	char *copy = xstrndup(text->text ? text->text : "", text->length);

	strbuf_deinit(text);
	return copy;
}

char *traced_text(const struct options *options)
{
	struct strbuf text = {0};

	for (char *const *word = options->command; word && *word; word++) {
		strbuf_add(&text, word == options->command ? "" : " ");
		add_word(&text, *word);
	}
	for (size_t i = 0; i < options->pids.count; i++) {
		const pid_t pid = *(pid_t *)vec_at(&options->pids, i);

		strbuf_add(&text, i ? ", " : options->command ? ", process " : "process ");
		strbuf_printf(&text, "%d", (int)pid);
	}
	return take_text(&text);
}

char *traced_recipes(const struct options *options)
{
	struct strbuf text = {0};

	for (size_t i = 0; i < options->recipes.count; i++) {
		const struct recipe *recipe = *(struct recipe **)vec_at(&options->recipes, i);

		if (!recipe->is_included)
			strbuf_printf(&text, " @%s", recipe->name);
	}
	return take_text(&text);
}
