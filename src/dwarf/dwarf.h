/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prototypes from debug information (DWARF 2 to 5), as text in the language of .conf files. Each
 * answer is one complete declaration, with the typedefs that it needs in front, one per line. The
 * parser of .conf files (proto/conf.c) reads the answer like any other file.
 *
 * The reader is built on libdwarf, which reads the mapped file and was not made for forged files.
 * libdwarf may crash, or be killed by SIGBUS when the file is truncated, so a reader belongs in a
 * process that may die of it (tracee/helper.h). The work of a reader is bounded by a number of
 * steps, not by time, so that answers are the same on every machine.
 */
#ifndef TRACER_DWARF_DWARF_H
#define TRACER_DWARF_DWARF_H

#include "base/strbuf.h"
#include "object/debug_file.h"

enum {
	/*
	 * Entries of debug information (DIEs) that a reader may visit, for all questions together.
	 * The user of a trace waits some seconds for that many.
	 */
	DWARF_STEPS_MAX = 4 << 20,
	/* The number of steps where all functions are wanted: some minutes. */
	DWARF_STEPS_FOR_ALL = 256 << 20,
	/* The part of these steps that goes into finding declarations, which no index has. */
	DWARF_DECLARATION_STEPS_MAX = 100 << 10,
	/* The part of these steps that goes into finding functions inside of other functions. */
	DWARF_INNER_STEPS_MAX = 1 << 20,
	/* Bytes of the text of one declaration. */
	DWARF_TEXT_MAX = 16 << 10,
	/* Bytes of the path of a source file. */
	DWARF_PATH_MAX = 4096
};

struct dwarf_reader;

/*
 * Makes a reader of `files`, which must outlive the reader. `steps`: the number of steps that the
 * reader may take. `levels`: how far pointers to structs are followed; 1 is from a parameter to
 * what the parameter points to. Returns 0 and the reader in *out, or *out = NULL and -ENOENT: the
 * files have no readable debug information; -ENOTSUP: the debug information is compressed by
 * something else than zlib.
 */
int dwarf_reader_create(const struct debug_files *files, unsigned steps, unsigned levels,
			struct dwarf_reader **out);
void dwarf_reader_destroy(struct dwarf_reader *reader); /* does nothing for NULL */

/*
 * Adds `TYPE NAME(PARAMETER...);` to `text` for the function `name` at `address` of the object's
 * own address space. is_local: the function cannot be called from outside of the object, so its
 * compiler may have known all callers. Returns 0, or with `text` unchanged: -ENOENT: no entry
 * describes the function; -ENOTSUP: the .conf language cannot express the prototype; -EPROTOTYPE:
 * the function is not called as it was written (other places, or other parameters); -E2BIG: the
 * reader has used up its steps.
 */
int dwarf_reader_function(struct dwarf_reader *reader, uint64_t address, const char *name,
			  bool is_local, struct strbuf *text);

/*
 * Like dwarf_reader_function(), for a function of Go that is called by Go's own convention. The
 * declaration has the name DWARF_GO_NAME, since Go's names are not valid in the .conf language.
 * -ENOENT leaves `text` as it was; other errors clear it.
 */
#define DWARF_GO_NAME "go_function"
int dwarf_reader_go(struct dwarf_reader *reader, uint64_t address, const char *name,
		    struct strbuf *text);

/*
 * Like dwarf_reader_function(), for an indirect function (STT_GNU_IFUNC). `address` is that of the
 * resolver. The prototype is the type of function that the resolver returns; it has no parameter
 * names.
 */
int dwarf_reader_indirect(struct dwarf_reader *reader, uint64_t address, const char *name,
			  struct strbuf *text);

/*
 * Like dwarf_reader_function(), for an external function that the object only declares and calls.
 */
int dwarf_reader_declaration(struct dwarf_reader *reader, const char *name, struct strbuf *text);

/*
 * Returns true if functions that were asked for are described in files of their own
 * (-gsplit-dwarf). The reader does not read these files.
 */
bool dwarf_reader_met_split(const struct dwarf_reader *reader);

#endif
