/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prototypes from debug information (DWARF 2 to 5), as text in the language of .conf files: each
 * answer is a declaration that stands for itself, with the types that it needs in front, a line
 * each, so that everything else is the same for both.
 *
 * Built on libdwarf, which reads the mapped file and was not made for files that somebody has
 * forged. It may crash, or be killed by what becomes of the file, so a reader belongs into a
 * process that may die of it (inferior/helper.h). What it does is bounded by a number of steps, not
 * by time, so that answers are the same everywhere.
 */
#ifndef TRACER_PROTO_DWARF_H
#define TRACER_PROTO_DWARF_H

#include "base/strbuf.h"
#include "image/debug_file.h"

enum {
	/*
	 * Entries of debug information that may be looked at, for all questions to a reader
	 * together: some seconds for who traces.
	 */
	DWARF_STEPS_MAX = 4 << 20,
	/* And where somebody wants to have all there is: some minutes. */
	DWARF_STEPS_FOR_ALL = 256 << 20,
	/* Of these, for declarations, which no index has. */
	DWARF_DECLARATION_STEPS_MAX = 100 << 10,
	/* And for functions inside of others. */
	DWARF_INNER_STEPS_MAX = 1 << 20,
	/* Bytes of one declaration. */
	DWARF_TEXT_MAX = 16 << 10
};

struct dwarf_reader;

/*
 * -ENOENT: there is no debug information in them that could be read; -ENOTSUP: there is, but it is
 * compressed otherwise than by zlib. The files must outlive the reader. It does `steps` at most.
 * `levels`: how far pointers are followed, 1 is from a parameter to what it points to.
 */
int dwarf_reader_create(const struct debug_files *files, unsigned steps, unsigned levels,
			struct dwarf_reader **out);
void dwarf_reader_destroy(struct dwarf_reader *reader); /* NULL is fine */

/*
 * Adds `TYPE NAME(PARAMETER...);` for the function at `address` of the object's own address space,
 * as the function `name`. is_local: nobody outside of the object can call it, so that its compiler
 * may have known all callers. -ENOENT: nothing is known of it; -ENOTSUP: what is known cannot be
 * said in that language; -EPROTOTYPE: it is not called as it was written; -E2BIG: the reader has
 * done all the steps it may.
 */
int dwarf_reader_function(struct dwarf_reader *reader, uint64_t address, const char *name,
			  bool is_local, struct strbuf *text);

/*
 * The same for a function of Go's, as the function DWARF_GO_NAME, since Go's names are none in that
 * language: as it is called by Go's own convention.
 */
#define DWARF_GO_NAME "go_function"
int dwarf_reader_go(struct dwarf_reader *reader, uint64_t address, const char *name,
		    struct strbuf *text);

/*
 * The same for an indirect function (STT_GNU_IFUNC), of which `address` is the resolver's: that
 * says what kind of function it returns, without names.
 */
int dwarf_reader_indirect(struct dwarf_reader *reader, uint64_t address, const char *name,
			  struct strbuf *text);

/* The same for a function that the object only declares, as it calls it. */
int dwarf_reader_declaration(struct dwarf_reader *reader, const char *name, struct strbuf *text);

/*
 * Whether functions that were asked for are in files of their own (-gsplit-dwarf), which are not
 * read.
 */
bool dwarf_reader_met_split(const struct dwarf_reader *reader);

#endif
