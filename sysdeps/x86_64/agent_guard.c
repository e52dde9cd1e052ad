/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guards, for functions whose first instruction accesses memory by a pointer, as in
 * pthread_mutex_lock() and in members of C++ classes. After a fault there the function has to be
 * run from its beginning (engine/agent/guards.c), so the fault should come before the call is
 * counted or recorded. For this the stub first reads from there. A fault behind the first
 * instruction is one within a call.
 *
 * A guard is `push operand`, which changes no flags, and no register but the stack pointer; a lea
 * restores that. It reads 8 bytes, and does not show whether they are writable. If only writing is
 * forbidden, or if the instruction accesses more memory, the call has been counted when it faults.
 */
#include "x86_64/agent.h"

#include <string.h>

enum { PUSH_GROUP = 0xff, PUSH = 6, PUSHED = 8, SHORT_JCC = 0x70 };

static const uint8_t put_back[AGENT_GUARD_BACK] = {0x48, 0x8d, 0x64, 0x24, 0x08};

size_t x86_64_put_guard(const uint8_t *bytes, const struct x86_scan *scan,
			uint8_t out[AGENT_GUARD_MAX])
{
	const uint8_t rex = scan->rex & 3; /* the bits of base and index */
	/* From the ModRM byte on: with SIB byte and displacement. */
	const size_t operand = 1U + scan->has_sib + scan->displacement_length;
	uint8_t *at = out;

	if (rex)
		*at++ = (uint8_t)(0x40 | rex);
	*at++ = PUSH_GROUP;
	memcpy(at, bytes + scan->length - operand, operand);
	*at = (uint8_t)((*at & 0xc7) | PUSH << 3);
	memcpy(at + operand, put_back, sizeof put_back);
	return (size_t)(at - out) + operand + sizeof put_back;
}

bool x86_64_is_guard(const uint8_t bytes[AGENT_GUARD_BACK], uint64_t *pushed)
{
	const bool is_behind = !memcmp(bytes, put_back, sizeof put_back);

	*pushed = is_behind ? PUSHED : 0;
	return is_behind || bytes[0] == PUSH_GROUP ||
	       ((bytes[0] & 0xfc) == 0x40 && bytes[1] == PUSH_GROUP);
}

size_t x86_64_offset_in_function(struct decoder *decoder, const uint8_t *code, size_t length,
				 size_t offset)
{
	struct x86_scan scan;
	size_t there = 0, here = 0;

	while (here < offset && there < AGENT_JUMP && there < length) {
		if (x86_scan(code + there, length - there, X86_MODE_64, &scan) != 0)
			break;
		int size = x86_decode_length(decoder, X86_MODE_64, code + there, length - there,
					     &scan);

		if (size <= 0)
			break;
		const bool is_short = scan.encoding == ENCODING_LEGACY &&
				      scan.map == MAP_ONE_BYTE && (scan.opcode & 0xf0) == SHORT_JCC;

		there += (size_t)size;
		here += is_short ? X86_64_NEAR_JCC : (size_t)size;
	}
	return here == offset && there < AGENT_JUMP ? there : SIZE_MAX;
}
