/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of .eh_frame, sorted by address, without decoding them: from a code address to the
 * FDE that may describe it. See eh_search.c.
 */
#ifndef TRACER_UNWIND_EH_SEARCH_H
#define TRACER_UNWIND_EH_SEARCH_H

#include "object/elf.h"

struct eh_search {
	uint64_t base;	   /* what the addresses below are relative to; they wrap at 32 bits */
	uint32_t *starts;  /* where the functions' code begins; ascending */
	uint32_t *entries; /* their FDEs */
	size_t count;
	bool from_header; /* read from the table in .eh_frame_hdr, which may be wrong */
};

/* Returns the lowest address of a file's segments, which addresses are kept relative to. */
uint64_t eh_search_base(const struct elf_file *file);

/*
 * Reads the table in .eh_frame_hdr; or, if there is none or it is not sorted, all of .eh_frame. No
 * functions are found in a file without both.
 */
void eh_search_init(struct eh_search *search, struct elf_file *file);
/* Reads all of .eh_frame in place of a table that has turned out to be wrong. */
void eh_search_reread(struct eh_search *search, struct elf_file *file);
void eh_search_deinit(struct eh_search *search);

/*
 * Returns the index of the last function that begins at or before `address`, or -1. Whether the
 * function reaches up to the address is not known.
 */
long eh_search_find(const struct eh_search *search, uint64_t address);
/* Returns the address of the FDE at an index, as eh_frame_at() takes it. */
uint64_t eh_search_entry(const struct eh_search *search, long index);
uint64_t eh_search_start(const struct eh_search *search, long index);

#endif
