/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an address in a process to an ELF file.
 *
 * The file is opened through the mapping (tracee/files.c) and compared with the memory: a file that
 * was overwritten since it was loaded has the same inode and other contents. If the file cannot be
 * opened, or does not fit, the module is built from memory (object/elf_memory.c), beginning where
 * the same file is mapped at offset 0.
 */
#include "target/mapped_files.h"

#include "base/cleanup.h"
#include "object/elf_cache.h"
#include "object/elf_memory.h"
#include "target/prefetched.h"
#include "tracee/maps_snapshot.h"
#include "tracee/space.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void mapped_files_init(struct mapped_files *mapped, struct elf_cache *files, pid_t pid,
		       const struct space *space)
{
	*mapped = (struct mapped_files){.files = files, .pid = pid, .space = space};
	file_view_init(&mapped->view, pid);
}

void mapped_files_deinit(struct mapped_files *mapped)
{
	if (mapped->have_maps)
		maps_deinit(&mapped->maps);
	file_view_deinit(&mapped->view);
}

void mapped_files_take_maps(struct mapped_files *mapped, struct maps *maps)
{
	mapped->maps = *maps;
	mapped->have_maps = maps->count != 0;
	*maps = (struct maps){0};
}

static const struct memory_source *memory_of(const struct mapped_files *mapped)
{
	return mapped->space ? &mapped->space->memory : NULL;
}

static int read_maps(struct mapped_files *mapped)
{
	int error = 0;

	if (mapped->have_maps)
		return 0;
	if (mapped->space)
		error = maps_snapshot_read(mapped->space, mapped->pid, &mapped->maps);
	else
		error = maps_read(mapped->pid, &mapped->maps);
	mapped->have_maps = !error;
	return error;
}

const struct mapping *mapped_files_header(const struct mapped_files *mapped,
					  const struct mapping *mapping)
{
	for (const struct mapping *at = mapping;; at--) {
		if (at->inode == mapping->inode && at->device == mapping->device && !at->offset)
			return at;
		if (at == mapped->maps.mappings)
			return NULL;
	}
}

static int open_file(struct mapped_files *mapped, const struct mapping *mapping,
		     struct elf_file **file)
{
	const struct mapping *header = mapped_files_header(mapped, mapping);

	*file = header && mapped->prepared
			? prefetched_file(mapped->prepared, mapped->prepared_for, header)
			: NULL;
	/* The maps may be older than what is mapped now: tracee/maps_snapshot.h. */
	if (*file && elf_fits_memory(*file, memory_of(mapped), header->start)) {
		elf_ref(*file);
		return 0;
	}
	_cleanup_close_ int fd = file_view_open(&mapped->view, mapping);
	int error = fd < 0 ? fd : elf_cache_open(mapped->files, fd, file);

	if (error || !header || elf_fits_memory(*file, memory_of(mapped), header->start))
		return error;
	elf_unref(*file);
	return -ESTALE;
}

static int open_memory(struct mapped_files *mapped, const struct memory_source *memory,
		       const struct mapping *mapping, struct elf_file **file)
{
	const struct mapping *header = mapped_files_header(mapped, mapping);

	return header ? elf_cache_open_memory(mapped->files, memory, header->start, mapping->device,
					      mapping->inode, file)
		      : -ENOENT;
}

const struct mapping *mapped_files_mapping_at(struct mapped_files *mapped, uint64_t address)
{
	return read_maps(mapped) ? NULL : maps_find(&mapped->maps, address);
}

int mapped_files_open_at(struct mapped_files *mapped, uint64_t address, struct elf_file **file,
			 const char **path)
{
	int error = read_maps(mapped);
	const struct mapping *mapping = error ? NULL : maps_find(&mapped->maps, address);

	*path = "";
	if (!mapping)
		return error ? error : -EFAULT;
	*path = mapping->path;
	if (mapping->path[0] == '[')
		return -ENOENT;
	error = open_file(mapped, mapping, file);
	/* If both ways fail, the first error tells more. */
	return error && open_memory(mapped, memory_of(mapped), mapping, file) ? error : 0;
}

/*
 * Builds the program's file from memory, as that of a process of architecture `arch`. AT_PHDR leads
 * to it.
 */
static int open_program_as(struct mapped_files *mapped, const struct tracees *tracees,
			   const struct arch *arch, struct elf_file **file)
{
	const struct mapping *mapping;
	struct auxv auxv;
	int error;
	struct space *space = space_create(mapped->pid, arch, &error);

	if (!space)
		return error;
	space_bind(space, tracees);
	error = auxv_read(mapped->pid, arch->abi->word, &auxv);
	mapping = error ? NULL : maps_find(&mapped->maps, auxv.phdr);
	if (mapping)
		error = open_memory(mapped, &space->memory, mapping, file);
	space_unref(space);
	if (!mapping || error)
		return -ENOENT;
	if (elf_arch(*file) == arch)
		return 0;
	elf_unref(*file);
	return -ENOENT;
}

int mapped_files_open_program(struct mapped_files *mapped, const struct tracees *tracees,
			      struct elf_file **file, char **path)
{
	int error = read_maps(mapped);

	if (error)
		return error;
	_cleanup_close_ int fd = file_view_open_program(&mapped->view, &mapped->maps, path);

	error = fd < 0 ? fd : elf_cache_open(mapped->files, fd, file);
	if (!error || !*path)
		return error;
	const struct arch *arch;

	for (unsigned i = 0; (arch = arch_at(i)); i++)
		if (!open_program_as(mapped, tracees, arch, file))
			return 0;
	return error;
}

const char *mapped_files_reason(int error)
{
	switch (error) {
	case -EFAULT:
		return "it is on the linker's list, but not in memory";
	case -ENOEXEC:
		return "its ELF headers are damaged";
	case -ENOTSUP:
		return "it is of an architecture that is not supported";
	case -ENOENT:
		return "its file is gone, or out of reach, and it cannot be read from memory";
	case -ESTALE:
		return "its file was replaced, and it cannot be read from memory";
	case -EACCES:
	case -EPERM:
		return "it is not readable, by its permissions or because it has more rights than "
		       "its tracer";
	case -EREMOTE:
		return "its file is on FUSE, which may never answer, and it cannot be read from "
		       "memory";
	default:
		return strerror(-error);
	}
}

static uint64_t auxv_word(const unsigned char *place, unsigned word)
{
	uint64_t value = 0;

	memcpy(&value, place, word);
	return value;
}

int auxv_read(pid_t pid, unsigned word, struct auxv *auxv)
{
	unsigned char bytes[4096];
	char path[64];

	*auxv = (struct auxv){0};
	snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);

	if (n < 0)
		return -errno;
	for (size_t at = 0; at + 2 * word <= (size_t)n; at += 2 * (size_t)word) {
		uint64_t value = auxv_word(bytes + at + word, word);

		switch (auxv_word(bytes + at, word)) {
		case AT_PHDR:
			auxv->phdr = value;
			break;
		case AT_BASE:
			auxv->base = value;
			break;
		case AT_ENTRY:
			auxv->entry = value;
			break;
		}
	}
	return 0;
}
