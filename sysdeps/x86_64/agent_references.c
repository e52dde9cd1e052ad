/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds addresses that instructions refer to, without decoding all instructions before them, like
 * agent_words.c: bytes that only look like such an instruction count as one.
 */
#include "sysdeps/x86_64/agent.h"

#include <string.h>

enum { GROUP_5 = 0xff, LEA = 0x8d, MOVSLQ = 0x63, RIP = 5, DISPLACEMENT = 4 };

/* Below this, code of non-PIC programs may have addresses of 32 bits. */
static const uint64_t LOW = UINT64_C(1) << 32;

bool x86_64_jumps_by_pointer(const uint8_t *code, size_t length)
{
	const uint8_t *at = code, *end = code + length;

	while (at < end && (at = memchr(at, GROUP_5, (size_t)(end - at)))) {
		const uint8_t modrm = ++at < end ? *at : 0;

		/* jmp *word(%rip) is a jump to another function. */
		if ((modrm >> 3 & 7) == 4 && (modrm & 0xc7) != RIP)
			return true;
	}
	return false;
}

/* movslq with an index times 4, REX.W 63 /r, reads an entry of a table of distances. */
bool x86_64_reads_distances(const uint8_t *code, size_t length)
{
	for (size_t i = 1; i + 2 < length; i++)
		if (code[i] == MOVSLQ && (code[i - 1] & 0xf8) == 0x48 && (code[i + 1] & 7) == 4 &&
		    code[i + 1] < 0xc0 && code[i + 2] >> 6 == 2)
			return true;
	return false;
}

void x86_64_find_references(const struct agent_function *function, agent_reference *found,
			    void *context)
{
	const uint8_t *bytes = function->bytes;
	int32_t word;

	for (size_t i = 0; i + DISPLACEMENT <= function->length; i++) {
		const uint64_t next = function->address + i + DISPLACEMENT;

		memcpy(&word, bytes + i, sizeof word);
		if (i >= 3 && (bytes[i - 1] & 0xc7) == RIP && bytes[i - 2] == LEA &&
		    (bytes[i - 3] & 0xf8) == 0x48)
			found(context, next + (uint64_t)(int64_t)word);
		else if (function->address < LOW &&
			 (uint32_t)word - function->address - 1 < AGENT_JUMP - 1)
			found(context, (uint32_t)word);
	}
}

/* [endbr64] mov offset(%rdi), %rax; ret */
bool x86_64_returns_member(const uint8_t *code, size_t length, uint64_t *offset)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t mov_near[] = {0x48, 0x8b, 0x47}, mov_far[] = {0x48, 0x8b, 0x87};
	enum { RET = 0xc3, LONGEST = sizeof endbr + sizeof mov_far + 4 + 1 };
	uint32_t far;

	if (length < LONGEST)
		return false;
	if (!memcmp(code, endbr, sizeof endbr))
		code += sizeof endbr;
	memcpy(&far, code + sizeof mov_far, sizeof far);
	if (!memcmp(code, mov_near, sizeof mov_near) && code[4] == RET && code[3] < 0x80)
		*offset = code[3];
	else if (!memcmp(code, mov_far, sizeof mov_far) && code[7] == RET)
		*offset = far;
	else
		return false;
	return true;
}
