/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two functions that are entered one after the other with one return address in one stack word are
 * either a function and one that it has made a tail call to, or two calls from one place, of which
 * an exception has left the first. Registers and stack look alike in both cases. The code tells
 * them apart: most functions jump to nothing but themselves, so they make no tail calls.
 *
 * A function may consist of several parts, each with its own entry in .eh_frame (GCC's .text.cold,
 * Clang's basic-block sections). A jump to another part cannot be told from a jump to another
 * function, and does not have to be: all that is jumped to is examined in the same way. So are the
 * landing pads, to which the unwinder jumps, and the next part if one falls through to it.
 *
 * Nothing is known of a function that jumps through a register or memory (a switch, a stub of the
 * PLT), jumps to code that .eh_frame does not describe, has code that cannot be decoded, or gets to
 * too much code. It may get to anything.
 */
#include "code/tail_reach.h"

#include "base/vec.h"
#include "base/xalloc.h"
#include "code/function_end.h"
#include "code/relocate.h"
#include "unwind/extent.h"
#include "unwind/landing_pads.h"

#include <stdlib.h>

enum { PARTS_MAX = 64 };

/* A function, or a part of one. */
struct part {
	uint64_t start, size;
};

struct tail_reach {
	bool is_open;	  /* it may get to anything */
	struct vec parts; /* of struct part; that of the function's beginning first */
};

/* What is needed while code is examined. */
struct examination {
	struct tail_reach *reach;
	struct elf_file *file;
	const struct arch *arch;
	struct decoder *decoder;
	uint64_t bytes; /* that are left */
};

static bool is_within(const struct tail_reach *reach, uint64_t address)
{
	for (size_t i = 0; i < reach->parts.count; i++) {
		const struct part *part = vec_at(&reach->parts, i);

		if (address - part->start < part->size)
			return true;
	}
	return false;
}

/* The function gets to this address. */
static void add(struct examination *examination, uint64_t address)
{
	struct tail_reach *reach = examination->reach;
	struct part part;

	if (is_within(reach, address))
		return;
	if (reach->parts.count == PARTS_MAX ||
	    !extent_around(examination->file, address, &part.start, &part.size) ||
	    part.size > examination->bytes) {
		reach->is_open = true;
		return;
	}
	examination->bytes -= part.size;
	vec_push(&reach->parts, &part);
}

static void add_landing_pads(struct examination *examination, uint64_t start)
{
	struct vec pads = VEC_OF(uint64_t);

	if (!landing_pads_of(examination->file, start, &pads))
		examination->reach->is_open = true;
	for (size_t i = 0; i < pads.count; i++)
		add(examination, *(uint64_t *)vec_at(&pads, i));
	vec_deinit(&pads);
}

static void note_insn(struct examination *examination, const struct displaced *insn)
{
	if (insn->kind != DISPLACED_EMULATE)
		return;
	switch (insn->action) {
	case ACTION_JUMP:
	case ACTION_JUMP_IF:
	case ACTION_LOOP:
	case ACTION_JUMP_CXZ:
		add(examination, insn->target);
		break;
	case ACTION_JUMP_OPERAND:
		examination->reach->is_open = true;
		break;
	default:
		break;
	}
}

/* Returns true if control may continue behind the instruction, the last one of its part. */
static bool may_go_on(struct examination *examination, const struct displaced *last)
{
	if (last->kind == DISPLACED_EMULATE &&
	    (last->action == ACTION_RETURN || last->action == ACTION_JUMP))
		return false;
	return function_end_at(examination->file, last->address + last->length) ==
	       FUNCTION_MAY_GO_ON;
}

static void examine(struct examination *examination, struct part part)
{
	struct tail_reach *reach = examination->reach;
	uint8_t *code = xmalloc(part.size);
	struct displaced insn = {0};
	size_t at = 0;

	reach->is_open |= !elf_read(examination->file, part.start, code, part.size);
	while (at < part.size && !reach->is_open) {
		const int error = examination->arch->displace(
			examination->decoder, code + at, part.size - at, part.start + at, &insn);

		if (error) {
			reach->is_open = true;
			break;
		}
		note_insn(examination, &insn);
		at += insn.length;
	}
	free(code);
	if (reach->is_open)
		return;
	if (may_go_on(examination, &insn))
		add(examination, part.start + part.size);
	add_landing_pads(examination, part.start);
}

struct tail_reach *tail_reach_of(struct elf_file *file, const struct arch *arch,
				 struct decoder *decoder, uint64_t from, uint64_t bytes)
{
	struct tail_reach *reach = xcalloc(1, sizeof *reach);
	struct examination examination = {
		.reach = reach, .file = file, .arch = arch, .decoder = decoder, .bytes = bytes};

	vec_init(&reach->parts, sizeof(struct part));
	/* Where no function begins, an indirect call was caught, and not an entry. */
	if (extent_of_function(file, from))
		add(&examination, from);
	else
		reach->is_open = true;
	for (size_t i = 0; i < reach->parts.count && !reach->is_open; i++)
		examine(&examination, *(struct part *)vec_at(&reach->parts, i));
	return reach;
}

void tail_reach_destroy(struct tail_reach *reach)
{
	if (!reach)
		return;
	vec_deinit(&reach->parts);
	free(reach);
}

bool tail_reach_has(const struct tail_reach *reach, uint64_t to)
{
	return reach->is_open || (to && is_within(reach, to));
}
