/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parser of .conf files: the parameters of a prototype. */
#ifndef TRACER_PROTO_CONF_PARAMETER_H
#define TRACER_PROTO_CONF_PARAMETER_H

#include "proto/conf_type.h"

/* Parameters parsed so far, with their first tokens, which later errors refer to. */
struct conf_parameters {
	struct parameter items[CONF_PARAMETERS_MAX];
	struct conf_token tokens[CONF_PARAMETERS_MAX];
	unsigned count;
	bool on_return; /* a '+' was parsed */
};

/* Parses from "(" up to and with ")". Returns false if an error was reported. */
bool conf_parse_parameters(struct conf_parser *parser, struct conf_parameters *list);
/*
 * Returns true if the parameters that give lengths, and the result, are integers that can do so.
 * Else reports an error.
 */
bool conf_check_lengths(struct conf_parser *parser, const struct conf_parameters *list,
			const struct type *result, const struct conf_token *result_token);

#endif
