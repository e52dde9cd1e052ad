/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a recipe as words: see recipe_words.c. */
#ifndef TRACER_CLI_RECIPE_WORDS_H
#define TRACER_CLI_RECIPE_WORDS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>

/* A word of a recipe, owned, and the line where it begins, from 1. */
struct recipe_word {
	char *text;
	unsigned line;
};

/*
 * Appends the words of a text to `words` (of struct recipe_word), at most `maximum`; `text` need
 * not end with a NUL. Returns NULL, or what is wrong, with its line. The caller frees the words in
 * any case.
 */
const char *recipe_words_split(const char *text, size_t length, size_t maximum, struct vec *words,
			       unsigned *line);
void recipe_words_free(struct vec *words);

/*
 * Returns true if nothing in a text but tabs, ends of lines and form feeds is a control character.
 */
bool recipe_words_is_text(const char *text, size_t length);

/*
 * Finds the first line that is a comment. Returns its text without the '#' and the blanks around,
 * and stores its length; or NULL.
 */
const char *recipe_words_comment(const char *text, size_t length, size_t *comment);

#endif
