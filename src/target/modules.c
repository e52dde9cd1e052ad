/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is loaded in a space, from exec or attach to exit.
 *
 * At exec the dynamic linker has not run: r_debug is empty and DT_DEBUG is zero. But the linker's
 * file has the symbols _dl_debug_state and _r_debug from the first instruction on, so the hook is
 * planted there. The main program is planted when the linker first reports a consistent list: by
 * then the definer of each function is known, and neither constructors nor main() have run. Without
 * a linker (static programs), or with one that cannot be read, the program is planted at once.
 *
 * At attach the linker's list is found through DT_DEBUG of the main program and read at once,
 * whatever state it is in. The hook is planted before, so that no change is missed. Other threads
 * run on, and one may be in dlclose(), with a library still listed and its memory unmapped. So
 * objects that do not fit are read a second time, once the list is consistent. It stays consistent
 * then, as a thread that wants to change it stops at the hook.
 *
 * From then on every call of r_brk leads to a walk of the list. Files are opened through the
 * mapping that the object's dynamic section lies in, not by the name in the list: the mapping is
 * what the process really has, also in another root directory or after an upgrade.
 *
 * An object that is no longer listed but still mapped is not unloaded. The program may have
 * tampered with the list, and breakpoints that the tracer had forgotten would kill it. The object
 * stays a module until another one is loaded at its addresses.
 */
#include "target/modules.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "engine/agent/agent.h"
#include "engine/agent/orphan_adoption.h"
#include "engine/agent/return_addresses.h"
#include "engine/agent/script_lines.h"
#include "engine/trap/sigtrap.h"
#include "recovery/guardian.h"
#include "target/agent_policy.h"
#include "target/debug.h"
#include "target/deferred_planting.h"
#include "target/forks.h"
#include "target/linker.h"
#include "target/mapped_files.h"
#include "target/module.h"
#include "target/module_list.h"
#include "target/overwritten_sites.h"
#include "target/plant.h"
#include "target/sigmask_hooks.h"
#include "target/stacks/known_stacks.h"
#include "target/table_functions.h"
#include "target/target_state.h"
#include "target/unresolved_calls.h"
#include "target/waiting_matches.h"
#include "tracee/maps_snapshot.h"
#include "tracee/proc.h"
#include "tracee/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The state of one walk of the list. */
struct update {
	struct target *target;
	struct thread *thread;
	struct modules *modules;
	struct mapped_files mapped;
	bool at_attach;
	bool doubtful;	  /* the list may be changing: what does not fit is not reported yet */
	bool again;	  /* an object did not fit: a second walk is needed */
	struct vec added; /* struct module * */
	bool tampered;	  /* an object that is mapped is not listed any more */
};

/* Returns what was executed: the program, or a dynamic linker that loads it. */
static struct module *main_module(const struct modules *modules)
{
	return *(struct module **)vec_at(&modules->list, 0);
}

static struct module *find_by_dynamic(const struct modules *modules, uint64_t dynamic)
{
	for (size_t i = 0; i < modules->list.count; i++) {
		struct module *module = *(struct module **)vec_at(&modules->list, i);

		if (module->dynamic == dynamic)
			return module;
	}
	return NULL;
}

static void forget_module(struct target *target, struct space *space, const struct module *module)
{
	struct modules *modules = space->modules;

	debug_say(target, DEBUG_MODULES, "unloaded: %s at 0x%llx", module->path,
		  (unsigned long long)module->bias);
	agent_policy_collect(target, space);
	waiting_matches_forget(modules, module);
	unresolved_forget(modules, module);
	known_stacks_forget(modules);
	agent_forget(space, module->low, module->high);
	trap_forget(space, module->low, module->high);
	table_functions_forget(space, module->low, module->high);
	for (size_t i = 0; i < modules->list.count; i++)
		if (*(struct module **)vec_at(&modules->list, i) == module) {
			module_unref(*(struct module **)vec_at(&modules->list, i));
			vec_remove(&modules->list, i);
			target->unloaded++;
			return;
		}
}

/* ------------------------------------------------------------------ walks of the link_map */

