/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is done for a process before it is attached to.
 *
 * While a tracer that has attached finds out what there is to plant, a thread of the program's
 * stands still. Most of that time goes into files: those of its modules are opened and mapped,
 * their symbols, relocations and unwind tables read, the prototypes of their libraries parsed. None
 * of it depends on the program's being stopped. So it is done once before, for whatever code the
 * process has mapped by then, and forgotten but for what the caches hold of it (elf_file,
 * elf_cache, proto_search). When the process has been attached to all is looked up again, in what
 * it really has then, and hardly anything has to be read. A file that was opened, and compared with
 * the memory, is the one that is mapped as long as the mapping is the same.
 *
 * The filters are matched, too, as that is what tells what of a file is needed; with filters of
 * their own, as they note what they have found. Files are held until the process has been looked
 * at, as the cache lets go of what nobody uses.
 */
#include "session/private.h"

#include "base/cleanup.h"
#include "image/extent.h"
#include "probe/match.h"
#include "session/look.h"
#include "session/runtimes.h"

#include <elf.h>
#include <stdlib.h>

/* A module that was read for a process. */
struct prepared {
	pid_t pid;
	struct module *module;
	uint64_t header;    /* where its ELF header is mapped, 0: nowhere */
	struct vec callers; /* see callers_find() */
};

/* One process that is being prepared for. */
struct preparing {
	struct session *session;
	struct match_filters filters;
	struct look look;
	struct space *space; /* with modules that are only looked at */
};

/* ------------------------------------------------------------------ its modules */

/* Where the segment of `file` that is mapped there would be at 0, or 0. */
static uint64_t load_bias(const struct elf_file *file, const struct mapping *mapping)
{
	static const uint64_t page = ~UINT64_C(4095);
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);

	for (size_t i = 0; i < count; i++)
		if ((segments[i].flags & PF_X) &&
		    (segments[i].file_offset & page) == mapping->offset)
			return mapping->start - (segments[i].address & page);
	return 0;
}

/* Takes the reference to `file` over. */
static void add_module(const struct preparing *preparing, struct elf_file *file,
		       const struct mapping *mapping, const char *path, bool is_main)
{
	const struct mapping *header = look_header(&preparing->look, mapping);
	struct modules *modules = preparing->space->modules;
	struct prepared prepared = {.pid = preparing->space->reader,
				    .header = header ? header->start : 0,
				    .callers = VEC_OF(uint64_t)};
	struct module *module;

	for (size_t i = 0; i < modules->list.count; i++)
		if ((*(struct module **)vec_at(&modules->list, i))->file == file) {
			elf_unref(file);
			return;
		}
	module = module_create(preparing->session, file, load_bias(file, mapping), path, is_main);
	module->device = mapping->device;
	module->inode = mapping->inode;
	module->references++;
	prepared.module = module;
	if (preparing->session->agent)
		callers_find(preparing->session, file, &prepared.callers);
	vec_push(&modules->list, &module);
	vec_push(&preparing->session->prepared, &prepared);
}

static void add_modules(struct preparing *preparing, const struct elf_file *program)
{
	struct look *look = &preparing->look;

	for (size_t i = 0; i < look->maps.count; i++) {
		const struct mapping *mapping = &look->maps.mappings[i];
		const char *path;
		struct elf_file *file;

		if (mapping->executable && mapping->inode &&
		    look_open_at(look, mapping->start, &file, &path) == 0)
			add_module(preparing, file, mapping, path, file == program);
	}
}

/* ------------------------------------------------------------------ what is asked of them */

