/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Core dumps: their notes, and what can be read of the memory. The input is the file. */
#include "fuzz.h"
#include "object/core_file.h"

#include <sys/mman.h>
#include <unistd.h>

enum { SOME = 3000 };

/* Reads around an address. */
static size_t read_at(const struct core_file *core, uint64_t address)
{
	static uint8_t bytes[SOME];
	struct memory_range ranges[] = {{.address = address, .buffer = bytes, .length = SOME},
					{.address = address - 1, .buffer = bytes, .length = 2},
					{.address = address + SOME, .buffer = bytes, .length = 0}};
	size_t sum = 0;

	core->memory.readv(core->memory.context, ranges, 3);
	for (size_t i = 0; i < 3; i++) {
		MUST(ranges[i].done <= ranges[i].length);
		sum += ranges[i].done;
	}
	return sum;
}

static size_t read_regions(const struct core_file *core)
{
	uint64_t end = 0;
	size_t sum = 0;

	for (size_t i = 0; i < core->regions.count; i++) {
		const struct core_region *region = vec_at(&core->regions, i);

		MUST(region->start >= end && region->end > region->start);
		MUST(region->dumped <= region->end - region->start || region->is_cut);
		MUST(region->file == CORE_NO_FILE || region->file < core->files.count);
		MUST(core_file_region(core, region->start) == region);
		MUST(core_file_region(core, region->end - 1) == region);
		end = region->end;
		sum += read_at(core, region->start) + read_at(core, region->end);
	}
	return sum;
}

static size_t look_at(struct core_file *core)
{
	size_t sum = read_regions(core);

	for (size_t i = 0; i < core->files.count; i++) {
		const struct core_mapped_file *file = vec_at(&core->files, i);

		MUST(!file->file);
		sum += strlen(file->path);
		/* Any file will do. */
		core_file_attach(core, i, elf_ref(core->dump));
	}
	for (size_t i = 0; i < core->notes.threads.count; i++) {
		const struct core_thread *thread = vec_at(&core->notes.threads, i);

		MUST(thread->tid > 0);
		sum += read_at(core, thread->regs.r[REG_SP]) + read_at(core, thread->regs.pc);
	}
	return sum + read_regions(core) + strlen(core->notes.name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct core_file *core;

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	if (core_file_open(fd, &core) == 0) {
		look_at(core);
		core_file_close(core);
	}
	close(fd);
	return 0;
}
