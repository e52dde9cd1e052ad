/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process of a core dump: a space whose memory is read from the core dump and the files that
 * were mapped, the modules in it, and its threads. Walks of stacks do not see a difference.
 *
 * The files are opened by their paths, as the tracer sees them, by the rules that hold for the
 * files of a process (tracee/files.c): whoever made the core dump has chosen the paths. A file may
 * have been replaced since. It is used only if its headers and notes, which have the build ID, are
 * those that the core dump has; the first page of each ELF file is in it. If the file cannot be
 * used, the module is put together from the core dump, which mostly has its data only.
 *
 * Nothing of /proc is asked about the numbers of processes and threads: they are others' by now.
 */
#include "target/core_process.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/xalloc.h"
#include "object/elf_cache.h"
#include "object/elf_memory.h"
#include "object/perf_map.h"
#include "target/module.h"
#include "target/module_list.h"
#include "target/stacks/native_stacks.h"
#include "tracee/files.h"
#include "tracee/space.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* While the modules are found. */
struct search {
	struct target *target;
	struct core_file *core;
	struct modules *modules;
	struct file_view view;
	size_t missing;	   /* files of code that cannot be used */
	const char *first; /* the first of them */
	int reason;	   /* why that one cannot: -errno */
};

/* ------------------------------------------------------------------ files */

static bool has_header(const struct core_file *core, const struct core_region *header)
{
	char magic[SELFMAG];

	return memory_read_exact(&core->memory, header->start, magic, sizeof magic) &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Returns the load bias of a file whose ELF header is at the beginning of `header`. */
static bool find_bias(const struct elf_file *file, const struct core_region *header, uint64_t *bias)
{
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);

	for (size_t i = 0; i < count; i++) {
		if (segments[i].file_offset >= PAGE)
			continue;
		*bias = header->start + segments[i].file_offset - segments[i].address;
		return true;
	}
	return false;
}

/* gdb(1) has left code out without its flags. A file may be mapped as data, to be read. */
static bool is_code(const struct core_region *region)
{
	return !region->flags || region->flags & PF_X;
}

/* Returns true if the file's code is where the bias says. */
static bool is_loaded(const struct core_file *core, size_t index, const struct elf_file *file,
		      uint64_t bias)
{
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);

	for (size_t i = 0; i < count; i++) {
		const uint64_t start = segments[i].address + bias;
		const struct core_region *region = core_file_region(core, start);

		if (segments[i].flags & PF_X && region && is_code(region) &&
		    region->file == index &&
		    region->offset + (start - region->start) == segments[i].file_offset)
			return true;
	}
	return false;
}

/* Opens a mapped file, if it is the one that was mapped. -ENODATA: the core dump does not tell. */
static int open_file(struct search *search, size_t index, const struct core_region *header,
		     struct elf_file **file)
{
	const struct core_file *core = search->core;
	const char *path = ((struct core_mapped_file *)vec_at(&core->files, index))->path;
	_cleanup_close_ int fd = file_view_open_path(&search->view, path);
	uint64_t bias;
	int error = fd < 0 ? fd : elf_cache_open(search->target->files, fd, file);

	if (error)
		return error;
	if (elf_arch(*file) != core->arch || !find_bias(*file, header, &bias))
		error = -ESTALE;
	else if (!has_header(core, header))
		error = is_loaded(core, index, *file, bias) ? -ENODATA : -ENOEXEC;
	else if (!elf_fits_memory(*file, &core->memory, header->start) ||
		 !elf_notes_fit_memory(*file, &core->memory, bias))
		error = -ESTALE;
	if (error)
		elf_unref(*file);
	return error;
}

static void note_missing(struct search *search, size_t index, int error)
{
	if (search->missing++)
		return;
	search->first = ((struct core_mapped_file *)vec_at(&search->core->files, index))->path;
	search->reason = error;
}

/* ------------------------------------------------------------------ modules */

static void add_module(struct search *search, size_t index, const struct core_region *header)
{
	struct core_file *core = search->core;
	const char *path = ((struct core_mapped_file *)vec_at(&core->files, index))->path;
	struct elf_cache *files = search->target->files;
	struct elf_file *file;
	uint64_t bias;
	const int error = open_file(search, index, header, &file);

	if (!error)
		core_file_attach(core, index, elf_ref(file));
	else if (error == -ENODATA)
		note_missing(search, index, error);
	if (error &&
	    (!has_header(core, header) || elf_cache_open_memory(files, &core->memory, header->start,
								0, (ino_t)index + 1, &file) != 0))
		return;
	if (elf_arch(file) != core->arch || !find_bias(file, header, &bias) ||
	    !is_loaded(core, index, file, bias)) {
		elf_unref(file);
		return;
	}
	if (error)
		note_missing(search, index, error);
	struct module *module = module_create(search->target, file, bias, path,
					      elf_entry(file) + bias == core->notes.entry);

	/* Its debug file is looked for now, as seen by the tracer: there is no process to ask. */
	debug_source_is_there(module->debug, getpid());
	vec_push(&search->modules->list, &module);
}

