/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parser of .conf files: the parameters of a prototype. */
#ifndef TRACER_PROTO_CONF_PARAMETER_H
#define TRACER_PROTO_CONF_PARAMETER_H

#include "proto/conf_type.h"

/* Parameters on their way, with the tokens that errors found later are about. */
struct conf_parameters {
	struct parameter items[CONF_PARAMETERS_MAX];
	struct conf_token tokens[CONF_PARAMETERS_MAX];
	unsigned count;
	bool on_return; /* a '+' was seen */
};

/* From "(" to ")", both taken; false when an error was reported. */
bool conf_parse_parameters(struct conf_parser *parser, struct conf_parameters *list);
/* Whether all that gives lengths, in parameters and in the result, can do so. */
bool conf_check_lengths(struct conf_parser *parser, const struct conf_parameters *list,
			const struct type *result, const struct conf_token *result_token);

/*
 * conf_choice.c: what may follow the type of a parameter, `if (VALUES) or TYPE …`, into the
 * parameter; its type is the first choice then. `selector`: the parameter whose values these are,
 * NULL: there is none before it.
 */
bool conf_parse_choices(struct conf_parser *parser, const struct parameter *selector,
			struct parameter *parameter);

#endif
