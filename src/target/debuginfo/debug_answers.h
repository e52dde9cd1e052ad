/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers questions about one module's debug information, in the helper process: see
 * debug_answers.c.
 */
#ifndef TRACER_TARGET_DEBUGINFO_DEBUG_ANSWERS_H
#define TRACER_TARGET_DEBUGINFO_DEBUG_ANSWERS_H

#include "base/strbuf.h"
#include "object/debug_file.h"

struct dwarf_reader;

/* State of the helper between questions. Its creator sets files, object, steps, and levels. */
struct debug_reading {
	struct debug_files files;
	struct dwarf_reader *reader;
	unsigned steps, levels;
	bool opened;
	int error; /* -errno of the opening */
	struct elf_file *object;
	struct elf_file *symbols; /* its MiniDebugInfo; NULL: it cannot be unpacked */
	bool unpacked;
};

/* Answers that are not declarations: */
#define DEBUG_IN_OTHER_FILES "." /* the answer may be in a file that is not read */
#define DEBUG_IN_OTHER_FORM "?"	 /* compressed in a way that the tracer cannot unpack */
#define DEBUG_DAMAGED "!"
#define DEBUG_TOO_MUCH "+"
#define DEBUG_OTHERWISE "-" /* known, but not called by the convention of any declaration */

/*
 * The helper_answer function of such a helper; `context` is its struct debug_reading. Questions:
 *     KIND ADDRESS NAME    the declaration of a function; KIND: enum debug_function
 *     d NAME               the module's declaration of a function that it calls
 *     s ADDRESS …          source lines: source_lines_question()
 *     m ADDRESS            the symbol around the address: "DISTANCE NAME"
 * The answer is text, or nothing, or one of the strings above.
 */
void debug_answer(void *context, const char *question, size_t length, struct strbuf *text);

#endif
