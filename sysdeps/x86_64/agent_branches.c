/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searches code for branches: no branch may lead into the bytes that a jump of the agent covers.
 * The code is not decoded: each byte that could be a branch's opcode counts as one. If the function
 * around is known, is_branch() decodes it to decide whether the byte is one.
 */
#include "x86/x86.h"
#include "x86_64/agent.h"

#include <string.h>

/*
 * Checks the target before the opcode: few targets are asked for, so this branch is predicted well.
 */
static void find_short(const uint8_t *bytes, uint64_t address, const struct sieve *asked,
		       agent_branch *found, void *context)
{
	uint64_t target = address + 2 + (uint64_t)(int8_t)bytes[1];

	if (sieve_has(asked, target) &&
	    ((bytes[0] & 0xf0) == 0x70 || bytes[0] == 0xeb || (bytes[0] & 0xfc) == 0xe0))
		found(context, address, target, false);
}

/* `is_indirect`: with the byte before, `bytes` would be the ModRM byte of `jmp *x(%rip)`. */
static void find_near(const uint8_t *bytes, uint64_t address, bool is_indirect,
		      const struct sieve *asked, agent_branch *found, void *context)
{
	int32_t distance;

	memcpy(&distance, bytes + 1, sizeof distance);
	uint64_t target = address + 5 + (uint64_t)(int64_t)distance;

	/* 0x80 to 0x8f: the second byte of a conditional branch. */
	if (sieve_has(asked, target) && ((bytes[0] & 0xfe) == 0xe8 || (bytes[0] & 0xf0) == 0x80 ||
					 (bytes[0] == 0x25 && is_indirect)))
		found(context, address, target, bytes[0] == 0xe8);
}

void x86_64_find_branches(const uint8_t *bytes, size_t length, uint64_t address,
			  const struct sieve *asked, agent_branch *found, void *context)
{
	for (size_t i = 0; i + 1 < length; i++) {
		find_short(bytes + i, address + i, asked, found, context);
		if (i + 5 <= length)
			find_near(bytes + i, address + i, i && bytes[i - 1] == 0xff, asked, found,
				  context);
	}
}

/* Returns true if find_branches() reports this instruction at its byte `offset`. */
static bool tells_branch(const struct x86_scan *scan, size_t offset)
{
	const uint8_t opcode = scan->opcode;

	if (scan->encoding != ENCODING_LEGACY)
		return false;
	if (scan->map == MAP_0F)
		return (opcode & 0xf0) == 0x80 && offset == scan->length - 1u;
	if (scan->map != MAP_ONE_BYTE)
		return false;
	if (opcode == 0xff) /* by a word in the module */
		return scan->reg == 4 && scan->pc_relative &&
		       offset == scan->displacement_offset - 1u;
	return ((opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0 || opcode == 0xeb ||
		(opcode & 0xfe) == 0xe8) &&
	       offset == scan->length - 1u;
}

bool x86_64_is_branch(struct decoder *decoder, const struct agent_function *function, size_t offset)
{
	struct x86_scan scan;
	size_t start = 0, next = 0;

	while (next <= offset) {
		const uint8_t *bytes = function->bytes + next;
		size_t left = function->length - next;

		if (next >= function->length || x86_scan(bytes, left, X86_MODE_64, &scan) != 0)
			return true;
		int length = x86_decode_length(decoder, X86_MODE_64, bytes, left, &scan);

		if (length <= 0)
			return true;
		start = next;
		next += (size_t)length;
	}
	return tells_branch(&scan, offset - start);
}