static bool is_listed(const struct modules *modules, const struct module *module)
{
	size_t count;
	struct linkmap_object *const *objects = linkmap_objects(modules->linkmap, &count);

	for (size_t i = 0; i < count; i++)
		if (objects[i]->user == module)
			return true;
	return false;
}

/* Lists a module whose functions and calls are all missed, unless its process is exiting. */
static void list_module(struct update *update, struct linkmap_object *object, const char *reason)
{
	if (update->doubtful) {
		object->doubtful = true;
		update->again = true;
		return;
	}
	if (!proc_is_exiting(update->thread->tid))
		untraced_thing(update->target->untraced,
			       object->name[0] ? object->name : "a module", reason);
}

/* Stores what is_mapped() will need to tell whether the module is still there. */
static void note_mapping(struct mapped_files *mapped, struct module *module)
{
	const struct mapping *mapping = mapped_files_mapping_at(mapped, module->dynamic);

	if (mapping) {
		module->device = mapping->device;
		module->inode = mapping->inode;
	}
}

/* Forgets modules at the addresses of a new one: they are unmapped, whatever the list said. */
static void forget_overlapped(const struct update *update, const struct module *fresh)
{
	for (size_t i = update->modules->list.count; i-- > 0;) {
		struct module *module = *(struct module **)vec_at(&update->modules->list, i);

		if (!module->is_main && module->low < fresh->high && fresh->low < module->high &&
		    !is_listed(update->modules, module))
			forget_module(update->target, update->thread->process->space, module);
	}
}

/*
 * Returns true if the mapping shows the part of the file that the object's load bias implies.
 * Otherwise the load bias is wrong, and breakpoints would be written to random places.
 */
static bool is_mapped_there(const struct mapping *mapping, const struct elf_file *file,
			    const struct linkmap_object *object)
{
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);
	uint64_t dynamic = elf_dynamic(file);

	if (!mapping || !mapping->inode)
		return mapping != NULL; /* a loader's own copy: there is no file to compare with */
	for (size_t i = 0; i < count; i++)
		if (dynamic >= segments[i].address &&
		    dynamic - segments[i].address < segments[i].file_size)
			return dynamic - segments[i].address + segments[i].file_offset ==
			       object->dynamic - mapping->start + mapping->offset;
	return false;
}

/*
 * Returns the path to show; to be freed. The name in the linker's list says more than the target of
 * a symbolic link: libz.so.1, not libz.so.1.2.13. But that name may be relative to a former working
 * directory of the program; then the file is looked for in the directory of `path`, which is
 * mapped.
 */
static char *module_path(struct update *update, const struct linkmap_object *object,
			 const char *path)
{
	const struct mapping *mapping = mapped_files_mapping_at(&update->mapped, object->dynamic);
	const char *name = strrchr(object->name, '/');
	const char *slash = strrchr(path, '/');
	struct stat status;

	if (*object->name == '/')
		return xstrdup(object->name);
	if (!*object->name || *path != '/')
		return xstrdup(path);
	char *beside = xasprintf("%.*s/%s", (int)(slash - path), path,
				 name ? name + 1 : object->name);
	_cleanup_free_ char *seen = xasprintf("/proc/%d/root%s", (int)update->thread->process->pid,
					      beside);

	if (mapping && stat(seen, &status) == 0 && status.st_ino == mapping->inode)
		return beside;
	free(beside);
	return xstrdup(path);
}

/*
 * Returns true if the object is the program that an executed linker was to load: the first of its
 * list.
 */
static bool is_linkers_program(const struct modules *modules, const struct linkmap_object *object)
{
	const struct module *program = main_module(modules);
	size_t count;
	struct linkmap_object *const *objects = linkmap_objects(modules->linkmap, &count);

	return program->is_main && linker_is_program(program) && count && objects[0] == object;
}

/*
 * Returns NULL and the object's file, or the reason why there is none. `path` is valid as long as
 * update->mapped.
 */
static const char *open_object(struct update *update, const struct linkmap_object *object,
			       struct elf_file **file, const char **path)
{
	int error = mapped_files_open_at(&update->mapped, object->dynamic, file, path);

