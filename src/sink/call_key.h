/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text by which calls are grouped into rows: --by. */
#ifndef TRACER_SINK_CALL_KEY_H
#define TRACER_SINK_CALL_KEY_H

#include "base/strbuf.h"
#include "sink/call_values.h"

/*
 * Appends the key of a call: the values of `keys` (struct expression *), with commas in between, or
 * if that is NULL or empty, the function as it is shown. The text has no NUL in it, and ends with
 * one.
 */
void call_key_add(struct strbuf *key, struct call_values *values, const struct vec *keys);

#endif