/* What inprocess_wish() and sites_get() will ask for. */
static void read_match(const struct preparing *preparing, struct module *module,
		       const struct match *match)
{
	uint64_t address = match->address;

	if (match->kind == MATCH_IFUNC) {
		uint64_t bound = plant_find_bound(preparing->space, module, match);

		if (!bound)
			return;
		address = bound - module->bias;
		extent_of_function(module->file, address);
	} else if (match->kind == MATCH_ENTRY) {
		extent_to_next_symbol(module->file, address);
		callers_are_read(preparing->space->arch, module->file, address);
	}
	if (match->kind == MATCH_CALL)
		callers_are_read_by(preparing->space, match->name);
	sites_prepare(preparing->session, preparing->space,
		      match->kind == MATCH_CALL || match->kind == MATCH_POINTER ? PROBE_CALL
										: PROBE_ENTRY,
		      address + module->bias, match->name, module);
}

static void read_module(struct preparing *preparing, struct module *module)
{
	struct vec found = VEC_OF(struct match);
	size_t count;

	matching_module(preparing->session, preparing->space, module, &preparing->filters, &found);
	for (size_t i = 0; i < found.count; i++)
		read_match(preparing, module, vec_at(&found, i));
	vec_deinit(&found);
	elf_slots(module->file, &count);
	if (preparing->session->agent)
		runtimes_walk_stacks(module);
}

/* `program` is that of the process. */
static void prepare_modules(struct preparing *preparing, const struct elf_file *program)
{
	struct space *space = preparing->space;

	space->modules = modules_create();
	preparing->look.space = space;
	add_modules(preparing, program);
	preparing->look.space = NULL;
	for (size_t i = 0; i < space->modules->list.count; i++)
		read_module(preparing, *(struct module **)vec_at(&space->modules->list, i));
	modules_destroy(space->modules);
	space->modules = NULL;
}

void prepare_process(struct session *session, pid_t pid)
{
	struct preparing preparing = {.session = session};
	struct elf_file *program;
	_cleanup_free_ char *path = NULL;
	int error;

	look_init(&preparing.look, session->files, pid, NULL);
	if (look_open_program(&preparing.look, session->inferior, &program, &path) != 0)
		goto out;
	preparing.space = space_create(pid, elf_arch(program), &error);
	if (preparing.space) {
		preparing.space->reader = pid;
		space_bind(preparing.space, session->inferior);
		filters_parse(session, &preparing.filters);
		prepare_modules(&preparing, program);
		filters_free(&preparing.filters);
		space_unref(preparing.space);
	}
	elf_unref(program);
out:
	look_deinit(&preparing.look);
}

void prepare_init(struct session *session)
{
	vec_init(&session->prepared, sizeof(struct prepared));
}

static struct prepared *prepared_at(const struct session *session, size_t i)
{
	return vec_at(&session->prepared, i);
}

static void drop(struct prepared *prepared)
{
	module_unref(prepared->module);
	vec_deinit(&prepared->callers);
}

void prepare_deinit(struct session *session)
{
	for (size_t i = 0; i < session->prepared.count; i++)
		drop(prepared_at(session, i));
	vec_deinit(&session->prepared);
}

struct elf_file *prepare_file(const struct session *session, pid_t pid,
			      const struct mapping *header)
{
	for (size_t i = 0; i < session->prepared.count; i++) {
		const struct prepared *prepared = prepared_at(session, i);

		/* What was read from memory that changes may have been on its way out. */
		if (prepared->pid == pid && !elf_is_from_memory(prepared->module->file) &&
		    prepared->header == header->start &&
		    prepared->module->device == header->device &&
		    prepared->module->inode == header->inode)
			return prepared->module->file;
	}
	return NULL;
}

const struct vec *prepare_callers(const struct session *session, const struct elf_file *file)
{
	for (size_t i = 0; i < session->prepared.count; i++)
		if (prepared_at(session, i)->module->file == file)
			return &prepared_at(session, i)->callers;
	return NULL;
}

void prepare_done(struct session *session, pid_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < session->prepared.count; i++) {
		struct prepared prepared = *prepared_at(session, i);

		if (prepared.pid == pid)
			drop(&prepared);
		else
			*prepared_at(session, kept++) = prepared;
	}
	session->prepared.count = kept;
}