	if (error)
		return mapped_files_reason(error);
	if (elf_arch(*file) == update->thread->process->space->arch &&
	    object->bias + elf_dynamic(*file) == object->dynamic &&
	    is_mapped_there(mapped_files_mapping_at(&update->mapped, object->dynamic), *file,
			    object))
		return NULL;
	elf_unref(*file);
	return "its file does not fit what is loaded";
}

static void look_anew(struct update *update)
{
	struct process *process = update->thread->process;

	mapped_files_init(&update->mapped, update->target->files, update->thread->tid,
			  process->space);
	update->mapped.prepared = update->target;
	update->mapped.prepared_for = process->pid;
}

static void object_added(void *context, struct linkmap_object *object)
{
	struct update *update = context;
	struct module *module = find_by_dynamic(update->modules, object->dynamic);
	struct elf_file *file;
	const char *path = "";

	if (module) {
		object->user = module;
		return;
	}
	const char *reason = open_object(update, object, &file, &path);

	if (reason && path[0] != '[' && maps_snapshot_outdated(update->thread->process->space)) {
		/* The maps snapshot may be older than the linker's list. */
		mapped_files_deinit(&update->mapped);
		look_anew(update);
		reason = open_object(update, object, &file, &path);
	}
	if (reason) {
		/* The vDSO is listed too, but has no file and calls no functions. */
		if (path[0] != '[')
			list_module(update, object, reason);
		return;
	}
	_cleanup_free_ char *full = module_path(update, object, path);
	const bool is_main = is_linkers_program(update->modules, object);

	if (is_main)
		main_module(update->modules)->is_main = false;
	module = module_create(update->target, file, object->bias, full, is_main);
	module->ran_before = update->at_attach;
	module->mapped = xstrdup(path);
	module->listed = object->name[0] ? xstrdup(object->name) : NULL;
	note_mapping(&update->mapped, module);
	forget_overlapped(update, module);
	object->user = module;
	vec_push(&update->modules->list, &module);
	vec_push(&update->added, &module);
}

/*
 * Returns true if another entry of the list is the same object: the linker itself is on the list of
 * every dlmopen namespace, and stays as long as one of them has it.
 */
static bool still_listed(const struct modules *modules, const struct linkmap_object *gone)
{
	size_t count;
	struct linkmap_object *const *objects = linkmap_objects(modules->linkmap, &count);

	for (size_t i = 0; i < count; i++)
		if (objects[i] != gone && objects[i]->dynamic == gone->dynamic)
			return true;
	return false;
}

static bool is_mapped(struct update *update, const struct module *module)
{
	const struct mapping *mapping = mapped_files_mapping_at(&update->mapped, module->dynamic);

	return module->is_main ||
	       (mapping && mapping->device == module->device && mapping->inode == module->inode);
}

static void object_removed(void *context, struct linkmap_object *object)
{
	struct update *update = context;

	struct module *module = object->user;

	if (!module || still_listed(update->modules, object))
		return;
	if (is_mapped(update, module))
		update->tampered = true;
	else
		forget_module(update->target, update->thread->process->space, module);
}

static void walk(struct target *target, struct thread *thread, bool force, struct module *plant_too)
{
	struct space *space = thread->process->space;
	struct update update = {.target = target,
				.thread = thread,
				.modules = space->modules,
				.at_attach = force,
				.doubtful = force,
				.added = VEC_OF(struct module *)};
	struct linkmap_events events = {object_added, object_removed, &update};

	look_anew(&update);
	int error = linkmap_update(space->modules->linkmap, &space->memory, space->modules->r_debug,
				   force, &events);

	if (update.again) {
		update.doubtful = false;
		mapped_files_deinit(&update.mapped);
		look_anew(&update);
		/*
		 * -EAGAIN: the linker is changing the list, and calls the hooked function when it
		 * is done.
		 */
		linkmap_update(space->modules->linkmap, &space->memory, space->modules->r_debug,
			       false, &events);
	}
	if (error && error != -EAGAIN && !proc_is_exiting(thread->tid))
		untraced_process(target->untraced, thread->process->pid,
				 "libraries behind a damaged place in the linker's list: %s",
				 error == -ELOOP ? "it has no end" : "it cannot be read");
	/* If the same file was unmapped and mapped again, its code has no breakpoints. */
	if (update.tampered)
		trap_complete(target->trap, thread);
	for (size_t i = 0; i < update.added.count; i++)
		plant_settle(target, space, *(struct module **)vec_at(&update.added, i));
	/*
	 * Planting starts only now, when all prototypes are at hand: a new module may call another
	 * new one.
	 */
	if (plant_too && error != -EAGAIN)
		plant_module(target, thread, plant_too);
	for (size_t i = 0; i < update.added.count; i++)
		plant_module(target, thread, *(struct module **)vec_at(&update.added, i));
	/* Older modules may call a new one. */
	if (update.added.count && target->filters.libraries.count)
		for (size_t i = 0; i + update.added.count < space->modules->list.count; i++)
			plant_libraries(target, thread,
					*(struct module **)vec_at(&space->modules->list, i));
	mapped_files_deinit(&update.mapped);
	vec_deinit(&update.added);
}

