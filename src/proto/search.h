/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which .conf file speaks for which library. Files given with -F come first and speak for every
 * library. Otherwise a library's SONAME (or file name) is tried with ".conf" behind it, shortened
 * dot by dot (libc.so.6.conf, libc.so.conf, libc.conf), in $XDG_CONFIG_HOME/tracer
 * (~/.config/tracer), as well as ~/.tracer.conf, in each of $XDG_CONFIG_DIRS (/etc/xdg) under
 * tracer/, and in the installed directory. Each file is read once, when a library first asks for
 * it.
 *
 * In each directory the longest of the names counts; the files of all directories together make the
 * library, where a prototype of a directory named earlier replaces one of a later directory. Errors
 * in a file are reported once; that a file or directory as a whole cannot be read is reported as
 * line 0.
 */
#ifndef TRACER_PROTO_SEARCH_H
#define TRACER_PROTO_SEARCH_H

#include "proto/prototype.h"

struct proto_search;

/*
 * `data_dir`: the installed directory, or NULL. Errors in files found on the way go to `error`,
 * once; ~/.tracer.conf is read here and now.
 */
struct proto_search *proto_search_create(const char *data_dir, conf_error *error, void *context);
void proto_search_destroy(struct proto_search *search);

/*
 * Adds -F FILE|DIR[:FILE|DIR…]. A file is read now and serves every library; a directory is put in
 * front of those where SONAME.conf is looked for, behind those given before. To be called before
 * proto_search_library(). Returns the number of errors reported, or -errno with *bad set to the
 * failing element (owned by the caller, free it).
 */
int proto_search_add(struct proto_search *search, const char *list, char **bad);

/*
 * The library of prototypes for `soname`, or NULL when no file speaks for it. Owned by `search`.
 * The -F files are not part of it: see proto_search_global().
 */
const struct protolib *proto_search_library(struct proto_search *search, const char *soname);

/*
 * The prototype of `name` that one of the libraries has that files speak for, apart from the C
 * library and those of virtual machines: what a program may have in it that is linked statically.
 * libm, libpthread, librt and libdl come first, then the others by their names. NULL: none has it.
 * Files that have nothing of that name are not parsed.
 */
const struct prototype *proto_search_any(struct proto_search *search, const char *name);

/*
 * The prototype of a function that may be linked into a program, or into a library, which calls
 * the C library's as others do: if the file of one library alone knows its name. NULL: none does,
 * or several. Stores the library's name, which lives as long as `search`.
 */
const struct prototype *proto_search_only(struct proto_search *search, const char *name,
					  const char *architecture, const char **library);

/* What the -F files (and ~/.tracer.conf) say, for every library. */
const struct protolib *proto_search_global(const struct proto_search *search);

#endif
