/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and mistakes in frame descriptions: see frames_names.c. */
#ifndef TRACER_UNWIND_SCRIPT_FRAMES_NAMES_H
#define TRACER_UNWIND_SCRIPT_FRAMES_NAMES_H

#include "unwind/script/frames_state.h"

/* Reports "expected EXPECTED, found TOKEN" at the token's line, if it is the first mistake. */
void frames_fail(struct frames_parser *parser, const char *expected);
/* Takes this name or mark, or reports that it was expected. */
bool frames_expect(struct frames_parser *parser, const char *word);
/* Reports what is left of the line. */
void frames_expect_end(struct frames_parser *parser);
/* Takes a name, which the caller frees. Returns NULL and reports it if another token is next. */
char *frames_take_name(struct frames_parser *parser, const char *expected);

/* Returns what the name stands for, or NULL. Valid until the next one is added. */
struct frames_name *frames_find(struct frames_parser *parser, const char *name, size_t length);
/* Adds a name, which is copied, or gives a known one a new meaning. */
struct frames_name *frames_define(struct frames_parser *parser, const char *name,
				  struct script_operand operand);
/* Forgets the variables of the walk. */
void frames_forget_locals(struct frames_parser *parser);

/* Returns the register of a value; the same for the same kind and symbol (NULL: a new one). */
uint8_t frames_value(struct frames_parser *parser, enum script_value_kind kind, const char *symbol);

#endif
