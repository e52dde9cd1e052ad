/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A copy of the stack above a call's stack word, made at the call: the frames of its callers.
 * Where stacks are copied to one address in turn (callstack.h), the sample tells whose call it is.
 * A caller's frame is its own while the call is pending; little of it changes, through pointers
 * passed to others.
 */
#ifndef TRACER_ENGINE_CORE_SAMPLE_H
#define TRACER_ENGINE_CORE_SAMPLE_H

#include "engine/core/callstack.h"

enum { SAMPLE_BYTES = 1024 };

struct sample {
	size_t length; /* bytes that could be read */
	unsigned char bytes[SAMPLE_BYTES];
};

/* Reads the present contents above `slot`; the result is to be freed. */
struct sample *sample_take(const struct stack_view *view, void *context, uint64_t slot);

/* Returns the number of equal 32-bit words of two samples; 0 if one is NULL. */
size_t sample_likeness(const struct sample *a, const struct sample *b);
bool sample_equal(const struct sample *a, const struct sample *b);

#endif
