/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Line tables of Python. Each function takes the address of the bytes object with the table, the
 * offset of an instruction, and the line that the code object begins at. It returns the line, or 0
 * if the table has none for that instruction, or is unreadable.
 */
#ifndef TRACER_UNWIND_SCRIPT_PYTHON_LINES_H
#define TRACER_UNWIND_SCRIPT_PYTHON_LINES_H

#include "base/memory.h"

/* co_lnotab, up to Python 3.9; the offset is in bytes. Source: Objects/lnotab_notes.txt. */
unsigned python_line_lnotab(const struct memory_source *memory, const uint64_t *arguments);
/* co_linetable, Python 3.10; in bytes. Source: PEP 626 and Objects/lnotab_notes.txt. */
unsigned python_line_linetable(const struct memory_source *memory, const uint64_t *arguments);
/* co_linetable, from Python 3.11; in code units of 2 bytes. Source: Objects/locations.md. */
unsigned python_line_locations(const struct memory_source *memory, const uint64_t *arguments);

#endif
