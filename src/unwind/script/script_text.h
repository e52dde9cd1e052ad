/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names in the memory of virtual machines. Each function appends text to `out` and returns true; if
 * the text is unreadable, empty or not of the form that is expected, it returns false. Text is cut
 * behind SCRIPT_TEXT_MAX bytes, and at a NUL. It may hold any other bytes.
 */
#ifndef TRACER_UNWIND_SCRIPT_SCRIPT_TEXT_H
#define TRACER_UNWIND_SCRIPT_SCRIPT_TEXT_H

#include "base/memory.h"
#include "base/strbuf.h"

#include <stdbool.h>

enum { SCRIPT_TEXT_MAX = 4096 };

/* text(ADDRESS, LENGTH) */
bool script_text_bytes(const struct memory_source *memory, const uint64_t *arguments,
		       struct strbuf *out);
/* c_text(ADDRESS): up to a NUL */
bool script_text_c(const struct memory_source *memory, const uint64_t *arguments,
		   struct strbuf *out);
/*
 * python_text(LENGTH, STATE, ASCII, WIDE): a compact string object of Python (PEP 393), as UTF-8.
 * LENGTH is in characters. STATE has the bytes of a character in bits 0 to 2, "is compact" in bit 3,
 * "is ASCII" in bit 4. ASCII and WIDE are where the characters are if it is ASCII, and if not.
 */
bool script_text_python(const struct memory_source *memory, const uint64_t *arguments,
			struct strbuf *out);

#endif
