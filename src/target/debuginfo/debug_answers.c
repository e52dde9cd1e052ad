/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper process' side of debuginfo.c: it reads the debug information of one module, and tells
 * in text what it finds. The files are open and mapped when the helper is forked; they are parsed
 * when the first question comes, and kept parsed. A file may be made to crash its reader: that ends
 * the helper and nothing else.
 */
#include "target/debuginfo/debug_answers.h"

#include "dwarf/dwarf.h"
#include "object/elf_address.h"
#include "object/mini_debug.h"
#include "target/debuginfo/debug_function.h"
#include "target/debuginfo/source_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/*
 * Passes a question on: kind (enum debug_function), address and name, or "d NAME", or one about
 * source lines. Returns 0 or an -errno of dwarf/dwarf.h.
 */
static int ask_reader(struct dwarf_reader *reader, const char *question, struct strbuf *text)
{
	char *name;

	if (question[0] == 'd')
		return dwarf_reader_declaration(reader, question + 2, text);
	if (question[0] == SOURCE_LINES || question[0] == SOURCE_LINES_AND_INLINES)
		return source_lines_answer(reader, question, text);
	uint64_t address = strtoull(question + 2, &name, 16);

	name += *name == ' ';
	if (question[0] == DEBUG_GO)
		return dwarf_reader_go(reader, address, name, text);
	return question[0] == DEBUG_RESOLVER
		       ? dwarf_reader_indirect(reader, address, name, text)
		       : dwarf_reader_function(reader, address, name, question[0] == DEBUG_LOCAL,
					       text);
}

/* Answers "m ADDRESS": the symbol around the address, as "DISTANCE NAME". */
static void answer_symbol(struct debug_reading *reading, const char *question, struct strbuf *text)
{
	uint64_t offset;

	if (!reading->unpacked && mini_debug_open(reading->object, &reading->symbols) != 0)
		reading->symbols = NULL;
	reading->unpacked = true;
	const char *name = reading->symbols
				   ? elf_name_of_code(reading->symbols,
						      strtoull(question + 2, NULL, 16), &offset)
				   : NULL;

	if (name)
		strbuf_printf(text, "%" PRIx64 " %s", offset, name);
}

void debug_answer(void *context, const char *question, size_t length, struct strbuf *text)
{
	struct debug_reading *reading = context;

	(void)length;
	if (question[0] == 'm') {
		answer_symbol(reading, question, text);
		return;
	}
	if (!reading->opened) {
		reading->opened = true;
		reading->error = dwarf_reader_create(&reading->files, reading->steps,
						     reading->levels, &reading->reader);
	}
	if (reading->error) {
		strbuf_add(text, reading->error == -ENOTSUP ? DEBUG_IN_OTHER_FORM : DEBUG_DAMAGED);
		return;
	}
	const int error = ask_reader(reading->reader, question, text);

	if (error == -E2BIG)
		strbuf_add(text, DEBUG_TOO_MUCH);
	else if (error == -EPROTOTYPE &&
		 (question[0] == DEBUG_FUNCTION || question[0] == DEBUG_LOCAL))
		strbuf_add(text, DEBUG_OTHERWISE);
	if (!text->length && dwarf_reader_met_split(reading->reader))
		strbuf_add(text, DEBUG_IN_OTHER_FILES);
}
