/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of the command line with those of recipes in their places: see expand.c. */
#ifndef TRACER_CLI_EXPAND_H
#define TRACER_CLI_EXPAND_H

#include "base/vec.h"

#include <stdbool.h>

/* Words without recipes, in the form of getopt(3): words[0] is not one of them. */
struct expand_run {
	int count; /* with words[0] */
	char **words;
	/*
	 * What was found: the index of the first word that is no option, `count` if all are, or
	 * that of the option that is wrong; and whether "--" is before it.
	 */
	int next;
	bool is_ended;
};

/* Parses the options at the beginning of a run. Returns 0; or another number, which ends it all. */
typedef int expand_function(void *context, struct expand_run *run);

/*
 * Gives the words of a command line to `parse`, in one run or several, those of recipes in place of
 * `@NAME`. Returns 0, with *next as in struct expand_run; what `parse` returned; or -EINVAL after a
 * message. An -EINVAL that came from words of a recipe is followed by a message that names the
 * places.
 *
 * The recipes are appended to `recipes` (of struct recipe *), in any case; their words are used in
 * place.
 */
int expand_words(int count, char **words, expand_function *parse, void *context,
		 struct vec *recipes, int *next);

#endif
