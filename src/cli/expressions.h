/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options that are expressions: --if, --by, --sum, --weight, --template. */
#ifndef TRACER_CLI_EXPRESSIONS_H
#define TRACER_CLI_EXPRESSIONS_H

#include "cli/options.h"

/* The expressions of the options, parsed. */
struct expressions {
	struct expression *condition; /* or NULL */
	struct template *template;    /* or NULL */
	struct vec keys;	      /* struct expression * */
	struct expression *sum;	      /* or NULL */
	struct expression *weight;    /* or NULL */
};

/*
 * Parses them, and sets the members of `output` that are about them; `expressions` must live as
 * long as `output`. Returns false on a mistake, which is reported. expressions_deinit() is needed
 * in any case.
 */
bool expressions_parse(const struct options *options, struct expressions *expressions,
		       struct output_options *output);
void expressions_deinit(struct expressions *expressions);

/*
 * Returns how many bytes of a string have to be captured: those that are shown, or more if
 * expressions use it.
 */
unsigned expressions_string_max(const struct options *options, const struct output_options *output);

#endif