static const char *reason_of(int error)
{
	switch (error) {
	case -ENOENT:
		return "it is gone";
	case -ESTALE:
	case -ENOEXEC:
	case -ENOTSUP:
		return "it was replaced since";
	case -ENODATA:
		return "the core dump does not tell whether it is the same file";
	default:
		return strerror(-error);
	}
}

static void report_missing(const struct search *search)
{
	char path[512];

	if (!search->missing || search->target->options->quiet)
		return;
	diag_safe(path, sizeof path, search->first);
	if (search->missing == 1)
		diag("%s: %s: only what the core dump has of it is known", path,
		     reason_of(search->reason));
	else
		diag("%s: %s, and %zu more files: only what the core dump has of them is known",
		     path, reason_of(search->reason), search->missing - 1);
}

static void find_modules(struct target *target, struct core_file *core, struct modules *modules)
{
	struct search search = {.target = target, .core = core, .modules = modules};

	file_view_init(&search.view, getpid());
	for (size_t i = 0; i < core->regions.count; i++) {
		const struct core_region *region = vec_at(&core->regions, i);

		if (region->file != CORE_NO_FILE && !region->offset)
			add_module(&search, region->file, region);
	}
	file_view_deinit(&search.view);
	report_missing(&search);
}

/* ------------------------------------------------------------------ code of no file */

/*
 * Returns true if the process can have written that file: it belongs to its user, or to root, and
 * was not changed since the core dump was written, as by another process of the same number.
 */
static bool is_its_own(const struct core_file *core, const struct stat *status)
{
	const struct timespec *changed = &status->st_mtim, *written = &core->written;

	if (status->st_uid && (!core->notes.has_uid || status->st_uid != core->notes.uid))
		return false;
	return changed->tv_sec < written->tv_sec ||
	       (changed->tv_sec == written->tv_sec && changed->tv_nsec <= written->tv_nsec);
}

/* Reads the names of code that the process has compiled itself (jit_names.h). */
static struct perf_map *read_perf_map(const struct core_file *core, pid_t pid)
{
	struct file_view view;
	struct stat status;
	char path[64];

	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)pid);
	file_view_init(&view, getpid());
	_cleanup_close_ int fd = file_view_open_path(&view, path);

	file_view_deinit(&view);
	return fd >= 0 && fstat(fd, &status) == 0 && is_its_own(core, &status) ? perf_map_read(fd)
									       : NULL;
}

/* ------------------------------------------------------------------ the process */

/* The paths are those of `core`. */
static struct maps make_maps(const struct core_file *core)
{
	struct maps maps = {.mappings = xcalloc(core->regions.count + 1, sizeof *maps.mappings),
			    .count = core->regions.count};

	for (size_t i = 0; i < core->regions.count; i++) {
		const struct core_region *region = vec_at(&core->regions, i);
		const bool has_file = region->file != CORE_NO_FILE;
		struct mapping *mapping = &maps.mappings[i];

		*mapping = (struct mapping){.start = region->start,
					    .end = region->end,
					    .offset = region->offset,
					    .readable = region->flags & PF_R,
					    .writable = region->flags & PF_W,
					    .executable = region->flags & PF_X,
					    .path = ""};
		if (has_file) {
			mapping->inode = region->file + 1;
			mapping->path = *(const char **)vec_at(&core->notes.paths, region->file);
		} else if (core->notes.vdso == region->start) {
			mapping->path = "[vdso]";
		}
	}
	return maps;
}

static void add_threads(struct target *target, const struct core_file *core,
			struct process *process)
{
	for (size_t i = 0; i < core->notes.threads.count; i++) {
		const struct core_thread *known = vec_at(&core->notes.threads, i);

		/* Two of the same number are not the kernel's work. */
		if (!tracees_thread(target->tracees, known->tid))
			thread_create(target->tracees, process, known->tid)->state = THREAD_STOPPED;
	}
}

struct process *core_process_create(struct target *target, struct core_file *core)
{
	const struct core_thread *first = core->notes.threads.items;
	struct maps maps = make_maps(core);
	struct process *process;

	if (!core->notes.threads.count) {
		maps_deinit(&maps);
		return NULL;
	}
	process = process_create(target->tracees, core->notes.pid ? core->notes.pid : first->tid);
	process->space = space_create_dumped(core->arch, &core->memory, &maps);
	process->space->modules = module_list_create();
	find_modules(target, core, process->space->modules);
	add_threads(target, core, process);
	native_stacks_keep_jit(tracees_thread(target->tracees, first->tid),
			       read_perf_map(core, process->pid));
	return process;
}

static void add_thread(struct thread *thread, void *context)
{
	vec_push(context, &thread);
}

void core_process_destroy(struct target *target, struct process *process)
{
	struct vec threads = VEC_OF(struct thread *);

	module_list_destroy(process->space->modules);
	process->space->modules = NULL;
	process_each_thread(process, add_thread, &threads);
	for (size_t i = 0; i < threads.count; i++)
		thread_destroy(target->tracees, *(struct thread **)vec_at(&threads, i));
	vec_deinit(&threads);
}
