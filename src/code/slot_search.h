/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the two halves of the search for calls without stubs: slot_calls.c finds references to
 * GOT slots in code, slot_pointers.c finds calls by what such a reference loads.
 */
#ifndef TRACER_CODE_SLOT_SEARCH_H
#define TRACER_CODE_SLOT_SEARCH_H

#include "base/map.h"
#include "base/vec.h"
#include "code/slot_calls.h"
#include "code/slot_flow.h"
#include "object/elf_got.h"
#include "object/elf_private.h"

#include <string.h>

enum {
	INSN = 6,
	WORD = 4,	     /* bytes of a displacement */
	GOTS = ELF_GOTS + 1, /* the known GOT addresses, and one for "no GOT" */
};

/* A 32-bit displacement, or a 64-bit number of the large code model, that refers to a GOT slot. */
struct reference {
	uint64_t address;
	uint64_t insn; /* address of the instruction, once its function has been decoded */
	struct got_slot *slot;
	bool is_wide; /* a 64-bit number of the large code model */
	/* no reference: its bytes span an operand and the next opcode, see is_by_chance() */
	bool is_none;
	bool is_seen; /* its function has been visited */
};

/* An indirect call or jump. */
struct branch {
	uint64_t address;
	bool may_be_switch;
};

struct call_search {
	struct elf_file *file;
	struct decoder *decoder;
	struct map slots; /* address → struct got_slot */
	/* address of the stub → struct got_slot, for all GOT slots that have a stub */
	struct map stubs;
	uint64_t lowest, highest;
	/* possible values of a register that holds the GOT's address; 0: unused */
	uint64_t gots[GOTS];
	struct vec found; /* struct slot_call */
	struct vec references;
	/* struct branch: the indirect calls and jumps of the function that is decoded */
	struct vec branches;
	/* uint64_t: addresses of the branches that a loaded pointer may reach */
	struct vec reached;
	struct slot_flow *flow;
	size_t decoded; /* in bytes */
	uint64_t first_stub, last_stub;
	bool has_thunks; /* retpoline thunks are outside of the PLT */
};

/* Adds a call to `found`, unless it is in a PLT stub, where calls are seen anyway. */
void slot_search_add(struct call_search *search, const struct got_slot *slot, uint64_t address,
		     bool certain);
/* The search ends early: the file is reported as one with too much code. */
void slot_search_cut(struct call_search *search);

/*
 * Returns the GOT slot that the displacement at `code` refers to, or NULL. This runs for each byte
 * of the code, so it has to reject most values quickly.
 */
static inline struct got_slot *referred_at(const struct call_search *search, const uint8_t *code,
					   uint64_t address)
{
	bool by_got = search->file->arch->slot_by_got;
	int32_t word;

	memcpy(&word, code, sizeof word);
	for (size_t i = 0; i < GOTS; i++) {
		uint64_t place = by_got ? (uint32_t)(search->gots[i] + (uint32_t)word)
					: address + WORD + (uint64_t)(int64_t)word;
		struct got_slot *slot = place < search->lowest || place > search->highest
						? NULL
						: map_get(&search->slots, place);

		if (slot || !by_got)
			return slot;
	}
	return NULL;
}

#endif
