/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is loaded in a space, from exec to exit.
 *
 * At exec the dynamic linker has not run: r_debug is empty and DT_DEBUG zero. But the linker's
 * own file has the symbols _dl_debug_state and _r_debug from the first instruction on, so the
 * hook goes there. The main program is planted when the linker first says that its list is
 * consistent: by then it is known which library speaks for which function, and neither
 * constructors nor main() have run. Without a linker (static programs), or one that we cannot
 * read, it is planted at once.
 *
 * At attach the linker's list is found through DT_DEBUG of the main program and read at once,
 * whatever state it is in. The hook is planted before, so that no change is missed. Other threads
 * run on, and one may be in dlclose right now, with a library still on the list and its memory
 * gone; so what does not fit is looked at a second time, when the list is consistent. It stays so
 * then, as whoever wants to change it runs into the hook.
 *
 * From then on every call of r_brk brings a walk of the list. Files are opened by the mapping
 * that the object's dynamic section lies in, not by the name in the list: that is what the
 * process really has mapped, also in another root directory or after an upgrade.
 *
 * An object that is no longer on the list but still mapped has not gone: the list may have been
 * tampered with, and our breakpoints in its code would kill the program if they were forgotten. It
 * stays a module until another one is loaded where it was.
 */
#include "session/private.h"
#include "session/tables.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "engine/agent/agent.h"
#include "engine/trap/sigtrap.h"
#include "inferior/kept_maps.h"
#include "inferior/proc.h"
#include "session/look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CHECK_NS = 1000000000 };

/* One walk's worth of state. */
struct update {
	struct session *session;
	struct thread *thread;
	struct modules *modules;
	struct look look;
	bool at_attach;
	bool doubtful;	  /* the list may be under way: what does not fit is no finding yet */
	bool again;	  /* something did not fit */
	struct vec added; /* struct module * */
	bool tampered;	  /* something that is mapped is not on the list any more */
};

/* What was executed: the program, or a linker that loads it. */
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

