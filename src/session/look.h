/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One look at what a process has mapped: its mappings, and the ELF files behind them. */
#ifndef TRACER_SESSION_LOOK_H
#define TRACER_SESSION_LOOK_H

#include "image/elf.h"
#include "inferior/files.h"
#include "inferior/inferior.h"
#include "inferior/maps.h"

/* What the kernel told the program at its start (getauxval(3)). */
struct auxv {
	uint64_t phdr, base, entry;
};

struct look {
	struct elf_cache *files;
	pid_t pid;
	const struct space *space; /* NULL: not to be had yet */
	struct maps maps;
	bool have_maps;
	struct file_view view;
	/* What was prepared for process `prepared_for` is taken, if it is still there; or NULL. */
	const struct session *prepared;
	pid_t prepared_for;
};

void look_init(struct look *look, struct elf_cache *files, pid_t pid, const struct space *space);
void look_deinit(struct look *look);

/*
 * The ELF file that is mapped at `address`, or what can be put together of it from memory when it
 * is gone, replaced or out of reach. *path is that of the mapping and lives as long as the look; ""
 * when there is none, "[vdso]" for the kernel's. 0 or -errno: see look_reason().
 */
int look_open_at(struct look *look, uint64_t address, struct elf_file **file, const char **path);
/* The mapping that has the ELF header of what is mapped at `mapping` of the look, or NULL. */
const struct mapping *look_header(const struct look *look, const struct mapping *mapping);
/*
 * What is mapped at `address`, as long as the look lives; NULL when nothing is, or it cannot be
 * told.
 */
const struct mapping *look_mapping_at(struct look *look, uint64_t address);
/* The program of the process, which `inferior` is of; *path is to be freed. */
int look_open_program(struct look *look, const struct inferior *inferior, struct elf_file **file,
		      char **path);
/* For the user: why nothing is known of a module. */
const char *look_reason(int error);

/* `word`: bytes of a pointer of the process. */
int auxv_read(pid_t pid, unsigned word, struct auxv *auxv);

#endif
