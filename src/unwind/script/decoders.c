/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of decoders. What is one number or a plain run of bytes needs no code: the description
 * computes where it is. Code is needed for texts that have to be converted, and for line tables.
 */
#include "unwind/script/decoders.h"

#include "unwind/script/perl_lines.h"
#include "unwind/script/python_lines.h"
#include "unwind/script/ruby_lines.h"
#include "unwind/script/script_text.h"

#include <limits.h>
#include <string.h>

/* number(LINE) */
static unsigned number(const struct memory_source *memory, const uint64_t *arguments)
{
	(void)memory;
	return arguments[0] <= INT_MAX ? (unsigned)arguments[0] : 0;
}

static const struct script_decoder decoders[] = {
	{"text", 2, script_text_bytes, NULL},
	{"c_text", 1, script_text_c, NULL},
	{"python_text", 4, script_text_python, NULL},
	{"number", 1, NULL, number},
	{"python_lnotab", 3, NULL, python_line_lnotab},
	{"python_linetable", 3, NULL, python_line_linetable},
	{"python_locations", 3, NULL, python_line_locations},
	{"ruby_insn_info", 6, NULL, ruby_line},
	{"perl_line", 5, NULL, perl_line},
};

const struct script_decoder *script_decoder_find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++)
		if (strlen(decoders[i].name) == length && !memcmp(decoders[i].name, name, length))
			return &decoders[i];
	return NULL;
}