static void forget_module(struct session *session, struct space *space, const struct module *module)
{
	struct modules *modules = space->modules;

	debug_say(session, DEBUG_MODULES, "unloaded: %s at 0x%llx", module->path,
		  (unsigned long long)module->bias);
	inprocess_collect(session, space);
	later_forget(modules, module);
	undefined_forget(modules, module);
	agent_forget(space, module->low, module->high);
	trap_forget(space, module->low, module->high);
	tables_forget(space, module->low, module->high);
	for (size_t i = 0; i < modules->list.count; i++)
		if (*(struct module **)vec_at(&modules->list, i) == module) {
			module_unref(*(struct module **)vec_at(&modules->list, i));
			vec_remove(&modules->list, i);
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

/* A module whose functions and calls are all missed. One that goes away with its process is not. */
static void list_module(struct update *update, struct linkmap_object *object, const char *reason)
{
	if (update->doubtful) {
		object->doubtful = true;
		update->again = true;
		return;
	}
	if (!proc_is_exiting(update->thread->tid))
		untraced_thing(update->session->untraced,
			       object->name[0] ? object->name : "a module", reason);
}

/* By which it is known later whether the module is still there. */
static void note_mapping(struct look *look, struct module *module)
{
	const struct mapping *mapping = look_mapping_at(look, module->dynamic);

	if (mapping) {
		module->device = mapping->device;
		module->inode = mapping->inode;
	}
}

/* What was where this one is now must have gone, whatever the list has said. */
static void forget_overlapped(const struct update *update, const struct module *fresh)
{
	for (size_t i = update->modules->list.count; i-- > 0;) {
		struct module *module = *(struct module **)vec_at(&update->modules->list, i);

		if (!module->is_main && module->low < fresh->high && fresh->low < module->high &&
		    !is_listed(update->modules, module))
			forget_module(update->session, update->thread->process->space, module);
	}
}

/*
 * Whether the mapping shows the part of the file that the object says is there. Otherwise its load
 * address is not true, and breakpoints would go anywhere.
 */
static bool is_mapped_there(const struct mapping *mapping, const struct elf_file *file,
			    const struct linkmap_object *object)
{
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);
	uint64_t dynamic = elf_dynamic(file);

	if (!mapping || !mapping->inode)
		return mapping != NULL; /* a loader's copy: nothing to compare with */
	for (size_t i = 0; i < count; i++)
		if (dynamic >= segments[i].address &&
		    dynamic - segments[i].address < segments[i].file_size)
			return dynamic - segments[i].address + segments[i].file_offset ==
			       object->dynamic - mapping->start + mapping->offset;
	return false;
}

/*
 * What the linker calls an object says more than where a link led to: libz.so.1, not
 * libz.so.1.2.13. But it may say it as seen from a directory that the program was in, once; then
 * the file is looked for beside the one that is mapped from `path`. To be freed.
 */
static char *module_path(struct update *update, const struct linkmap_object *object,
			 const char *path)
{
	const struct mapping *mapping = look_mapping_at(&update->look, object->dynamic);
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

/* Whether it is what the linker was executed for: the first of its list. */
static bool is_linkers_program(const struct modules *modules, const struct linkmap_object *object)
{
	const struct module *program = main_module(modules);
	size_t count;
	struct linkmap_object *const *objects = linkmap_objects(modules->linkmap, &count);

	return program->is_main && linker_is_program(program) && count && objects[0] == object;
}

/* NULL with the object's file, or why there is none. `path` is good as long as update->look. */
static const char *open_object(struct update *update, const struct linkmap_object *object,
			       struct elf_file **file, const char **path)
{
	int error = look_open_at(&update->look, object->dynamic, file, path);

	if (error)
		return look_reason(error);
	if (elf_arch(*file) == update->thread->process->space->arch &&
	    object->bias + elf_dynamic(*file) == object->dynamic &&
	    is_mapped_there(look_mapping_at(&update->look, object->dynamic), *file, object))
		return NULL;
	elf_unref(*file);
	return "its file does not fit what is loaded";
}

static void look_anew(struct update *update)
{
	struct process *process = update->thread->process;

	look_init(&update->look, update->session->files, update->thread->tid, process->space);
	update->look.prepared = update->session;
	update->look.prepared_for = process->pid;
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

	if (reason && path[0] != '[' && kept_maps_outdated(update->thread->process->space)) {
		/* What was kept may be older than the linker's list. */
		look_deinit(&update->look);
		look_anew(update);
		reason = open_object(update, object, &file, &path);
	}
	if (reason) {
		/* The vDSO is on the list too, but is no file and calls nobody. */
		if (path[0] != '[')
			list_module(update, object, reason);
		return;
	}
	_cleanup_free_ char *full = module_path(update, object, path);
	const bool is_main = is_linkers_program(update->modules, object);

	if (is_main)
		main_module(update->modules)->is_main = false;
	module = module_create(update->session, file, object->bias, full, is_main);
	module->ran_before = update->at_attach;
	module->mapped = xstrdup(path);
	module->listed = object->name[0] ? xstrdup(object->name) : NULL;
	note_mapping(&update->look, module);
	forget_overlapped(update, module);
	object->user = module;
	vec_push(&update->modules->list, &module);
	vec_push(&update->added, &module);
}

/* The linker itself is on the list of every namespace; it stays while one of them has it. */
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
	const struct mapping *mapping = look_mapping_at(&update->look, module->dynamic);

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
		forget_module(update->session, update->thread->process->space, module);
}

static void walk(struct session *session, struct thread *thread, bool force,
		 struct module *plant_too)
{
	struct space *space = thread->process->space;
	struct update update = {.session = session,
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
		look_deinit(&update.look);
		look_anew(&update);
		/* -EAGAIN: the linker is at work. At its end it comes to the hook. */
		linkmap_update(space->modules->linkmap, &space->memory, space->modules->r_debug,
			       false, &events);
	}
	if (error && error != -EAGAIN && !proc_is_exiting(thread->tid))
		untraced_process(session->untraced, thread->process->pid,
				 "libraries behind a damaged place in the linker's list: %s",
				 error == -ELOOP ? "it has no end" : "it cannot be read");
	/* Should it be the same file mapped anew, its code is without breakpoints. */
	if (update.tampered)
		trap_complete(session->trap, thread);
	for (size_t i = 0; i < update.added.count; i++)
		undefined_settle(session, space, *(struct module **)vec_at(&update.added, i));
	/* Only now are all prototypes at hand: a new module may call another new one. */
	if (plant_too && error != -EAGAIN)
		plant_module(session, thread, plant_too);
	for (size_t i = 0; i < update.added.count; i++)
		plant_module(session, thread, *(struct module **)vec_at(&update.added, i));
	/* And older ones may call a new one. */
	if (update.added.count && session->filters.libraries.count)
		for (size_t i = 0; i + update.added.count < space->modules->list.count; i++)
			plant_libraries(session, thread,
					*(struct module **)vec_at(&space->modules->list, i));
	look_deinit(&update.look);
	vec_deinit(&update.added);
}

struct check {
	struct session *session;
	bool hook;
};

static void overwritten(void *context, const struct probe_site *site, struct hook *hook,
			bool taken_out)
{
	struct check *check = context;
	const struct probe_site *lost = site ? site : hook ? pointers_site(hook) : NULL;

	if (lost)
		untraced_function(
			check->session->untraced, lost->info->module, lost->info->name, true,
			taken_out ? "calls since its breakpoint was taken out, by the program "
				    "or for a child in its memory that no tracer is told of"
			: site	  ? "calls since the program has written over its "
				    "beginning"
				  : "some calls since the program has written over the "
				    "code that makes them");
	else
		check->hook = true;
}

void modules_check(struct session *session, struct space *space, uint64_t now)
{
	struct modules *modules = space ? space->modules : NULL;
	struct check check = {session, false};

	if (!modules || modules->suspended_for || (now && now - modules->checked < CHECK_NS))
		return;
	modules->checked = now ? now : inferior_clock();
	trap_check(space, overwritten, &check);
	agent_check(space, overwritten, &check);
	if (check.hook)
		untraced_thing(session->untraced, "what comes later",
			       "the program has written over a place where it was watched: the "
			       "dynamic linker's, or one of the C library's");
}

/*
 * A program was seen with all that it has loaded. One that ended under the look perhaps had more.
 */
static void note_looked(struct session *session, const struct thread *thread)
{
	if (!session->looked)
		session->looked = !proc_is_exiting(thread->tid);
}

void modules_update(struct session *session, struct thread *thread)
{
	struct modules *modules = thread->process->space->modules;

	if (!modules || session->leaving)
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
	 * The program's own word counts, but a hostile one can do no more than hide its
	 * modules.
	 */
	if (r_debug)
		modules->r_debug = r_debug;
	else if (!modules->r_debug && linker_is_program(program))
		modules->r_debug = linker_r_debug(thread->process->space, program);
	if (modules->r_debug)
		walk(session, thread, false, known ? NULL : program);
	modules_check(session, thread->process->space, 0);
	tables_plant(session, thread);
	inprocess_install(session, thread);
	note_looked(session, thread);
}

/* ------------------------------------------------------------------ the first look */

/* Hooks the linker by its own symbols; it has not run yet. */
static int hook_linker_file(struct session *session, struct thread *thread, uint64_t base)
{
	struct modules *modules = thread->process->space->modules;
	struct look look;
	struct elf_file *file;
	const char *path;

	look_init(&look, session->files, thread->tid, thread->process->space);
	int error = look_open_at(&look, base, &file, &path);

	if (error)
		goto out;
	/* The mapping at AT_BASE is the first segment's. */
	size_t count;
	const struct elf_segment *segments = elf_segments(file, &count);
	uint64_t bias = base - (count ? segments[0].address & ~(uint64_t)4095 : 0);
	struct module *linker = module_create(session, file, bias, path, false);

	note_mapping(&look, linker);
	vec_push(&modules->list, &linker);
	modules->r_debug = linker_symbol_r_debug(linker);
	error = linker_hook(session, thread, linker);
	plant_module(session, thread, linker);
out:
	look_deinit(&look);
	return error;
}

static void first_walk(struct session *session, struct thread *thread, const struct auxv *auxv,
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
		bool hooked = is_linker ? linker_hook(session, thread, program) == 0
					: auxv->base && hook_linker_file(session, thread,
									 auxv->base) == 0;

		if (hooked && has_linker)
			return; /* the rest is looked at when the linker has loaded it */
		if (has_linker && !proc_is_exiting(thread->tid))
			untraced_process(session->untraced, thread->process->pid,
					 "its libraries: the dynamic linker cannot be watched");
		plant_module(session, thread, program);
		note_looked(session, thread);
		return;
	}
	modules->linkmap = linkmap_create(word);
	modules->r_debug = r_debug;
	program->ran_before = true;
	uint64_t brk = linkmap_r_brk(&space->memory, r_debug, word);
	bool hooked = brk && trap_plant(session->trap, thread, brk, NULL, &session->linker) == 0;

	walk(session, thread, true, NULL);
	plant_module(session, thread, program);
	note_looked(session, thread);
	if (!hooked && !proc_is_exiting(thread->tid))
		untraced_process(
			session->untraced, thread->process->pid,
			"libraries that it loads from now on: the dynamic linker cannot be "
			"watched");
}

