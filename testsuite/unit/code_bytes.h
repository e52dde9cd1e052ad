/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes of code as memory of a process, for tests of what decodes code. */
#ifndef TRACER_TESTSUITE_UNIT_CODE_BYTES_H
#define TRACER_TESTSUITE_UNIT_CODE_BYTES_H

#include "base/memory.h"

#include <string.h>

struct code_bytes {
	uint64_t address;
	const uint8_t *bytes;
	size_t length;
};

static void code_bytes_read(void *context, struct memory_range *ranges, size_t count)
{
	const struct code_bytes *code = context;

	for (size_t i = 0; i < count; i++) {
		const uint64_t at = ranges[i].address - code->address;
		const size_t left = at < code->length ? code->length - (size_t)at : 0;

		ranges[i].done = left < ranges[i].length ? left : ranges[i].length;
		if (ranges[i].done)
			memcpy(ranges[i].buffer, code->bytes + at, ranges[i].done);
	}
}

static inline struct memory_source code_bytes_memory(struct code_bytes *code)
{
	return (struct memory_source){.readv = code_bytes_read, .context = code};
}

#endif
