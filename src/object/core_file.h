/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Core dumps: the memory and the threads of a process that is gone: see core_file.c. */
#ifndef TRACER_OBJECT_CORE_FILE_H
#define TRACER_OBJECT_CORE_FILE_H

#include "base/memory.h"
#include "object/core_notes.h"

#include <time.h>

/* A part of the address space. */
struct core_region {
	uint64_t start, end;
	uint64_t dumped; /* how many bytes, from `start` on, are in the core dump */
	uint64_t place;	 /* where, in the core dump */
	bool is_cut;	 /* it had more, but the core dump ends early */
	uint32_t flags;	 /* PF_*; 0 for code and constants that gdb(1) has left out */
	size_t file;	 /* index in core_file.files; CORE_NO_FILE */
	uint64_t offset; /* in that file */
};

#define CORE_NO_FILE SIZE_MAX

/* A file that was mapped. */
struct core_mapped_file {
	const char *path;
	struct elf_file *file; /* see core_file_attach(); or NULL */
};

struct core_file {
	const struct arch *arch;
	struct core_notes notes;
	struct vec regions;	     /* struct core_region, by address; none overlap */
	struct vec files;	     /* struct core_mapped_file */
	struct memory_source memory; /* what the process had */
	struct timespec written;     /* when the file was changed last */
	bool is_cut;		     /* the core dump ends early: memory is missing */
	struct elf_file *dump;
};

/*
 * Reads the core dump open at `fd`, which may be closed afterwards. Returns 0 and the core dump in
 * *out; -ENOEXEC if it is none; -ENOTSUP if it is of another architecture; or another -errno.
 */
int core_file_open(int fd, struct core_file **out);
void core_file_close(struct core_file *core); /* NULL is allowed */

/*
 * From now on, memory that was mapped from file `index` and is not in the core dump is read from
 * `file`. The caller has made sure that this is the file that was mapped. Takes over the caller's
 * reference.
 */
void core_file_attach(struct core_file *core, size_t index, struct elf_file *file);

/* Returns the region that contains `address`, or NULL. */
const struct core_region *core_file_region(const struct core_file *core, uint64_t address);

#endif
