/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From code addresses to places in source files: see dwarf_source.c. */
#ifndef TRACER_DWARF_DWARF_SOURCE_H
#define TRACER_DWARF_DWARF_SOURCE_H

#include "dwarf/dwarf.h"

enum { DWARF_ADDRESSES_MAX = 48 }; /* of one question */

/*
 * Finds the source lines of `count` addresses of the object's own address space, which are at most
 * DWARF_ADDRESSES_MAX, and adds an answer for each of them to `text`. An answer is a sequence of
 * texts with a NUL behind each: the decimal number of places that follow, which is 0 if the line is
 * not known; and for each place the decimal number of the line, 0 if the code belongs to no line,
 * and the path of the file. Returns 0, or with `text` unchanged -E2BIG: the reader has used up its
 * steps.
 */
int dwarf_reader_lines(struct dwarf_reader *reader, const uint64_t *addresses, size_t count,
		       struct strbuf *text);

#endif
