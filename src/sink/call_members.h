/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of expressions made of values in records, and members of objects: see call_members.c. */
#ifndef TRACER_SINK_CALL_MEMBERS_H
#define TRACER_SINK_CALL_MEMBERS_H

#include "probe/expression_run.h"
#include "sink/render/render.h"

/* A value of a record, with what has to be known to look into it. */
struct typed_value {
	const struct type *type;
	const struct record_value *value;
	struct value_cursor *cursor; /* behind the value */
	const struct render_options *render;
	unsigned argument; /* what its parts have for `argument` */
};

/*
 * Follows the steps of an EXPRESSION_NAME node from a value, and returns what is there. Texts are
 * kept by `run`.
 */
struct expression_value call_members_get(const struct typed_value *typed,
					 const struct expression *node, struct expression_run *run);

#endif
