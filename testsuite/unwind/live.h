/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the stacks of real processes, for tests: what a struct unwind_process needs of a stopped
 * process, from /proc/PID/maps, the files mapped there, and process_vm_readv(2).
 */
#ifndef TRACER_TESTSUITE_UNWIND_LIVE_H
#define TRACER_TESTSUITE_UNWIND_LIVE_H

#include "object/elf.h"
#include "object/elf_address.h"
#include "object/elf_memory.h"
#include "tracee/maps.h"
#include "unwind/unwind_walk.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LIVE_FILES = 512, LIVE_VDSO_MAX = 1 << 20 };

struct live_file {
	dev_t device;
	ino_t inode;
	struct elf_file *file; /* NULL: it is no ELF file */
};

struct live {
	pid_t pid;
	struct memory_source memory;
	struct maps maps;
	struct live_file files[LIVE_FILES];
	unsigned file_count;
	struct elf_file *vdso;
	struct unwind_process process;
	struct unwinder *unwinder;
	unsigned reads;
};

static inline void live_readv(void *context, struct memory_range *ranges, size_t count)
{
	struct live *live = context;

	for (size_t i = 0; i < count; i++) {
		struct iovec to = {ranges[i].buffer, ranges[i].length};
		struct iovec from[16];
		unsigned pieces = 0;
		uint64_t at = ranges[i].address, end = at + ranges[i].length;

		/* One page each, so that the first pages are read if a later one is not there. */
		for (; at < end && pieces < 16; pieces++) {
			uint64_t next = (at | 4095) + 1;

			next = next < end && pieces < 15 ? next : end;
			from[pieces] = (struct iovec){(void *)(uintptr_t)at, next - at};
			at = next;
		}
		ssize_t got = process_vm_readv(live->pid, &to, 1, from, pieces, 0);

		live->reads++;
		ranges[i].done = got > 0 ? (size_t)got : 0;
	}
}

static inline struct elf_file *live_file(struct live *live, const struct mapping *mapping)
{
	char path[4400];

	if (strcmp(mapping->path, "[vdso]") == 0) {
		if (!live->vdso &&
		    elf_open_memory(&live->memory, mapping->start, LIVE_VDSO_MAX, &live->vdso))
			live->vdso = NULL;
		return live->vdso;
	}
	for (unsigned i = 0; i < live->file_count; i++)
		if (live->files[i].device == mapping->device &&
		    live->files[i].inode == mapping->inode)
			return live->files[i].file;
	if (!mapping->inode || live->file_count == LIVE_FILES)
		return NULL;
	struct live_file *new = &live->files[live->file_count++];

	*new = (struct live_file){mapping->device, mapping->inode, NULL};
	snprintf(path, sizeof path, "/proc/%d/root%s", (int)live->pid, mapping->path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && elf_open(fd, &new->file))
		new->file = NULL;
	if (fd >= 0)
		close(fd);
	return new->file;
}

/* The load bias of a file, of which `mapping` is a part. */
static inline uint64_t live_bias(const struct elf_file *file, const struct mapping *mapping)
{
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);

	for (size_t i = 0; i < count; i++)
		if ((segments[i].flags & 1) && /* PF_X */
		    mapping->offset <= segments[i].file_offset + segments[i].file_size &&
		    mapping->offset + (mapping->end - mapping->start) > segments[i].file_offset)
			return mapping->start - mapping->offset + segments[i].file_offset -
			       segments[i].address;
	return 0;
}

static inline bool live_find_module(void *context, uint64_t pc, struct unwind_module *module)
{
	struct live *live = context;
	const struct mapping *mapping = maps_find(&live->maps, pc);

	if (!mapping || !mapping->executable)
		return false;
	*module = (struct unwind_module){.start = mapping->start, .end = mapping->end};
	module->file = live_file(live, mapping);
	if (module->file)
		module->bias = live_bias(module->file, mapping);
	return true;
}

/* The process must be stopped. Returns 0 or -errno. */
static inline int live_open(struct live *live, pid_t pid, const struct arch *arch)
{
	*live = (struct live){.pid = pid};
	live->memory = (struct memory_source){.readv = live_readv, .context = live};
	live->process = (struct unwind_process){.arch = arch,
						.memory = &live->memory,
						.find_module = live_find_module,
						.context = live};
	live->unwinder = unwinder_create(&live->process);
	return maps_read(pid, &live->maps);
}

/* Reads the mappings again. */
static inline void live_reread(struct live *live)
{
	maps_deinit(&live->maps);
	maps_read(live->pid, &live->maps);
}

static inline void live_close(struct live *live)
{
	unwinder_destroy(live->unwinder);
	for (unsigned i = 0; i < live->file_count; i++)
		elf_unref(live->files[i].file);
	elf_unref(live->vdso);
	maps_deinit(&live->maps);
}

/* The name of the function that a frame is in, or "-". */
static inline const char *live_name(const struct unwind_frame *frame, uint64_t *offset)
{
	const char *name = NULL;

	*offset = 0;
	if (frame->module.file)
		name = elf_name_of_code(frame->module.file,
					frame->pc - frame->is_call - frame->module.bias, offset);
	*offset = name ? *offset + frame->is_call : 0;
	return name ? name : "-";
}

#endif
