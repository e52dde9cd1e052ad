/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A snapshot of what a process has mapped: its mappings, and the ELF files behind them. */
#ifndef TRACER_TARGET_MAPPED_FILES_H
#define TRACER_TARGET_MAPPED_FILES_H

#include "object/elf.h"
#include "tracee/files.h"
#include "tracee/maps.h"
#include "tracee/tracee.h"

/* Values of the auxiliary vector (getauxval(3)). */
struct auxv {
	uint64_t phdr, base, entry;
};

struct mapped_files {
	struct elf_cache *files;
	pid_t pid;
	const struct space *space; /* NULL: there is no space yet */
	struct maps maps;
	bool have_maps;
	struct file_view view;
	/*
	 * Files that were prefetched for process `prepared_for` are used, if still mapped; NULL:
	 * none.
	 */
	const struct target *prepared;
	pid_t prepared_for;
};

void mapped_files_init(struct mapped_files *mapped, struct elf_cache *files, pid_t pid,
		       const struct space *space);
void mapped_files_deinit(struct mapped_files *mapped);
/*
 * Takes over mappings of the process that were read before; if there are none, they are read later.
 */
void mapped_files_take_maps(struct mapped_files *mapped, struct maps *maps);

/*
 * Opens the ELF file that is mapped at `address`, or builds it from memory if the file is gone,
 * replaced or out of reach. *path is the path of the mapping and lives as long as `mapped`: "" if
 * nothing is mapped there, "[vdso]" for the kernel's. Returns 0 or -errno, for which
 * mapped_files_reason() has a text.
 */
int mapped_files_open_at(struct mapped_files *mapped, uint64_t address, struct elf_file **file,
			 const char **path);
/*
 * Returns the mapping that has the ELF header of the file in `mapping`, one of mapped->maps; or
 * NULL.
 */
const struct mapping *mapped_files_header(const struct mapped_files *mapped,
					  const struct mapping *mapping);
/*
 * Returns the mapping at `address`, valid as long as `mapped`; NULL if there is none or the
 * mappings cannot be read.
 */
const struct mapping *mapped_files_mapping_at(struct mapped_files *mapped, uint64_t address);
/* Opens the program of the process, one of `tracees`. *path is to be freed. */
int mapped_files_open_program(struct mapped_files *mapped, const struct tracees *tracees,
			      struct elf_file **file, char **path);
/* Returns a text for the user: why nothing is known of a module. */
const char *mapped_files_reason(int error);

/* Reads /proc/PID/auxv. `word`: size of a pointer of the process, in bytes. 0 or -errno. */
int auxv_read(pid_t pid, unsigned word, struct auxv *auxv);

#endif