static int begin(struct session *session, struct thread *thread, bool at_exec)
{
	struct process *process = thread->process;
	struct elf_file *file = NULL;
	_cleanup_free_ char *path = NULL;
	struct auxv auxv;
	struct look look;

	look_init(&look, session->files, thread->tid, NULL);
	int error = look_open_program(&look, session->inferior, &file, &path);

	if (!error)
		error = auxv_read(thread->tid, elf_arch(file)->abi->word, &auxv);
	if (!error && !process->space) {
		process->space = space_create(thread->tid, elf_arch(file), &error);
		if (process->space) {
			space_guard(process->space, session->guardian, process->pid);
			kept_maps_begin(process->space, &look.maps);
		}
	}
	look_deinit(&look);
	if (error || !process->space) {
		elf_unref(file);
		if (!proc_is_exiting(thread->tid)) {
			session->looked = true;
			untraced_process(session->untraced, process->pid, "%s", look_reason(error));
		}
		return error;
	}
	process->space->reader = thread->tid;
	space_bind(process->space, session->inferior);
	uint64_t headers = elf_program_headers(file);
	uint64_t bias = elf_is_pie(file) ? (headers && auxv.phdr ? auxv.phdr - headers
								 : auxv.entry - elf_entry(file))
					 : 0;
	struct module *program = module_create(session, file, bias, path, true);

	process->space->modules = modules_create();
	vec_push(&process->space->modules->list, &program);
	if (!at_exec)
		forks_pass(thread);
	error = sigtrap_begin(thread);
	if (!error && !at_exec)
		agent_adopt_remains(thread);
	/* Where a filter forbids it (-EPERM) breakpoints are planted all the same. */
	if ((error == -ENOMEM || error == -EAGAIN) && !proc_is_exiting(thread->tid)) {
		untraced_process(session->untraced, process->pid,
				 "its limits leave no room in its memory for what takes "
				 "breakpoints out should the tracer be killed: %s",
				 strerror(-error));
		return error;
	}
	if (!at_exec)
		forks_guard(session, thread);
	forks_share_space(session, process);
	masking_unblock(session, thread);
	if (!at_exec)
		later_begin(session, process->space->modules);
	first_walk(session, thread, &auxv, at_exec);
	tables_plant(session, thread);
	if (at_exec)
		inprocess_install(session, thread);
	else
		later_start(session, thread);
	return 0;
}

int modules_start(struct session *session, struct thread *thread, bool at_exec)
{
	int error = begin(session, thread, at_exec);

	if (thread->process->space)
		kept_maps_end(thread->process->space);
	return error;
}
