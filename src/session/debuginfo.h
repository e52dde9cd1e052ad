/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prototypes from the debug information of modules, each read when it is first asked for, in a
 * process of its own (inferior/helper.h): debug information may be large, and may have been made to
 * crash its reader.
 */
#ifndef TRACER_SESSION_DEBUGINFO_H
#define TRACER_SESSION_DEBUGINFO_H

#include "base/strbuf.h"
#include "image/debug_file.h"
#include "proto/prototype.h"

#include <sys/types.h>

/* What is known of all modules together. It owns all prototypes, which live as long as it does. */
struct debuginfo;
/* What is known of one. */
struct debug_source;

/* `steps` that may be done for one module, `levels` of pointers: see proto/dwarf.h. */
struct debuginfo *debuginfo_create(bool verbose, unsigned steps, unsigned levels);
void debuginfo_destroy(struct debuginfo *info); /* NULL is fine; the sources must be gone */

/*
 * One reference to what is known of a file, which must outlive it: all modules that it was loaded
 * as share it, and what was asked before. Nothing is looked for so far; `path` is of the first of
 * them. `pid`, when it is asked: a process that has the module loaded; its file system is where the
 * files are.
 */
struct debug_source *debug_source_get(struct debuginfo *info, struct elf_file *file,
				      const char *path);
void debug_source_unref(struct debug_source *source); /* NULL is fine */

/* What is at an address. */
enum debug_function {
	DEBUG_FUNCTION = 'f',
	DEBUG_LOCAL = 'l',   /* one that nobody outside of the module can call by its name */
	DEBUG_GO = 'g',	     /* one of Go's, by its convention */
	DEBUG_RESOLVER = 'i' /* what chooses the function that an IFUNC of that name is */
};

/*
 * The function at `address` of the file's own address space, as `name`; NULL: nothing is known. One
 * that is not called as it was written has prototype_guess(), whatever others say of it.
 */
const struct prototype *debug_source_function(struct debug_source *source, pid_t pid,
					      uint64_t address, const char *name,
					      enum debug_function kind);
/* What the module says of a function that it calls. */
const struct prototype *debug_source_declaration(struct debug_source *source, pid_t pid,
						 const char *name);

/* The file that it is in; NULL: there is none, or it is the module's own. */
struct elf_file *debug_source_file(struct debug_source *source, pid_t pid);
/*
 * Whether there is debug information, as far as that can be told without reading it. Not any more
 * when asking has failed, or has taken too long, which was said.
 */
bool debug_source_is_there(struct debug_source *source, pid_t pid);
/* Whether some of what was asked for may be in files that are not read, or missing: was said. */
bool debug_source_is_elsewhere(const struct debug_source *source);
/* Adds the declaration of the same, if it is known. */
void debug_source_text(struct debug_source *source, pid_t pid, uint64_t address, const char *name,
		       enum debug_function kind, struct strbuf *text);

/*
 * Opens by the rules for debug files (doc/SECURITY.md): debug_opener, its context a struct
 * file_view.
 */
int debuginfo_open(void *view, const char *path);

#endif
