/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of stack contents, which tell calls apart that share a stack word (sample.h). */
#include "engine/core/sample.h"

#include "base/xalloc.h"

#include <string.h>

struct sample *sample_take(const struct stack_view *view, void *context, uint64_t slot)
{
	struct sample *sample = xcalloc(1, sizeof *sample);

	if (view && view->read)
		sample->length = view->read(context, slot, sample->bytes, sizeof sample->bytes);
	return sample;
}

size_t sample_likeness(const struct sample *a, const struct sample *b)
{
	size_t length = a && b ? (a->length < b->length ? a->length : b->length) : 0;
	size_t same = 0;

	for (size_t at = 0; at + sizeof(uint32_t) <= length; at += sizeof(uint32_t))
		same += !memcmp(a->bytes + at, b->bytes + at, sizeof(uint32_t));
	return same;
}

bool sample_equal(const struct sample *a, const struct sample *b)
{
	return a && b && a->length == b->length && !memcmp(a->bytes, b->bytes, a->length);
}
