/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of many .conf files may have a prototype of a name, found out without parsing them: that
 * takes ten times as long, and mostly one of them is wanted, or none.
 */
#ifndef TRACER_PROTO_CONF_INDEX_H
#define TRACER_PROTO_CONF_INDEX_H

#include "base/vec.h"
#include "proto/names.h"
#include "proto/prototype.h"

struct conf_index {
	struct names names;   /* what is before a '(' in a file → struct indexed_file */
	struct names several; /* those of them that are in files of different meanings */
	struct vec files;     /* struct indexed_file *, owned */
	struct vec texts;     /* char *, owned: of the files, where the names are */
};

void conf_index_init(struct conf_index *index);
void conf_index_deinit(struct conf_index *index);

/*
 * Adds a file and those that it imports; one that cannot be read has no names. A name that is there
 * already stays with the file that had it first. `meaning`: what is to be known of the file, not
 * NULL.
 */
void conf_index_add(struct conf_index *index, const char *path, const void *meaning,
		    conf_finder *finder, void *context);

/*
 * The meaning of the first file that may have a prototype of `name`; NULL: no file has one. That it
 * has one is not said: names of types and what stands in comments are names, too.
 */
const void *conf_index_get(const struct conf_index *index, const char *name);
/*
 * The same, or NULL if there are files of other meanings that have the name, too. A file that has
 * several names of its own, or is imported, is one file.
 */
const void *conf_index_get_only(const struct conf_index *index, const char *name);

/*
 * Whether a file, or one that it imports, may have functions that are known by a data word
 * (`@ *SYMBOL`). What is in comments counts, too.
 */
bool conf_has_places(const char *path, conf_finder *finder, void *context);

#endif
