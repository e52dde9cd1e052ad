/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From code addresses to places in source files: see dwarf_source.c. */
#ifndef TRACER_DWARF_DWARF_SOURCE_H
#define TRACER_DWARF_DWARF_SOURCE_H

#include "dwarf/dwarf.h"

#include <stdbool.h>

enum { DWARF_ADDRESSES_MAX = 48 }; /* of one question */

/*
 * Finds the places in source files of `count` addresses of the object's own address space, which
 * are at most DWARF_ADDRESSES_MAX, and adds an answer for each of them to `text`. An answer is a
 * sequence of texts with a NUL behind each. The first is the decimal number of places that follow,
 * 0 if nothing is known. Each place has three texts: the decimal number of the line, 0 if the code
 * belongs to none; the path of the file, empty if it is not known; and the name of a function that
 * was inlined. The last place is that of the function whose code it is, and has no name. inlines:
 * the functions that were inlined there have places of their own, the innermost one first. Returns
 * 0, or with `text` unchanged -E2BIG: the reader has used up its steps.
 */
int dwarf_reader_lines(struct dwarf_reader *reader, const uint64_t *addresses, size_t count,
		       bool inlines, struct strbuf *text);

#endif
