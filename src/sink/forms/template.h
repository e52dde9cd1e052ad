/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines by --template, one for each call that has ended: see template.c. */
#ifndef TRACER_SINK_FORMS_TEMPLATE_H
#define TRACER_SINK_FORMS_TEMPLATE_H

#include "probe/expression.h"
#include "sink/sink.h"

/* A piece of a line: a text, or the value of an expression. */
struct template_piece {
	char *text; /* owned; NULL: `expression` */
	struct expression *expression;
	int width; /* the value is padded to so many columns; negative: on the right */
};

struct template
{
	struct vec pieces; /* struct template_piece */
};

/*
 * Parses TEXT with %{EXPRESSION} and %WIDTH{EXPRESSION} in it; %% is a percent sign, \t a tab.
 * Returns NULL on a mistake, and stores it in *error. template_free() frees the result.
 */
struct template *template_parse(const char *text, struct expression_error *error);
void template_free(struct template *template); /* NULL is allowed */

/* A sink that writes the lines of target->options->template. */
struct sink *template_sink_create(const struct sink_target *target);

#endif
