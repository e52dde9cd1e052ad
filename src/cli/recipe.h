/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recipes: files NAME.opts with options, which `@NAME` on the command line stands for. They are
 * looked for in the directories of config_dirs.h; one in an earlier directory hides those of its
 * name in later ones.
 */
#ifndef TRACER_CLI_RECIPE_H
#define TRACER_CLI_RECIPE_H

#include "base/strbuf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
	RECIPE_BYTES_MAX = 64 << 10,
	RECIPE_WORDS_MAX = 1000, /* of all recipes of a command line together */
	RECIPE_DEPTH_MAX = 16	 /* of recipes that others include */
};

struct recipe {
	char *name;	  /* as it was asked for, without the @ */
	char *path;	  /* the file's */
	struct vec words; /* of struct recipe_word */
	dev_t device;	  /* these two tell which file it is */
	ino_t inode;
	bool is_included; /* by another one */
};

/*
 * Reads the recipe of a name, or, if there is a slash in it, of a path. Returns NULL after a
 * message on stderr if there is none, or if it is not one. recipe_destroy() frees it.
 */
struct recipe *recipe_read(const char *name);
void recipe_destroy(struct recipe *recipe);

/*
 * Returns true if a text is a word of one of the recipes (struct recipe *), or a part of one, in
 * its place.
 */
bool recipes_own(const struct vec *recipes, const char *text);

/* Appends a line for each recipe that can be named: its name, two blanks, its first comment. */
void recipe_list(struct strbuf *text);

#endif
