/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stood above a call's slot when it was made: the frames of its callers. Where stacks are
 * copied to one place in turn (callstack.h), this tells whose call it is. A caller's frame is its
 * own while the call is pending; little of it changes, through pointers that were handed out.
 */
#ifndef TRACER_ENGINE_TRAP_SAMPLE_H
#define TRACER_ENGINE_TRAP_SAMPLE_H

#include "engine/trap/callstack.h"

enum { SAMPLE_BYTES = 1024 };

struct sample {
	size_t length; /* bytes that could be read */
	unsigned char bytes[SAMPLE_BYTES];
};

/* Reads what is there now; to be freed. */
struct sample *sample_take(const struct stack_view *view, void *context, uint64_t slot);

/* How many words two samples have in common. NULL has none. */
size_t sample_likeness(const struct sample *a, const struct sample *b);
bool sample_equal(const struct sample *a, const struct sample *b);

#endif
