/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives access to the debug sections of a file as bytes: directly in the mapped file, or
 * decompressed (zlib; SHF_COMPRESSED, and the older .zdebug names).
 *
 * The bytes are the mapping itself, without a copy. If the file is truncated meanwhile, an access
 * raises SIGBUS. So this is for processes that may be killed by it (tracee/helper.h).
 */
#ifndef TRACER_OBJECT_DEBUG_SECTIONS_H
#define TRACER_OBJECT_DEBUG_SECTIONS_H

#include "object/elf.h"

struct debug_section {
	const char *name; /* ".debug_info", even if the file has ".zdebug_info" */
	uint64_t size;	  /* of the bytes that debug_section_bytes() returns */

	/* private */
	uint64_t offset, stored; /* in the file */
	bool compressed;
	uint8_t *unpacked; /* owned */
};

enum {
	DEBUG_SECTIONS_MAX = 64,
	DEBUG_UNPACKED_MAX = 1 << 30 /* bytes that were decompressed, for all sections of a file */
};

struct debug_sections {
	struct elf_file *file; /* owned by the caller, who has to keep it while this is used */
	struct debug_section items[DEBUG_SECTIONS_MAX];
	size_t count;
	uint64_t unpacked;
	/* some sections are left out because they are compressed, but not by zlib */
	bool has_unknown;
};

/*
 * Lists the sections that describe types, functions, their locations and their source lines, as far
 * as they are within the file.
 */
void debug_sections_init(struct debug_sections *sections, struct elf_file *file);
void debug_sections_deinit(struct debug_sections *sections);
/*
 * Returns the contents, valid until debug_sections_deinit(), or NULL if they cannot be
 * decompressed.
 */
const uint8_t *debug_section_bytes(struct debug_sections *sections, size_t index);
/* Returns the section of this name, or NULL. */
const struct debug_section *debug_section_find(const struct debug_sections *sections,
					       const char *name);

#endif
