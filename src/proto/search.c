/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds .conf files.
 *
 * A process may have hundreds of libraries, and for each there are several names to try in several
 * directories. So each directory is listed once, and names are looked up in the list. A library
 * without a file then costs no system call.
 *
 * In each directory the longest name that exists is used. The files of all directories are read
 * into one library of prototypes, the last directory's first. So a prototype in the user's
 * libc.conf replaces the installed one and leaves the others. Libraries for which the same files
 * are found share one library of prototypes.
 */
#include "proto/search.h"

#include "base/cleanup.h"
#include "base/config_dirs.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "base/xalloc.h"
#include "proto/conf_index.h"
#include "proto/names.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names that are remembered. A process may load libraries with ever new names. */
enum { SONAMES_MAX = 512 };

struct conf_directory {
	char *path;
	bool listed;
	struct names files; /* file names that end in .conf; owned; each is its own value */
};

struct proto_search {
	struct vec directories; /* struct conf_directory *, those that win first */
	size_t given;		/* how many of them came with -F */
	struct protolib *global;
	struct names by_soname; /* owned names → struct protolib, or &nothing */
	struct names by_files;	/* owned lists of paths, each ending in '\n' → struct protolib */
	struct names said;	/* owned messages about files */
	/* char *, owned: the libraries of proto_search_any(), in its order */
	struct vec libraries;
	/* of their files; the meaning of a file is its library's element of `libraries` */
	struct conf_index index;
	bool is_indexed;
	conf_error *error;
	void *context;
};

/* Stands for a name without a file: a table has no NULL values. */
static const char nothing;

static struct conf_directory *directory_create(const char *path, size_t length)
{
	struct conf_directory *directory = xcalloc(1, sizeof *directory);

	directory->path = xstrndup(path, length);
	return directory;
}

/* Frees a table and the names in it. */
static void owned_names_deinit(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free((char *)(uintptr_t)names->entries[i].name);
	names_deinit(names);
}

static void directory_destroy(struct conf_directory *directory)
{
	owned_names_deinit(&directory->files);
	free(directory->path);
	free(directory);
}

/*
 * Walks the non-empty elements of a list with colons. Begin with *at = list. Returns NULL at the
 * end.
 */
static const char *next_element(const char **at, size_t *length)
{
	while (**at) {
		const char *element = *at;

		*length = strcspn(element, ":");
		*at = element + *length;
		*at += **at == ':';
		if (*length)
			return element;
	}
	return NULL;
}

/* Adds the directories of the user, the system and the tracer. */
static void add_directories(struct proto_search *search, const char *installed)
{
	struct vec paths = VEC_OF(char *);

	config_dirs_add(&paths, installed, "");
	for (size_t i = 0; i < paths.count; i++) {
		char *path = *(char **)vec_at(&paths, i);
		struct conf_directory *directory = directory_create(path, strlen(path));

		vec_push(&search->directories, &directory);
		free(path);
	}
	vec_deinit(&paths);
}

/* Reports an error in a file, once: the file may be read or imported for many libraries. */
static void complain(void *context, const char *file, unsigned line, const char *message)
{
	struct proto_search *search = context;
	char *whole = xasprintf("%s:%u:%s", file, line, message);
	const bool is_new = !names_get(&search->said, whole, strlen(whole));

	if (is_new && search->error)
		search->error(search->context, file, line, message);
	if (is_new)
		names_put(&search->said, whole, strlen(whole), &nothing);
	else
		free(whole);
}

static void report(struct proto_search *search, const char *path, int error)
{
	_cleanup_free_ char *message = xasprintf("cannot be read: %s", strerror(error));

	complain(search, path, 0, message);
}

/* Reads a file that was found by its name, not given by the user. */
static void read_found(struct proto_search *search, struct protolib *lib, const char *path)
{
	int status = protolib_read(lib, path, complain, search);

	if (status < 0 && status != -ENOENT && status != -ENOTDIR)
		report(search, path, -status);
}

