/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface of a prototypes library for the .conf parser, beyond the public prototype.h: memory
 * that lives as long as the library, names of types, adding prototypes.
 */
#ifndef TRACER_PROTO_PROTOLIB_H
#define TRACER_PROTO_PROTOLIB_H

#include "proto/prototype.h"

#include <stdbool.h>
#include <sys/stat.h>

/* Allocates memory owned by the library, aligned for any of its objects, not initialised. */
void *protolib_alloc(struct protolib *lib, size_t size);
/* Returns a NUL-terminated copy owned by the library. */
const char *protolib_text(struct protolib *lib, const char *text, size_t length);

/* Returns the type with that name (built in or by typedef), or NULL. */
const struct type *protolib_type(const struct protolib *lib, const char *name, size_t length);
/*
 * Returns the built-in type with that name, even if a typedef has redefined the name. There must be
 * such a type.
 */
const struct type *protolib_own_type(const char *name);
/* Returns true if the language has a type of that name, also one that files may redefine. */
bool protolib_has_own_type(const char *name);
/* Returns true if `type` is a number of C, as built in. */
bool protolib_is_own_number(const struct type *type);
/* Returns true if the name is that of a built-in number of C, even if it was redefined. */
bool protolib_names_own_number(const char *name);
/* Names a type. If the name is known, it means the new type from then on. The library owns both. */
void protolib_add_type(struct protolib *lib, const char *name, const struct type *type);

/* Walks all named types, in order. Begin with *cursor = 0. Returns NULL at the end. */
const struct type *protolib_next_type(const struct protolib *lib, size_t *cursor);

/* Adds a prototype, owned by the library. It replaces one with the same name. */
void protolib_add(struct protolib *lib, const struct prototype *prototype);

/* Adds a span, owned by the library. It replaces one with the same name. */
void protolib_add_span(struct protolib *lib, const struct span *span);

/*
 * Reads the file that `import "NAME";` in file `from` names into the library, once. Returns the
 * number of errors, which were reported, or -errno (-ENOENT: not found; -ELOOP: too many nested
 * imports).
 */
int protolib_import(struct protolib *lib, const char *from, const char *name, conf_error *error,
		    void *context);

/*
 * Reads a whole file. Returns 0 with the text, followed by a NUL, in *text, which the caller frees,
 * and the file's data in *status; or -errno.
 */
int conf_read_file(const char *path, char **text, size_t *length, struct stat *status);

/*
 * Returns the path of NAME.conf, or NAME, beside the file `from`, or where the finder finds it; the
 * caller frees it. NULL: there is none. The finder may be NULL.
 */
char *conf_find_import(const char *from, const char *name, conf_finder *finder, void *context);

#endif
