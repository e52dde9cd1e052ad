/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prototypes and source lines from the debug information of modules. It is read when a module is
 * first asked, in a separate process (tracee/helper.h), because it may be large, and may be made to
 * crash its reader.
 */
#ifndef TRACER_TARGET_DEBUGINFO_DEBUGINFO_H
#define TRACER_TARGET_DEBUGINFO_DEBUGINFO_H

#include "base/strbuf.h"
#include "object/debug_file.h"
#include "proto/prototype.h"
#include "target/debuginfo/debug_function.h"
#include "target/debuginfo/source_lines.h"

#include <sys/types.h>

/*
 * The debug information of all modules together. It owns all prototypes, which live as long as it
 * does.
 */
struct debuginfo;
/* The debug information of one file. */
struct debug_source;

/* `steps`: limit of work for one module; `levels`: depth of pointers. See dwarf/dwarf.h. */
struct debuginfo *debuginfo_create(bool verbose, unsigned steps, unsigned levels);
/* Functions that were inlined have source lines of their own. To be called before any question. */
void debuginfo_want_inlines(struct debuginfo *info);
/* NULL is allowed. All sources must have been released. */
void debuginfo_destroy(struct debuginfo *info);

/*
 * Returns a reference to the debug information of `file`, which must outlive it. All modules of
 * that file share it, with the answers so far; `path` is that of the first of them. No file is
 * searched for yet. The functions below take in `pid` a process that has the module loaded: debug
 * files are looked for in its file system.
 */
struct debug_source *debug_source_get(struct debuginfo *info, struct elf_file *file,
				      const char *path);
void debug_source_unref(struct debug_source *source); /* NULL is allowed */

/*
 * Returns the prototype of the function `name` at `address` in the file's address space; NULL if
 * nothing is known. A function whose calls do not match its declaration has prototype_guess(),
 * whatever other modules declare.
 */
const struct prototype *debug_source_function(struct debug_source *source, pid_t pid,
					      uint64_t address, const char *name,
					      enum debug_function kind);
/* Returns the module's declaration of a function that it calls. */
const struct prototype *debug_source_declaration(struct debug_source *source, pid_t pid,
						 const char *name);

/*
 * Finds the source lines of `count` addresses in the file's address space: codes[i] is what is
 * known of addresses[i], or NULL. Each is valid until the next call. For code that has made a call,
 * ask about an address in the call instruction: the one behind it may belong to another line.
 */
void debug_source_lines(struct debug_source *source, pid_t pid, const uint64_t *addresses,
			size_t count, const struct source_code **codes);

/*
 * Asks the same without waiting for the answer, so that the debug information is read meanwhile:
 * the next question to this source waits for it. No more than a hint; what is not asked now is
 * asked then.
 */
void debug_source_lines_ahead(struct debug_source *source, pid_t pid, const uint64_t *addresses,
			      size_t count);

/*
 * Returns the separate debug file; NULL if there is none, or the module's own file has the
 * information.
 */
struct elf_file *debug_source_file(struct debug_source *source, pid_t pid);
/*
 * Returns true if there is debug information, as far as is known without reading it. False after a
 * question has failed or taken too long, which was reported.
 */
bool debug_source_is_there(struct debug_source *source, pid_t pid);
/*
 * Returns true if some answers may be in files that are not read, or missing, which was reported.
 */
bool debug_source_is_elsewhere(const struct debug_source *source);
/* Adds the declaration that debug_source_function() would parse, if there is one. */
void debug_source_text(struct debug_source *source, pid_t pid, uint64_t address, const char *name,
		       enum debug_function kind, struct strbuf *text);

/*
 * Returns the symbol around `address` in the file's address space, from a table that was compressed
 * and put into the file when it was stripped (MiniDebugInfo), and *offset, the distance from it.
 * NULL: there is none. The text is valid until the next call.
 */
const char *debug_source_symbol(struct debug_source *source, pid_t pid, uint64_t address,
				uint64_t *offset);

#endif
