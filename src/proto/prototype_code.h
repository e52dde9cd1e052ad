/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prototypes in trace files: all that is needed to show the values of a record.
 *
 * What is needed to capture them, such as the way to a text or to a function without a symbol, is
 * left out.
 */
#ifndef TRACER_PROTO_PROTOTYPE_CODE_H
#define TRACER_PROTO_PROTOTYPE_CODE_H

#include "proto/prototype.h"
#include "stream/bytes.h"

/* Appends a prototype with its types. */
void prototype_encode(struct bytes *out, const struct prototype *prototype);

#endif
