/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structs, arrays and pointers in capture plans: see capture_object.c. */
#ifndef TRACER_RECORD_CAPTURE_OBJECT_H
#define TRACER_RECORD_CAPTURE_OBJECT_H

#include "record/capture_run.h"

/* Makes the values of a CAPTURE_OBJECT or CAPTURE_INLINE. Returns false if the record is full. */
bool capture_put_object(struct capture *c, const struct capture_op *op);
/* Completes a VALUE_OBJECT, whose `word` is the address, with wide characters up to a zero. */
void capture_load_wide(struct capture *c, struct record_value *value, const struct extent *extent);
/* Returns how many bytes of a CAPTURE_OBJECT's object are worth reading in advance. */
size_t capture_object_ahead(struct capture *c, const struct capture_op *op);

#endif
