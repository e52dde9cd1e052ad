/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expressions of frame descriptions: see frames_expression.c. */
#ifndef TRACER_UNWIND_SCRIPT_FRAMES_EXPRESSION_H
#define TRACER_UNWIND_SCRIPT_FRAMES_EXPRESSION_H

#include "unwind/script/frames_names.h"

/* Parses an expression and writes what computes it to parser->code. Returns where its value is. */
struct script_operand frames_expression(struct frames_parser *parser);

#endif