/* Finds an imported file in one of the directories. */
static char *find_import(void *context, const char *name)
{
	const struct proto_search *search = context;

	for (size_t i = 0; i < search->directories.count; i++) {
		const struct conf_directory *directory =
			*(struct conf_directory **)vec_at(&search->directories, i);
		char *path = xasprintf("%s/%s.conf", directory->path, name);

		if (access(path, R_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

struct proto_search *proto_search_create(const char *data_dir, conf_error *error, void *context)
{
	struct proto_search *search = xcalloc(1, sizeof *search);
	const char *home = getenv("HOME");

	vec_init(&search->directories, sizeof(struct conf_directory *));
	vec_init(&search->libraries, sizeof(char *));
	conf_index_init(&search->index);
	search->global = protolib_create();
	protolib_set_finder(search->global, find_import, search);
	search->error = error;
	search->context = context;
	add_directories(search, data_dir);
	if (home && *home == '/') {
		_cleanup_free_ char *path = xasprintf("%s/.tracer.conf", home);

		read_found(search, search->global, path);
	}
	return search;
}

void proto_search_destroy(struct proto_search *search)
{
	if (!search)
		return;
	for (size_t i = 0; i < search->directories.count; i++)
		directory_destroy(*(struct conf_directory **)vec_at(&search->directories, i));
	vec_deinit(&search->directories);
	for (size_t i = 0; i < search->by_files.count; i++)
		protolib_destroy((struct protolib *)(uintptr_t)search->by_files.entries[i].value);
	owned_names_deinit(&search->by_files);
	owned_names_deinit(&search->by_soname);
	owned_names_deinit(&search->said);
	conf_index_deinit(&search->index);
	for (size_t i = 0; i < search->libraries.count; i++)
		free(*(char **)vec_at(&search->libraries, i));
	vec_deinit(&search->libraries);
	protolib_destroy(search->global);
	free(search);
}

/* Inserts a directory behind the others that came with -F, before the rest. */
static void insert_directory(struct proto_search *search, const char *path)
{
	struct vec *directories = &search->directories;
	struct conf_directory *directory = directory_create(path, strlen(path));

	vec_push(directories, NULL);
	struct conf_directory **place = vec_at(directories, search->given);

	memmove(place + 1, place, (directories->count - 1 - search->given) * sizeof *place);
	*place = directory;
	search->given++;
}

/* Adds one element of -F. Returns the number of errors reported, or -errno. */
static int add_element(struct proto_search *search, const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return -errno;
	if (!S_ISDIR(status.st_mode))
		return protolib_read(search->global, path, complain, search);
	DIR *readable = opendir(path);

	if (!readable)
		return -errno;
	closedir(readable);
	insert_directory(search, path);
	return 0;
}

int proto_search_add(struct proto_search *search, const char *list, char **bad)
{
	const char *at = list;
	const char *element;
	size_t length;
	int errors = 0;

	while ((element = next_element(&at, &length))) {
		_cleanup_free_ char *path = xstrndup(element, length);
		int status = add_element(search, path);

		if (status < 0) {
			*bad = take_ptr(path);
			return status;
		}
		errors += status;
	}
	return errors;
}

/* Lists a directory, if that has not been done. A directory that does not exist is empty. */
static void list_directory(struct proto_search *search, struct conf_directory *directory)
{
	static const char suffix[] = ".conf";
	const struct dirent *entry;

	if (directory->listed)
		return;
	directory->listed = true;
	DIR *stream = opendir(directory->path);

	if (!stream) {
		if (errno != ENOENT && errno != ENOTDIR)
			report(search, directory->path, errno);
		return;
	}
	while ((entry = readdir(stream))) {
		size_t length = strlen(entry->d_name);

		if (length < sizeof suffix ||
		    strcmp(entry->d_name + length - (sizeof suffix - 1), suffix) != 0)
			continue;
		char *name = xstrdup(entry->d_name);

		names_put(&directory->files, name, length, name);
	}
	closedir(stream);
}

/* Returns the name of the file for a library in a directory, or NULL. */
static const char *find_in(struct proto_search *search, struct conf_directory *directory,
			   const char *soname)
{
	_cleanup_free_ char *name = xasprintf("%s.conf", soname);
	size_t length = strlen(soname);
	const char *found = NULL;

	/*
	 * No file has a longer name. Without the limit a tracee could make up names that take long.
	 */
	if (length > NAME_MAX)
		return NULL;
	list_directory(search, directory);
	while (length > 0 && !found) {
		memcpy(name + length, ".conf", sizeof ".conf");
		found = names_get(&directory->files, name, length + strlen(".conf"));
		/* Cuts the name at its last dot. */
		while (--length > 0 && name[length] != '.')
			;
	}
	return found;
}

/* Finds the paths of all files for a library, those that win first, each ending in '\n'. */
static void find_files(struct proto_search *search, const char *soname, struct strbuf *paths)
{
	for (size_t i = 0; i < search->directories.count; i++) {
		struct conf_directory *directory =
			*(struct conf_directory **)vec_at(&search->directories, i);
		const char *name = find_in(search, directory, soname);

		if (name)
			strbuf_printf(paths, "%s/%s\n", directory->path, name);
	}
}

/* protolib_load: reads the files of a list of paths, the last first. */
static void read_files(void *context, struct protolib *lib, const char *paths)
{
	struct proto_search *search = context;
	_cleanup_free_ char *copy = xstrdup(paths);
	size_t end = strlen(copy);

	while (end > 0) {
		size_t start = end - 1;

		copy[start] = '\0';
		while (start > 0 && copy[start - 1] != '\n')
			start--;
		read_found(search, lib, copy + start);
		end = start;
	}
}

static bool have_places(const struct proto_search *search, const char *paths)
{
	const char *end;

	for (; (end = strchr(paths, '\n')); paths = end + 1) {
		_cleanup_free_ char *path = xstrndup(paths, (size_t)(end - paths));

		if (conf_has_places(path, find_import, (void *)(uintptr_t)search))
			return true;
	}
	return false;
}

/*
 * The files are parsed when a prototype is first asked for. For most libraries of a process that
 * never happens, and parsing takes long.
 */
static struct protolib *library_of_files(struct proto_search *search, const char *paths)
{
	struct protolib *lib = protolib_create();

	protolib_set_finder(lib, find_import, search);
	protolib_set_loader(lib, read_files, search, paths, have_places(search, paths));
	return lib;
}

static const struct protolib *find_library(struct proto_search *search, const char *soname)
{
	struct strbuf paths = {0};
	const struct protolib *lib = NULL;

	find_files(search, soname, &paths);
	if (paths.length) {
		lib = names_get(&search->by_files, paths.text, paths.length);
		if (!lib) {
			char *key = xstrdup(paths.text);

			lib = library_of_files(search, key);
			names_put(&search->by_files, key, paths.length, lib);
		}
	}
	strbuf_deinit(&paths);
	return lib;
}

const struct protolib *proto_search_library(struct proto_search *search, const char *soname)
{
	const char *slash = strrchr(soname, '/');
	const void *known;

	if (slash)
		soname = slash + 1;
	known = names_get(&search->by_soname, soname, strlen(soname));
	if (!known) {
		known = find_library(search, soname);
		if (!known)
			known = &nothing;
		if (search->by_soname.count == SONAMES_MAX)
			owned_names_deinit(&search->by_soname);
		char *name = xstrdup(soname);

		names_put(&search->by_soname, name, strlen(name), known);
	}
	return known == &nothing ? NULL : known;
}

/* Returns true if `name` is that of a library, with or without a version. */
static bool is_called(const char *name, const char *library)
{
	size_t length = strlen(library);

	return !strncmp(name, library, length) && (!name[length] || strchr(".-", name[length]));
}

/*
 * Returns true if a library may be linked statically into a program. Names in files for language
 * runtimes, and for things that are not libraries, have a meaning only there. The C library is
 * searched before all others.
 */
static bool may_be_in_a_program(const char *name)
{
	static const char *const machines[] = {"libperl", "libphp", "libpython", "libruby"};

	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		if (!strncmp(name, machines[i], strlen(machines[i])))
			return false;
	return !strncmp(name, "lib", strlen("lib")) && !is_called(name, "libc");
}

static size_t rank(const char *library)
{
	static const char *const first[] = {"libm", "libpthread", "librt", "libdl"};
	size_t i = 0;

	while (i < sizeof first / sizeof *first && !is_called(library, first[i]))
		i++;
	return i;
}

/* A longer name comes before its prefix: a file for the longer name is more specific. */
static int compare_names(const char *x, const char *y)
{
	while (*x && *x == *y) {
		x++;
		y++;
	}
	const unsigned next[] = {*x ? (unsigned char)*x : UINT8_MAX + 1U,
				 *y ? (unsigned char)*y : UINT8_MAX + 1U};

	return (next[0] > next[1]) - (next[0] < next[1]);
}

static int compare_libraries(const void *x, const void *y)
{
	const char *const *a = x;
	const char *const *b = y;
	const size_t ranks[] = {rank(*a), rank(*b)};

	return ranks[0] != ranks[1] ? (ranks[0] > ranks[1]) - (ranks[0] < ranks[1])
				    : compare_names(*a, *b);
}

/* Lists the libraries that have a file in any directory: each once, sorted. */
static void list_libraries(struct proto_search *search)
{
	struct vec *libraries = &search->libraries;
	struct names known = {0};

	for (size_t i = 0; i < search->directories.count; i++) {
		struct conf_directory *directory =
			*(struct conf_directory **)vec_at(&search->directories, i);

		list_directory(search, directory);
		for (size_t j = 0; j < directory->files.count; j++) {
			const struct name_entry *file = &directory->files.entries[j];

			if (names_get(&known, file->name, file->length))
				continue;
			names_put(&known, file->name, file->length, file->name);
			char *library = xstrndup(file->name, file->length - strlen(".conf"));

			if (may_be_in_a_program(library))
				vec_push(libraries, &library);
			else
				free(library);
		}
	}
	names_deinit(&known);
	if (libraries->count)
		qsort(vec_at(libraries, 0), libraries->count, sizeof(char *), compare_libraries);
}

static void index_libraries(struct proto_search *search)
{
	list_libraries(search);
	for (size_t i = 0; i < search->libraries.count; i++) {
		char **library = vec_at(&search->libraries, i);
		struct strbuf paths = {0};

		find_files(search, *library, &paths);
		for (char *path = paths.text, *end; path && (end = strchr(path, '\n'));
		     path = end + 1) {
			*end = '\0';
			conf_index_add(&search->index, path, library, find_import, search);
		}
		strbuf_deinit(&paths);
	}
}

static const struct conf_index *index_of(struct proto_search *search)
{
	if (!search->is_indexed)
		index_libraries(search);
	search->is_indexed = true;
	return &search->index;
}

const struct prototype *proto_search_any(struct proto_search *search, const char *name)
{
	const struct prototype *found = NULL;
	char *const *first = conf_index_get(index_of(search), name);

	if (!first)
		return NULL;
	/* The name need not be that of a function in the first of them. */
	for (size_t i = (size_t)(first - (char **)search->libraries.items);
	     !found && i < search->libraries.count; i++) {
		const struct protolib *lib =
			proto_search_library(search, *(char **)vec_at(&search->libraries, i));

		found = lib ? protolib_find(lib, name) : NULL;
	}
	return found;
}

const struct prototype *proto_search_only(struct proto_search *search, const char *name,
					  const char *architecture, const char **library)
{
	char *const *only = conf_index_get_only(index_of(search), name);

	/*
	 * The libraries that rank first (libm, libpthread, librt, libdl) are parts of the C
	 * library.
	 */
	if (!only || rank(*only) < rank("libany"))
		return NULL;
	const struct protolib *lib = proto_search_library(search, *only);

	*library = *only;
	return lib ? protolib_find_on(lib, name, architecture) : NULL;
}

const struct span *proto_search_span(struct proto_search *search, const char *name)
{
	const struct span *found = protolib_find_span(search->global, name);

	for (size_t i = 0; i < search->directories.count && !found; i++) {
		struct conf_directory *directory =
			*(struct conf_directory **)vec_at(&search->directories, i);

		list_directory(search, directory);
		for (size_t j = 0; j < directory->files.count && !found; j++) {
			const struct name_entry *file = &directory->files.entries[j];
			_cleanup_free_ char *path = xasprintf("%s/%.*s", directory->path,
							      (int)file->length, file->name);
			_cleanup_free_ char *library = xstrndup(file->name,
								file->length - strlen(".conf"));
			const struct protolib *lib = conf_has_span(path, name)
							     ? proto_search_library(search, library)
							     : NULL;

			found = lib ? protolib_find_span(lib, name) : NULL;
		}
	}
	return found;
}

const struct protolib *proto_search_global(const struct proto_search *search)
{
	return search->global;
}