/* A program was read with all its modules. If it ended meanwhile, some modules may be missing. */
static void note_looked(struct target *target, const struct thread *thread)
{
	if (!target->looked)
		target->looked = !proc_is_exiting(thread->tid);
}

void modules_update(struct target *target, struct thread *thread)
{
	struct modules *modules = thread->process->space->modules;

	if (!modules || target->leaving)
		return;
	struct module *program = main_module(modules);
	size_t known = 0;

	if (modules->linkmap)
		linkmap_objects(modules->linkmap, &known);
	else
		modules->linkmap = linkmap_create(elf_arch(program->file)->abi->word);
	uint64_t r_debug = linkmap_find_r_debug(&thread->process->space->memory, program->dynamic,
						elf_arch(program->file)->abi->word);

	/*
	 * The program's own DT_DEBUG counts. A hostile program can do no more by it than hide its
	 * modules.
	 */
	if (r_debug)
		modules->r_debug = r_debug;
	else if (!modules->r_debug && linker_is_program(program))
		modules->r_debug = linker_r_debug(thread->process->space, program);
	if (modules->r_debug)
		walk(target, thread, false, known ? NULL : program);
	modules_check(target, thread->process->space, 0);
	table_functions_plant(target, thread);
	agent_policy_install(target, thread);
	if (target->call_stacks && modules->list.count > modules->looked_at)
		script_lines_ask(thread->process->space);
	note_looked(target, thread);
}

/* ------------------------------------------------------------------ a program's first safe stop */

/* Hooks the linker by its own symbols; it has not run yet. */
static int hook_linker_file(struct target *target, struct thread *thread, uint64_t base)
{
	struct modules *modules = thread->process->space->modules;
	struct mapped_files mapped;
	struct elf_file *file;
	const char *path;

	mapped_files_init(&mapped, target->files, thread->tid, thread->process->space);
	int error = mapped_files_open_at(&mapped, base, &file, &path);

	if (error)
		goto out;
	/* AT_BASE is the address of the mapping of the first segment. */
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);
	uint64_t bias = base - (count ? segments[0].address & ~(uint64_t)4095 : 0);
	struct module *linker = module_create(target, file, bias, path, false);

	note_mapping(&mapped, linker);
	vec_push(&modules->list, &linker);
	modules->r_debug = linker_symbol_r_debug(linker);
	error = linker_hook(target, thread, linker);
	plant_module(target, thread, linker);
out:
	mapped_files_deinit(&mapped);
	return error;
}

