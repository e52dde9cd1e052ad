/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an address in a process to an ELF file.
 *
 * The file is opened by the mapping (inferior/files.c) and compared with what is in memory: a file
 * that was written over since it was loaded has the same inode and other contents. When it cannot
 * be had, or is not the one, the module is put together from memory (image/elf_memory.c), which
 * begins where the same file is mapped at offset 0.
 */
#include "session/look.h"

#include "base/cleanup.h"
#include "inferior/kept_maps.h"
#include "session/private.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void look_init(struct look *look, struct elf_cache *files, pid_t pid, const struct space *space)
{
	*look = (struct look){.files = files, .pid = pid, .space = space};
	file_view_init(&look->view, pid);
}

void look_deinit(struct look *look)
{
	if (look->have_maps)
		maps_deinit(&look->maps);
	file_view_deinit(&look->view);
}

static const struct memory_source *memory_of(const struct look *look)
{
	return look->space ? &look->space->memory : NULL;
}

static int read_maps(struct look *look)
{
	int error = 0;

	if (look->have_maps)
		return 0;
	if (look->space)
		error = kept_maps_read(look->space, look->pid, &look->maps);
	else
		error = maps_read(look->pid, &look->maps);
	look->have_maps = !error;
	return error;
}

const struct mapping *look_header(const struct look *look, const struct mapping *mapping)
{
	for (const struct mapping *at = mapping;; at--) {
		if (at->inode == mapping->inode && at->device == mapping->device && !at->offset)
			return at;
		if (at == look->maps.mappings)
			return NULL;
	}
}

static int open_file(struct look *look, const struct mapping *mapping, struct elf_file **file)
{
	const struct mapping *header = look_header(look, mapping);

	*file = header && look->prepared ? prepare_file(look->prepared, look->prepared_for, header)
					 : NULL;
	/* The maps may be older than what is mapped there now: inferior/kept_maps.h. */
	if (*file && elf_fits_memory(*file, memory_of(look), header->start)) {
		elf_ref(*file);
		return 0;
	}
	_cleanup_close_ int fd = file_view_open(&look->view, mapping);
	int error = fd < 0 ? fd : elf_cache_open(look->files, fd, file);

	if (error || !header || elf_fits_memory(*file, memory_of(look), header->start))
		return error;
	elf_unref(*file);
	return -ESTALE;
}

static int open_memory(struct look *look, const struct memory_source *memory,
		       const struct mapping *mapping, struct elf_file **file)
{
	const struct mapping *header = look_header(look, mapping);

	return header ? elf_cache_open_memory(look->files, memory, header->start, mapping->device,
					      mapping->inode, file)
		      : -ENOENT;
}

const struct mapping *look_mapping_at(struct look *look, uint64_t address)
{
	return read_maps(look) ? NULL : maps_find(&look->maps, address);
}

int look_open_at(struct look *look, uint64_t address, struct elf_file **file, const char **path)
{
	int error = read_maps(look);
	const struct mapping *mapping = error ? NULL : maps_find(&look->maps, address);

	*path = "";
	if (!mapping)
		return error ? error : -EFAULT;
	*path = mapping->path;
	if (mapping->path[0] == '[')
		return -ENOENT;
	error = open_file(look, mapping, file);
	/* The first error tells more. */
	return error && open_memory(look, memory_of(look), mapping, file) ? error : 0;
}

/* The program from memory, as a process of architecture `arch`; its memory is found by AT_PHDR. */
static int open_program_as(struct look *look, const struct inferior *inferior,
			   const struct arch *arch, struct elf_file **file)
{
	const struct mapping *mapping;
	struct auxv auxv;
	int error;
	struct space *space = space_create(look->pid, arch, &error);

	if (!space)
		return error;
	space_bind(space, inferior);
	error = auxv_read(look->pid, arch->abi->word, &auxv);
	mapping = error ? NULL : maps_find(&look->maps, auxv.phdr);
	if (mapping)
		error = open_memory(look, &space->memory, mapping, file);
	space_unref(space);
	if (!mapping || error)
		return -ENOENT;
	if (elf_arch(*file) == arch)
		return 0;
	elf_unref(*file);
	return -ENOENT;
}

int look_open_program(struct look *look, const struct inferior *inferior, struct elf_file **file,
		      char **path)
{
	int error = read_maps(look);

	if (error)
		return error;
	_cleanup_close_ int fd = file_view_open_program(&look->view, &look->maps, path);

	error = fd < 0 ? fd : elf_cache_open(look->files, fd, file);
	if (!error || !*path)
		return error;
	if (!open_program_as(look, inferior, arch_find(EM_X86_64, ELFCLASS64), file) ||
	    !open_program_as(look, inferior, arch_find(EM_386, ELFCLASS32), file))
		return 0;
	return error;
}

const char *look_reason(int error)
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
