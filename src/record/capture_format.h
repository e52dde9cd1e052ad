/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Printf formats in capture plans: the format, then a value for each argument that it takes: see
 * capture_format.c.
 */
#ifndef TRACER_RECORD_CAPTURE_FORMAT_H
#define TRACER_RECORD_CAPTURE_FORMAT_H

#include "record/capture_run.h"

/*
 * Returns the number of xmm registers that hold arguments, as the caller of a variadic function
 * says.
 */
uint64_t capture_vectors(const struct capture_plan *plan, const struct capture_frame *frame);
/* Makes the values of a CAPTURE_FORMAT. Returns false if the record is full. */
bool capture_put_format(struct capture *c, const struct capture_op *op);

#endif
