/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of Ruby: see ruby_lines.c. */
#ifndef TRACER_UNWIND_SCRIPT_RUBY_LINES_H
#define TRACER_UNWIND_SCRIPT_RUBY_LINES_H

#include "base/memory.h"

/*
 * ruby_insn_info(POSITION, COUNT, ENTRIES, RANKS, ENTRY_SIZE, LINE): the line of the instruction at
 * word POSITION of a method. COUNT: entries of its table; ENTRIES: where they are; RANKS: where the
 * table is that tells the entry of a position; ENTRY_SIZE: bytes of an entry; LINE: where an entry
 * has its line. Returns 0 if the method has none there, or it is unreadable.
 */
unsigned ruby_line(const struct memory_source *memory, const uint64_t *arguments);

#endif