static void first_walk(struct target *target, struct thread *thread, const struct auxv *auxv,
		       bool at_exec)
{
	struct space *space = thread->process->space;
	struct modules *modules = space->modules;
	struct module *program = main_module(modules);
	unsigned word = space->arch->abi->word;
	const bool is_linker = linker_is_program(program);
	const bool has_linker = is_linker || elf_interpreter(program->file);
	uint64_t r_debug = is_linker ? linker_r_debug(space, program)
				     : linkmap_find_r_debug(&space->memory, program->dynamic, word);

	if (at_exec || !r_debug) {
		bool hooked = is_linker ? linker_hook(target, thread, program) == 0
					: auxv->base &&
						  hook_linker_file(target, thread, auxv->base) == 0;

		if (hooked && has_linker)
			return; /* the rest is read when the linker has loaded it */
		if (has_linker && !proc_is_exiting(thread->tid))
			untraced_process(target->untraced, thread->process->pid,
					 "its libraries: the dynamic linker cannot be watched");
		plant_module(target, thread, program);
		note_looked(target, thread);
		return;
	}
	modules->linkmap = linkmap_create(word);
	modules->r_debug = r_debug;
	program->ran_before = true;
	uint64_t brk = linkmap_r_brk(&space->memory, r_debug, word);
	bool hooked = brk && trap_plant(target->trap, thread, brk, NULL, &target->linker) == 0;

	walk(target, thread, true, NULL);
	plant_module(target, thread, program);
	note_looked(target, thread);
	if (!hooked && !proc_is_exiting(thread->tid))
		untraced_process(
			target->untraced, thread->process->pid,
			"libraries that it loads from now on: the dynamic linker cannot be "
			"watched");
}

static int begin(struct target *target, struct thread *thread, bool at_exec)
{
	struct process *process = thread->process;
	struct elf_file *file = NULL;
	_cleanup_free_ char *path = NULL;
	struct auxv auxv;
	struct mapped_files mapped;

	mapped_files_init(&mapped, target->files, thread->tid, NULL);
	if (at_exec)
		maps_deinit(&process->maps_before);
	else
		mapped_files_take_maps(&mapped, &process->maps_before);
	int error = mapped_files_open_program(&mapped, target->tracees, &file, &path);

	if (!error)
		error = auxv_read(thread->tid, elf_arch(file)->abi->word, &auxv);
	if (!error && !process->space) {
		process->space = space_create(thread->tid, elf_arch(file), &error);
		if (process->space) {
			guardian_hold(target->guardian, process->space, process->pid);
			maps_snapshot_begin(process->space, &mapped.maps);
		}
	}
	mapped_files_deinit(&mapped);
	if (error || !process->space) {
		elf_unref(file);
		if (!proc_is_exiting(thread->tid)) {
			target->looked = true;
			untraced_process(target->untraced, process->pid, "%s",
					 mapped_files_reason(error));
		}
		return error;
	}
	process->space->reader = thread->tid;
	space_bind(process->space, target->tracees);
	uint64_t headers = elf_program_headers(file);
	uint64_t bias = elf_is_pie(file) ? (headers && auxv.phdr ? auxv.phdr - headers
								 : auxv.entry - elf_entry(file))
					 : 0;
	struct module *program = module_create(target, file, bias, path, true);

	process->space->modules = module_list_create();
	target->unloaded++;
	vec_push(&process->space->modules->list, &program);
	if (!at_exec)
		forks_pass(thread);
	const bool has_units = !at_exec && agent_find_orphan(thread);

	if (!at_exec)
		forks_stop_orphan(target, thread, has_units);
	error = sigtrap_begin(thread);
	if (has_units)
		agent_undo_jumps(process->space, true);
	/* Where seccomp forbids the handler (-EPERM), breakpoints are planted without it. */
	if ((error == -ENOMEM || error == -EAGAIN) && !proc_is_exiting(thread->tid)) {
		untraced_process(target->untraced, process->pid,
				 "its limits leave no room in its memory for what takes "
				 "breakpoints out should the tracer be killed: %s",
				 strerror(-error));
		return error;
	}
	if (!at_exec)
		forks_guard(target, thread);
	forks_share_space(target, process);
	sigmask_hooks_unblock(target, thread);
	process->space->modules->finds_running = !at_exec;
	if (!at_exec)
		waiting_matches_begin(target, process->space->modules);
	first_walk(target, thread, &auxv, at_exec);
	table_functions_plant(target, thread);
	if (at_exec)
		agent_policy_install(target, thread);
	else
		deferred_start(target, thread);
	return 0;
}

int modules_start(struct target *target, struct thread *thread, bool at_exec)
{
	int error = begin(target, thread, at_exec);

	if (thread->process->space)
		maps_snapshot_end(thread->process->space);
	return error;
}
