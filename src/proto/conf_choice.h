/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parser of .conf files: parameters whose type depends on the value of another parameter: see
 * conf_choice.c.
 */
#ifndef TRACER_PROTO_CONF_CHOICE_H
#define TRACER_PROTO_CONF_CHOICE_H

#include "proto/conf_parameter.h"

/*
 * Parses `if (VALUES) or TYPE …` behind the type of a parameter, and stores it in
 * the parameter, whose type becomes the first choice. `selector`: the earlier parameter that has
 * these values; NULL: there is none, which is an error.
 */
bool conf_parse_choices(struct conf_parser *parser, const struct parameter *selector,
			struct parameter *parameter);

#endif
