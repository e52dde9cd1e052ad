/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The debug sections of a file as bytes: those of the mapped file itself, or what they were
 * compressed from (SHF_COMPRESSED, and the older .zdebug names; by zlib).
 *
 * What is given out is the mapping, without a copy, so a file that is truncated meanwhile kills
 * whoever reads it with SIGBUS: for processes that may die of it (inferior/helper.h).
 */
#ifndef TRACER_IMAGE_DEBUG_SECTIONS_H
#define TRACER_IMAGE_DEBUG_SECTIONS_H

#include "image/elf.h"

struct debug_section {
	const char *name; /* ".debug_info", also where the file says ".zdebug_info" */
	uint64_t size;	  /* of what debug_section_bytes() gives */

	/* private */
	uint64_t offset, stored; /* in the file */
	bool compressed;
	uint8_t *unpacked; /* owned */
};

enum {
	DEBUG_SECTIONS_MAX = 64,
	DEBUG_UNPACKED_MAX =
		1 << 30 /* bytes of what was compressed, all sections of a file together */
};

struct debug_sections {
	struct elf_file *file; /* owned by the caller, as long as this is used */
	struct debug_section items[DEBUG_SECTIONS_MAX];
	size_t count;
	uint64_t unpacked;
	bool has_unknown; /* some are not listed as they are not compressed by zlib */
};

/*
 * Lists those sections that tell of types, functions, and where they are, as far as they lie in the
 * file.
 */
void debug_sections_init(struct debug_sections *sections, struct elf_file *file);
void debug_sections_deinit(struct debug_sections *sections);
/* The contents, good until debug_sections_deinit(); NULL when they cannot be unpacked. */
const uint8_t *debug_section_bytes(struct debug_sections *sections, size_t index);
/* The section of that name, or NULL. */
const struct debug_section *debug_section_find(const struct debug_sections *sections,
					       const char *name);

#endif
