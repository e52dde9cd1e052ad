/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An index of the names in many .conf files, which tells the file that may have a prototype of a
 * name. The files are not parsed for it: parsing takes ten times as long, and mostly one file is
 * needed, or none.
 */
#ifndef TRACER_PROTO_CONF_INDEX_H
#define TRACER_PROTO_CONF_INDEX_H

#include "base/vec.h"
#include "proto/names.h"
#include "proto/prototype.h"

struct conf_index {
	struct names names;   /* the name before a '(' in a file → struct indexed_file */
	struct names several; /* those of `names` that are in files of different meanings */
	struct vec files;     /* struct indexed_file *, owned */
	struct vec texts;     /* char *, owned: texts of the files, which contain the names */
};

void conf_index_init(struct conf_index *index);
void conf_index_deinit(struct conf_index *index);

/*
 * Adds the names of a file and of those that it imports. A file that cannot be read has no names. A
 * name that is in the index stays with the file that came first. `meaning`: the caller's value for
 * the file, not NULL.
 */
void conf_index_add(struct conf_index *index, const char *path, const void *meaning,
		    conf_finder *finder, void *context);

/*
 * Returns the meaning of the first file that may have a prototype of `name`; NULL: no file has one.
 * The file need not have one: names of types, and names in comments, are in the index, too.
 */
const void *conf_index_get(const struct conf_index *index, const char *name);
/*
 * Like conf_index_get(), but NULL if files of other meanings have the name, too. A file with
 * several names, or one that is imported, counts as one file.
 */
const void *conf_index_get_only(const struct conf_index *index, const char *name);

/*
 * Returns true if a file, or one that it imports, may have functions that are found through a data
 * word (`@ *SYMBOL`). Comments count, too.
 */
bool conf_has_places(const char *path, conf_finder *finder, void *context);

/* Returns true if a file has the words `span NAME`, perhaps in a comment. */
bool conf_has_span(const char *path, const char *name);

#endif
