/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the .conf files for a library. Files given with -F, and ~/.tracer.conf, apply to every
 * library. For a library, its SONAME (or file name) is tried with ".conf" behind it, shortened dot
 * by dot (libc.so.6.conf, libc.so.conf, libc.conf), in each directory: those given with -F,
 * $XDG_CONFIG_HOME/tracer (~/.config/tracer), tracer/ in each of $XDG_CONFIG_DIRS (/etc/xdg), and
 * the installed directory. Each file is read once, when a prototype of a library is first asked
 * for.
 *
 * In each directory the longest name that exists is used. The files of all directories together
 * make the library; a prototype from an earlier directory replaces one from a later directory.
 * Errors in a file are reported once. A file or directory that cannot be read at all is reported as
 * line 0.
 */
#ifndef TRACER_PROTO_SEARCH_H
#define TRACER_PROTO_SEARCH_H

#include "proto/prototype.h"

struct proto_search;

/*
 * `data_dir`: the installed directory, or NULL. Errors in all files are reported to `error`, each
 * once. ~/.tracer.conf is read at once.
 */
struct proto_search *proto_search_create(const char *data_dir, conf_error *error, void *context);
void proto_search_destroy(struct proto_search *search);

/*
 * Adds -F FILE|DIR[:FILE|DIR…]. A file is read at once and applies to every library. A directory is
 * searched for SONAME.conf before the standard ones, behind those given earlier. Must be called
 * before proto_search_library(). Returns the number of errors reported, or -errno with *bad set to
 * the failing element, which the caller frees.
 */
int proto_search_add(struct proto_search *search, const char *list, char **bad);

/*
 * Returns the prototypes for `soname`, or NULL if there is no file for it. Owned by `search`. They
 * do not include the -F files: see proto_search_global().
 */
const struct protolib *proto_search_library(struct proto_search *search, const char *soname);

/*
 * Returns a prototype of `name` from any library that a program may be statically linked with. The
 * C library and the libraries of language runtimes are excluded. libm, libpthread, librt and libdl
 * are searched first, then the others by their names. NULL: none has it. Files without the name are
 * not parsed.
 */
const struct prototype *proto_search_any(struct proto_search *search, const char *name);

/*
 * Returns the prototype of a function that may be linked into a program or a library, if the files
 * of one library alone have the name. NULL: none has it, several have it, or it belongs to a part
 * of the C library. Stores the name of that library, which lives as long as `search`.
 */
const struct prototype *proto_search_only(struct proto_search *search, const char *name,
					  const char *architecture, const char **library);

/*
 * Returns the span of that name, of the -F files or of any library whose files are found; NULL:
 * none has one. Files without spans are not parsed.
 */
const struct span *proto_search_span(struct proto_search *search, const char *name);

/* Returns the prototypes of the -F files and ~/.tracer.conf, which apply to every library. */
const struct protolib *proto_search_global(const struct proto_search *search);

#endif
