/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of Ruby (from 2.5 on). A method has an entry for each instruction at which the line
 * changes. Which entry is that of an instruction says a bit vector with one bit per position and
 * the number of bits before: the entry is the rank of the position. Ruby keeps the ranks of the
 * first 54 positions as they are, nine to a word, and the others as blocks of 512 bits, each with
 * the rank of its beginning and those of its 64-bit words. (ruby: iseq.c, "succinct bit-vector".)
 */
#include "unwind/script/ruby_lines.h"

#include <limits.h>
#include <string.h>

enum {
	PLAIN = 54, /* positions whose ranks are kept as they are */
	PLAIN_IN_WORD = 9,
	PLAIN_BITS = 7,
	BLOCK_POSITIONS = 512,
	BLOCK_RANKS = 8,  /* behind the rank of the block: those of its words */
	BLOCK_WORDS = 16, /* the bits */
	BLOCK_BYTES = 80,
	WORD_RANK_BITS = 9,
	POSITION_MAX = 1 << 24
};

/* The rank of a position in a block: bits before its word, and in its word up to itself. */
static uint64_t rank_in_block(const uint8_t *block, unsigned position)
{
	const unsigned word = position / 64;
	uint32_t rank;
	uint64_t ranks, bits;

	memcpy(&rank, block, sizeof rank);
	memcpy(&ranks, block + BLOCK_RANKS, sizeof ranks);
	memcpy(&bits, block + BLOCK_WORDS + 8 * word, sizeof bits);
	const uint64_t before = word ? ranks >> (word - 1) * WORD_RANK_BITS & 0x1ff : 0;

	return rank + before + (unsigned)__builtin_popcountll(bits << (63 - position % 64));
}

static bool find_rank(const struct memory_source *memory, uint64_t table, unsigned position,
		      uint64_t *rank)
{
	uint8_t block[BLOCK_BYTES];

	if (position < PLAIN) {
		if (!memory_read_word(memory, table + position / PLAIN_IN_WORD * 8, 8, rank))
			return false;
		*rank = *rank >> position % PLAIN_IN_WORD * PLAIN_BITS & 0x7f;
		return true;
	}
	table += PLAIN / PLAIN_IN_WORD * 8;
	position -= PLAIN;
	if (!memory_read_exact(memory, table + position / BLOCK_POSITIONS * (uint64_t)BLOCK_BYTES,
			       block, sizeof block))
		return false;
	*rank = rank_in_block(block, position % BLOCK_POSITIONS);
	return true;
}

unsigned ruby_line(const struct memory_source *memory, const uint64_t *arguments)
{
	const uint64_t position = arguments[0];
	const uint64_t count = arguments[1];
	uint64_t rank = 1;
	uint64_t line;

	if (!count || position > POSITION_MAX)
		return 0;
	/* A table of one entry has no ranks. */
	if (count > 1 && !find_rank(memory, arguments[3], (unsigned)position, &rank))
		return 0;
	if (!rank || rank > count ||
	    !memory_read_word(memory, arguments[2] + (rank - 1) * arguments[4] + arguments[5], 4,
			      &line))
		return 0;
	return line <= INT_MAX ? (unsigned)line : 0;
}
