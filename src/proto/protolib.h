/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the .conf parser needs of a prototypes library, beyond the public prototype.h: memory that
 * lives as long as the library, type names, adding prototypes.
 */
#ifndef TRACER_PROTO_PROTOLIB_H
#define TRACER_PROTO_PROTOLIB_H

#include "proto/prototype.h"

#include <stdbool.h>
#include <sys/stat.h>

/* Memory owned by the library, aligned for any of its objects, not initialised. */
void *protolib_alloc(struct protolib *lib, size_t size);
/* A NUL-terminated copy owned by the library. */
const char *protolib_text(struct protolib *lib, const char *text, size_t length);

/* The type called so (built in or by typedef), or NULL. */
const struct type *protolib_type(const struct protolib *lib, const char *name, size_t length);
/* What the language itself has of that name, whatever typedef has made of it; it must have one. */
const struct type *protolib_own_type(const char *name);
/* Whether it has any of that name, also one that files often give anew. */
bool protolib_has_own_type(const char *name);
/* Whether it is a number that C has, as the language itself has it. */
bool protolib_is_own_number(const struct type *type);
/* The same of a name, whatever typedef has made of it. */
bool protolib_names_own_number(const char *name);
/* Names a type; a name given before now means the new type. Both are owned by the library. */
void protolib_add_type(struct protolib *lib, const char *name, const struct type *type);

/* Walks all named types, in order: start with *cursor = 0; NULL at the end. */
const struct type *protolib_next_type(const struct protolib *lib, size_t *cursor);

/* Adds a prototype owned by the library, or puts it in the place of the one of the same name. */
void protolib_add(struct protolib *lib, const struct prototype *prototype);

/*
 * Reads the file that `import "NAME";` in file `from` means into the library, once: the number of
 * errors, which were reported, or -errno.
 */
int protolib_import(struct protolib *lib, const char *from, const char *name, conf_error *error,
		    void *context);

/*
 * protolib_parse() for text of a known length, in which NULs are errors like other stray bytes
 * (conf.c).
 */
int conf_parse(struct protolib *lib, const char *file_name, const char *text, size_t length,
	       conf_error *error, void *context);

/*
 * The whole of a file, with a NUL behind it, to be freed, and what it is. 0 or -errno.
 */
int conf_read_file(const char *path, char **text, size_t *length, struct stat *status);

/*
 * The path of NAME.conf, or NAME, beside the file that imports it, or where the finder knows it, to
 * be freed; NULL: none. The finder may be NULL.
 */
char *conf_find_import(const char *from, const char *name, conf_finder *finder, void *context);

#endif
