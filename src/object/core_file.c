/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Core dumps as a source of memory.
 *
 * A core dump has the memory that a process had written to. What it had only mapped from files, as
 * code and constants, is left out (core(5), "Controlling which mappings are written to the core
 * dump"), but for the first page of each ELF file. A segment then has fewer bytes in the core dump
 * than in memory, or gdb(1) has left it out as a whole. NT_FILE tells which file was mapped there.
 * Whether that file is still the same is for the caller to find out, who opens it.
 *
 * A core dump may be cut off (a full disk, RLIMIT_CORE). What is missing then cannot be read from
 * the mapped file in its place, as the process may have written to it.
 *
 * A core dump may come from anywhere: segments may overlap, and lie about their sizes. All that is
 * read goes through elf_file_read(), which checks.
 */
#include "object/core_file.h"

#include "base/cleanup.h"
#include "base/sorted.h"
#include "base/xalloc.h"
#include "object/elf_records.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ------------------------------------------------------------------ regions */

static int compare_regions(const void *left, const void *right)
{
	const struct core_region *one = left, *other = right;

	return (one->start > other->start) - (one->start < other->start);
}

static void cut_front(struct core_region *region, uint64_t start)
{
	const uint64_t cut = start - region->start;
	const uint64_t dumped = cut < region->dumped ? cut : region->dumped;

	region->start = start;
	region->dumped -= dumped;
	region->place += dumped;
}

/* Sorts the regions; where they overlap, the later ones are cut. */
static void order_regions(struct vec *regions)
{
	struct core_region *all = regions->items;
	size_t left = 0;

	if (regions->count)
		qsort(all, regions->count, sizeof *all, compare_regions);
	for (size_t i = 0; i < regions->count; i++) {
		struct core_region region = all[i];
		const uint64_t end = left ? all[left - 1].end : 0;

		if (region.end <= end)
			continue;
		if (region.start < end)
			cut_front(&region, end);
		all[left++] = region;
	}
	regions->count = left;
}

static void add_segment(struct core_file *core, const GElf_Phdr *header)
{
	const uint64_t size = core->dump->size;
	const uint64_t left = header->p_offset < size ? size - header->p_offset : 0;
	struct core_region region = {.start = header->p_vaddr,
				     .end = header->p_vaddr + header->p_memsz,
				     .dumped = header->p_filesz,
				     .place = header->p_offset,
				     .flags = header->p_flags,
				     .file = CORE_NO_FILE};

	if (region.end <= region.start)
		return;
	if (region.dumped > header->p_memsz)
		region.dumped = header->p_memsz;
	region.is_cut = region.dumped > left;
	if (region.is_cut)
		region.dumped = left;
	core->is_cut |= region.is_cut;
	vec_push(&core->regions, &region);
}

/* If there are more program headers than e_phnum can tell, section 0 has their number (elf(5)). */
static size_t count_headers(const struct elf_file *dump)
{
	GElf_Shdr first;

	if (dump->header.e_phnum != PN_XNUM)
		return dump->header.e_phnum;
	return elf_read_records(dump, ELF_T_SHDR, dump->header.e_shoff, 1, &first) ? first.sh_info
										   : 0;
}

static int read_headers(struct core_file *core)
{
	const struct elf_file *dump = core->dump;
	const size_t count = count_headers(dump);
	_cleanup_free_ GElf_Phdr *headers = elf_load_records(dump, ELF_T_PHDR, dump->header.e_phoff,
							     count);

	if (!headers || dump->header.e_phentsize != elf_record_size(dump, ELF_T_PHDR))
		return -ENOEXEC;
	bool has_notes = false;

	for (size_t i = 0; i < count; i++) {
		if (headers[i].p_type == PT_LOAD) {
			add_segment(core, &headers[i]);
		} else if (headers[i].p_type == PT_NOTE && !has_notes) {
			/* There is one. Thousands could all be the same bytes of a small file. */
			core_notes_read(&core->notes, dump, headers[i].p_offset,
					headers[i].p_filesz);
			has_notes = true;
		}
	}
	order_regions(&core->regions);
	return 0;
}

/* ------------------------------------------------------------------ mapped files */

static const struct core_mapping *find_mapping(const struct core_file *core, uint64_t address)
{
	const struct vec *mappings = &core->notes.mappings;
	const struct sorted ends = SORTED(struct core_mapping, end, mappings->items,
					  mappings->count);

	return sorted_around(&ends, offsetof(struct core_mapping, start), address);
}

/* Adds the beginning of a mapping as a region, if no segment has it. */
static void add_mapping(struct core_file *core, const struct core_mapping *mapping,
			const struct core_region *next)
{
	struct core_region region = {.start = mapping->start,
				     .end = mapping->end,
				     .file = mapping->file,
				     .offset = mapping->offset};

	if (next && next->start <= region.start)
		return;
	if (next && next->start < region.end)
		region.end = next->start;
	vec_push(&core->regions, &region);
}

static void join_mappings(struct core_file *core)
{
	const size_t segments = core->regions.count;
	size_t next = 0;

	for (size_t i = 0; i < segments; i++) {
		struct core_region *region = vec_at(&core->regions, i);
		const struct core_mapping *mapping = find_mapping(core, region->start);

		if (!mapping)
			continue;
		region->file = mapping->file;
		region->offset = mapping->offset + (region->start - mapping->start);
	}
	for (size_t i = 0; i < core->notes.mappings.count; i++) {
		const struct core_mapping *mapping = vec_at(&core->notes.mappings, i);
		const struct core_region *all = core->regions.items;

		while (next < segments && all[next].end <= mapping->start)
			next++;
		add_mapping(core, mapping, next < segments ? &all[next] : NULL);
	}
	order_regions(&core->regions);
	for (size_t i = 0; i < core->notes.paths.count; i++) {
		const struct core_mapped_file file = {
			.path = *(const char **)vec_at(&core->notes.paths, i)};

		vec_push(&core->files, &file);
	}
}

void core_file_attach(struct core_file *core, size_t index, struct elf_file *file)
{
	struct core_mapped_file *mapped = vec_at(&core->files, index);

	elf_unref(mapped->file);
	mapped->file = file;
}

/* ------------------------------------------------------------------ memory */

const struct core_region *core_file_region(const struct core_file *core, uint64_t address)
{
	const struct sorted ends = SORTED(struct core_region, end, core->regions.items,
					  core->regions.count);

	return sorted_around(&ends, offsetof(struct core_region, start), address);
}

/* Reads some of the bytes at `address`, at most `length`. Returns how many; 0: none can be read. */
static size_t read_some(const struct core_file *core, uint64_t address, void *buffer, size_t length)
{
	const struct core_region *region = core_file_region(core, address);

	if (!region)
		return 0;
	const uint64_t into = address - region->start;
	const struct elf_file *file = core->dump;
	uint64_t offset = region->place + into, end = region->place + region->dumped;

	if (into >= region->dumped) {
		if (region->is_cut || region->file == CORE_NO_FILE)
			return 0;
		file = ((struct core_mapped_file *)vec_at(&core->files, region->file))->file;
		offset = region->offset + into;
		end = region->offset + (region->end - region->start);
	}
	if (!file || offset >= file->size || end <= offset)
		return 0;
	if (end > file->size)
		end = file->size;
	if (length > end - offset)
		length = end - offset;
	return elf_file_read_near(file, offset, buffer, length) ? length : 0;
}

static void read_ranges(void *context, struct memory_range *ranges, size_t count)
{
	const struct core_file *core = context;

	for (size_t i = 0; i < count; i++) {
		struct memory_range *range = &ranges[i];
		size_t some = 1;

		for (range->done = 0; range->done < range->length && some; range->done += some)
			some = read_some(core, range->address + range->done,
					 (char *)range->buffer + range->done,
					 range->length - range->done);
	}
}

/* ------------------------------------------------------------------ creation and destruction */

int core_file_open(int fd, struct core_file **out)
{
	struct core_file *core = xcalloc(1, sizeof *core);

	core_notes_init(&core->notes);
	vec_init(&core->regions, sizeof(struct core_region));
	vec_init(&core->files, sizeof(struct core_mapped_file));
	struct stat status;
	int error = fstat(fd, &status) == 0 ? elf_open_debug(fd, &core->dump) : -errno;

	if (!error)
		error = core->dump->header.e_type == ET_CORE ? read_headers(core) : -ENOEXEC;
	if (error) {
		core_file_close(core);
		return error;
	}
	join_mappings(core);
	core->written = status.st_mtim;
	core->arch = core->dump->arch;
	core->memory = (struct memory_source){.readv = read_ranges, .context = core};
	*out = core;
	return 0;
}

void core_file_close(struct core_file *core)
{
	if (!core)
		return;
	for (size_t i = 0; i < core->files.count; i++)
		elf_unref(((struct core_mapped_file *)vec_at(&core->files, i))->file);
	core_notes_deinit(&core->notes);
	vec_deinit(&core->regions);
	vec_deinit(&core->files);
	elf_unref(core->dump);
	free(core);
}
