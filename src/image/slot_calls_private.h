/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two halves of the search for calls without stubs share: of references to slots in code
 * (slot_calls.c), and of calls by what such a reference loads (slot_pointers.c).
 */
#ifndef TRACER_IMAGE_SLOT_CALLS_PRIVATE_H
#define TRACER_IMAGE_SLOT_CALLS_PRIVATE_H

#include "base/map.h"
#include "base/vec.h"
#include "image/elf_private.h"
#include "image/slot_calls.h"
#include "image/slot_flow.h"

#include <string.h>

enum {
	INSN = 6,
	WORD = 4,	     /* a displacement */
	GOTS = ELF_GOTS + 1, /* and none */
};

/* A displacement, or a number of the large model, that refers to a slot. */
struct reference {
	uint64_t address;
	uint64_t insn; /* address of the instruction, when its function has been decoded */
	struct elf_slot *slot;
	bool is_wide; /* the latter */
	bool is_none; /* bytes of an operand and of what is behind it, see is_by_chance() */
	bool is_seen; /* it is in a function that has been looked at */
};

/* A call or a jump by a pointer. */
struct branch {
	uint64_t address;
	bool may_be_switch;
};

struct call_search {
	struct elf_file *file;
	struct decoder *decoder;
	struct map slots; /* address → struct elf_slot */
	struct map stubs; /* the same by the address of the stub, of all slots */
	uint64_t lowest, highest;
	uint64_t gots[GOTS]; /* what a register with the address of the GOT may hold; 0: nothing */
	struct vec found;    /* struct slot_call */
	struct vec references;
	struct vec branches; /* struct branch, of the function that is decoded */
	struct vec reached;  /* uint64_t: those of them that what is loaded may get to */
	struct slot_flow *flow;
	size_t decoded; /* bytes */
	uint64_t first_stub, last_stub;
	bool has_thunks; /* beside the stubs */
};

/* Notes a call, unless it is in a stub, which is seen anyway. */
void slot_calls_add(struct call_search *search, const struct elf_slot *slot, uint64_t address,
		    bool certain);

/*
 * The slot that the displacement at `code` refers to, or NULL. This is asked of each byte, so what
 * is out of question has to be so at once.
 */
static inline struct elf_slot *referred_at(const struct call_search *search, const uint8_t *code,
					   uint64_t address)
{
	bool by_got = search->file->arch->slot_by_got;
	int32_t word;

	memcpy(&word, code, sizeof word);
	for (size_t i = 0; i < GOTS; i++) {
		uint64_t place = by_got ? (uint32_t)(search->gots[i] + (uint32_t)word)
					: address + WORD + (uint64_t)(int64_t)word;
		struct elf_slot *slot = place < search->lowest || place > search->highest
						? NULL
						: map_get(&search->slots, place);

		if (slot || !by_got)
			return slot;
	}
	return NULL;
}

/* Looks at the functions that all references are in, which are in order, for calls by them. */
void slot_pointers_visit(struct call_search *search);

#endif
