/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of Perl.
 *
 * perl knows the line of the statement that was begun last: a statement begins with a nextstate op
 * (a cop), and running one sets PL_curcop. But the optimiser turns nextstate ops into null ops
 * where it thinks that nobody needs them, as in a block of one statement, so PL_curcop may be the
 * statement around the block. perl's warn() therefore searches the ops behind the cop for the op
 * that runs, and takes the last nextstate, even a nulled one, that it passes on the way. This file
 * does that search in the memory of a process. (perl: closest_cop() in util.c, and its callers.)
 *
 * The tree is the process's, so the search ends after OPS_MAX ops and DEPTH_MAX levels. The line is
 * that of the cop then, as it is when the op is not found.
 */
#include "unwind/script/perl_lines.h"

#include <limits.h>
#include <string.h>

enum {
	OPS_MAX = 20000,
	DEPTH_MAX = 256,
	/* struct op, from perl 5.22 on */
	OP_NEXT = 0,
	OP_SIBLING = 8,
	OP_TARGET = 24,
	OP_TYPE = 32,
	OP_FLAGS = 34,
	OP_FIRST_KID = 40,
	OP_BYTES = 48,
	TYPE_MASK = 0x1ff,
	MORE_SIBLINGS = 1 << 14, /* else OP_SIBLING is the parent */
	HAS_KIDS = 4,		 /* in OP_FLAGS */
	NULL_OP = 0
};

struct search {
	const struct memory_source *memory;
	uint64_t wanted;
	bool is_next; /* the op whose op_next is `wanted` is looked for */
	uint64_t nextstate, scope;
	unsigned ops;
};

/* The parts of an op that matter here. */
struct op {
	uint64_t address, next, sibling, kid; /* 0: none */
	uint64_t target;
	unsigned type;
};

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof word);
	return word;
}

static bool read_op(struct search *search, uint64_t address, struct op *op)
{
	uint8_t bytes[OP_BYTES];
	uint16_t type;

	/* An op without kids may end at the end of readable memory. */
	memset(bytes, 0, sizeof bytes);
	if (++search->ops > OPS_MAX ||
	    memory_read(search->memory, address, bytes, sizeof bytes) < OP_FIRST_KID)
		return false;
	memcpy(&type, bytes + OP_TYPE, sizeof type);
	op->address = address;
	op->next = word_at(bytes, OP_NEXT);
	op->sibling = type & MORE_SIBLINGS ? word_at(bytes, OP_SIBLING) : 0;
	op->target = word_at(bytes, OP_TARGET);
	op->kid = bytes[OP_FLAGS] & HAS_KIDS ? word_at(bytes, OP_FIRST_KID) : 0;
	op->type = type & TYPE_MASK;
	return true;
}

static bool is_wanted(const struct search *search, const struct op *op)
{
	return search->is_next ? op->next == search->wanted && op->type != search->scope
			       : op->address == search->wanted;
}

/*
 * Searches below the op at `root`. Returns the cop of the op that is wanted, or 0. `cop` is the
 * last one before.
 */
static uint64_t search_tree(struct search *search, uint64_t cop, uint64_t root)
{
	/* On each level: the next op, and the last cop that was passed. */
	uint64_t next[DEPTH_MAX] = {root};
	uint64_t cops[DEPTH_MAX] = {cop};
	unsigned depth = 1;
	struct op op;

	while (depth > 0) {
		const unsigned level = depth - 1;

		if (!next[level]) {
			depth--;
			continue;
		}
		if (!read_op(search, next[level], &op))
			return 0;
		/* perl looks at kids, not at the root, for nulled statements. */
		if (level > 0 && op.type == NULL_OP && op.target == search->nextstate)
			cops[level] = op.address;
		if (is_wanted(search, &op))
			return cops[level];
		next[level] = level > 0 ? op.sibling : 0;
		if (op.kid && depth < DEPTH_MAX) {
			next[depth] = op.kid;
			cops[depth] = cops[level];
			depth++;
		}
	}
	return 0;
}

unsigned perl_line(const struct memory_source *memory, const uint64_t *arguments)
{
	const uint64_t cop = arguments[0];
	struct search search = {.memory = memory,
				.wanted = arguments[1] & ~UINT64_C(1),
				.is_next = arguments[1] & 1,
				.nextstate = arguments[3],
				.scope = arguments[4]};
	uint64_t closest = 0;
	uint64_t line;
	struct op op;

	if (cop && search.wanted && read_op(&search, cop, &op) && op.sibling)
		closest = search_tree(&search, cop, op.sibling);
	if (!closest)
		closest = cop;
	if (!closest || !memory_read_word(memory, closest + arguments[2], 4, &line))
		return 0;
	return line <= INT_MAX ? (unsigned)line : 0;
}
