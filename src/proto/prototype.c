/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The library of prototypes. Its names, types and prototypes are allocated from a list of chunks
 * and live as long as the library. So a prototype that was returned stays valid even when a later
 * one of the same name replaces it.
 */
#include "proto/prototype.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "proto/conf.h"
#include "proto/names.h"
#include "proto/protolib.h"
#include "proto/span.h"
#include "record/format_spec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CHUNK_SIZE = 16 << 10,
	CHUNK_ALIGN = 8,
	FILE_MAX = 64 << 20, /* a larger file is not a .conf file */
	IMPORTS_MAX = 16     /* nested imports */
};

struct chunk {
	struct chunk *next;
	size_t used;
	size_t size;
	uint64_t bytes[];
};

/* A file that is being read, and the file that imports it. */
struct reading {
	const struct reading *around;
	struct stat status;
};

struct protolib {
	struct names functions; /* struct prototype */
	struct names types;	/* struct type */
	struct names spans;	/* struct span */
	struct names imported;	/* device and inode */
	const struct reading *reading;
	struct chunk *chunks; /* the one in use is the first */
	conf_finder *finder;
	void *finder_context;
	unsigned imports; /* that are being read now, nested */
	/* For a library whose files have not been read. `load` is NULL once they have been. */
	struct {
		protolib_load *load;
		void *context;
		const char *files;
		bool has_places;
	} waiting;
};

#define INTEGER(width_, signed_, lens_)                                                            \
	{                                                                                          \
		.kind = TYPE_INT, .width = (width_), .is_signed = (signed_), .lens = (lens_)       \
	}

/* A complex number: two numbers of the same type. */
#define COMPLEX(members_, size_4, size_8, align_4, align_8)                                        \
	{                                                                                          \
		.kind = TYPE_STRUCT, .is_defined = true, .is_complex = true, .levels = 1,          \
		.size = {size_4, size_8}, .align = {align_4, align_8}, .count = 2,                 \
		.members = (members_)                                                              \
	}

/* An integer of 16 bytes, which is passed as two of 8. */
#define INTEGER_128                                                                                \
	{                                                                                          \
		.kind = TYPE_STRUCT, .is_defined = true, .is_wide = true, .levels = 1,             \
		.size = {16, 16}, .align = {4, 16}, .count = 2, .members = two_halves              \
	}

static const struct type float_type = {.kind = TYPE_FLOAT, .width = WIDTH_FLOAT, .is_signed = true};
static const struct type double_type = {
	.kind = TYPE_FLOAT, .width = WIDTH_DOUBLE, .is_signed = true};
static const struct type long_double_type = {
	.kind = TYPE_FLOAT, .width = WIDTH_LONG_DOUBLE, .is_signed = true};
static const struct type_member two_floats[] = {{.type = &float_type},
						{.type = &float_type, .offset = {4, 4}}};
static const struct type_member two_doubles[] = {{.type = &double_type},
						 {.type = &double_type, .offset = {8, 8}}};
static const struct type_member two_long_doubles[] = {
	{.type = &long_double_type}, {.type = &long_double_type, .offset = {12, 16}}};

static const struct type half_type = INTEGER(WIDTH_LONG_LONG, false, LENS_HEX);
static const struct type_member two_halves[] = {{.type = &half_type},
						{.type = &half_type, .offset = {8, 8}}};

/* Requests of ioctl(2), by the kernel's headers. The kernel uses 32 bits of a request. */
static const struct type_name ioctl_names[] = {
#include "ioctl_names.inc"
};

/* The types of the language itself; the parser makes others of them (unsigned int, hex(…)). */
static const struct built_in {
	const char *name;
	struct type type;
} built_in[] = {
	{"void", {.kind = TYPE_VOID}},
	{"char", INTEGER(WIDTH_CHAR, true, LENS_CHAR)},
	{"uchar", INTEGER(WIDTH_CHAR, false, LENS_CHAR)},
	{"short", INTEGER(WIDTH_SHORT, true, LENS_DEFAULT)},
	{"ushort", INTEGER(WIDTH_SHORT, false, LENS_DEFAULT)},
	{"int", INTEGER(WIDTH_INT, true, LENS_DEFAULT)},
	{"itn", INTEGER(WIDTH_INT, true, LENS_DEFAULT)}, /* a misspelling in old files of ltrace */
	{"uint", INTEGER(WIDTH_INT, false, LENS_DEFAULT)},
	{"long", INTEGER(WIDTH_LONG, true, LENS_DEFAULT)},
	{"ulong", INTEGER(WIDTH_LONG, false, LENS_DEFAULT)},
	{"llong", INTEGER(WIDTH_LONG_LONG, true, LENS_DEFAULT)},
	{"ullong", INTEGER(WIDTH_LONG_LONG, false, LENS_DEFAULT)},
	{"hex", INTEGER(WIDTH_INT, false, LENS_HEX)},
	{"oct", INTEGER(WIDTH_INT, false, LENS_OCT)},
	{"octal", INTEGER(WIDTH_INT, false, LENS_OCT)},
	{"float", {.kind = TYPE_FLOAT, .width = WIDTH_FLOAT, .is_signed = true}},
	{"double", {.kind = TYPE_FLOAT, .width = WIDTH_DOUBLE, .is_signed = true}},
	{"ldouble", {.kind = TYPE_FLOAT, .width = WIDTH_LONG_DOUBLE, .is_signed = true}},
	{"float _Complex", COMPLEX(two_floats, 8, 8, 4, 4)},
	{"double _Complex", COMPLEX(two_doubles, 16, 16, 4, 8)},
	{"long double _Complex", COMPLEX(two_long_doubles, 24, 32, 4, 16)},
	{"string", {.kind = TYPE_STRING, .length_from = STRING_NUL}},
	{"format", {.kind = TYPE_FORMAT}},
	{"wformat", {.kind = TYPE_FORMAT, .is_wide = true}},
	{"sqliteformat", {.kind = TYPE_FORMAT, .dialect = FORMAT_OF_SQLITE}},
	{"redisformat", {.kind = TYPE_FORMAT, .dialect = FORMAT_OF_REDIS}},
};

/*
 * Names that are defined from the start and that files may redefine: lenses without a type, addr
 * and file, and C's types for sizes and the like, as glibc has them.
 */
static const struct built_in predefined[] = {
	{"bool", INTEGER(WIDTH_CHAR, false, LENS_BOOL)},
	{"bitvec", INTEGER(WIDTH_LONG, false, LENS_BITVEC)},
	{"guess", INTEGER(WIDTH_LONG, true, LENS_GUESS)},
	{"hide", {.kind = TYPE_INT, .width = WIDTH_LONG, .is_hidden = true}},
	{"addr", {.kind = TYPE_POINTER}},
	{"file", {.kind = TYPE_POINTER}},
	{"funcptr", {.kind = TYPE_POINTER, .lens = LENS_FUNCTION}},
	{"int8", INTEGER(WIDTH_CHAR, true, LENS_DEFAULT)},
	{"uint8", INTEGER(WIDTH_CHAR, false, LENS_DEFAULT)},
	{"int16", INTEGER(WIDTH_SHORT, true, LENS_DEFAULT)},
	{"uint16", INTEGER(WIDTH_SHORT, false, LENS_DEFAULT)},
	{"int32", INTEGER(WIDTH_INT, true, LENS_DEFAULT)},
	{"uint32", INTEGER(WIDTH_INT, false, LENS_DEFAULT)},
	{"int64", INTEGER(WIDTH_LONG_LONG, true, LENS_DEFAULT)},
	{"uint64", INTEGER(WIDTH_LONG_LONG, false, LENS_DEFAULT)},
	{"int128", INTEGER_128},
	{"uint128", INTEGER_128},
	{"int8_t", INTEGER(WIDTH_CHAR, true, LENS_DEFAULT)},
	{"uint8_t", INTEGER(WIDTH_CHAR, false, LENS_DEFAULT)},
	{"int16_t", INTEGER(WIDTH_SHORT, true, LENS_DEFAULT)},
	{"uint16_t", INTEGER(WIDTH_SHORT, false, LENS_DEFAULT)},
	{"int32_t", INTEGER(WIDTH_INT, true, LENS_DEFAULT)},
	{"uint32_t", INTEGER(WIDTH_INT, false, LENS_DEFAULT)},
	{"int64_t", INTEGER(WIDTH_LONG_LONG, true, LENS_DEFAULT)},
	{"uint64_t", INTEGER(WIDTH_LONG_LONG, false, LENS_DEFAULT)},
	{"size_t", INTEGER(WIDTH_LONG, false, LENS_DEFAULT)},
	{"ssize_t", INTEGER(WIDTH_LONG, true, LENS_DEFAULT)},
	{"ptrdiff_t", INTEGER(WIDTH_LONG, true, LENS_DEFAULT)},
	{"intptr_t", INTEGER(WIDTH_LONG, true, LENS_DEFAULT)},
	{"uintptr_t", INTEGER(WIDTH_LONG, false, LENS_DEFAULT)},
	{"intmax_t", INTEGER(WIDTH_LONG_LONG, true, LENS_DEFAULT)},
	{"uintmax_t", INTEGER(WIDTH_LONG_LONG, false, LENS_DEFAULT)},
	{"wchar_t", INTEGER(WIDTH_INT, true, LENS_CHAR)},
	{"wint_t", INTEGER(WIDTH_INT, false, LENS_CHAR)},
	{"char16_t", INTEGER(WIDTH_SHORT, false, LENS_CHAR)},
	{"char32_t", INTEGER(WIDTH_INT, false, LENS_CHAR)},
	{"time_t", INTEGER(WIDTH_LONG, true, LENS_DEFAULT)},
	{"off_t", INTEGER(WIDTH_LONG, true, LENS_DEFAULT)},
	{"off64_t", INTEGER(WIDTH_LONG_LONG, true, LENS_DEFAULT)},
	{"pid_t", INTEGER(WIDTH_INT, true, LENS_DEFAULT)},
	{"uid_t", INTEGER(WIDTH_INT, false, LENS_DEFAULT)},
	{"gid_t", INTEGER(WIDTH_INT, false, LENS_DEFAULT)},
	{"mode_t", INTEGER(WIDTH_INT, false, LENS_OCT)},
	{"ioctl_request",
	 {.kind = TYPE_INT,
	  .width = WIDTH_INT,
	  .lens = LENS_BITSET,
	  .names = ioctl_names,
	  .count = sizeof ioctl_names / sizeof *ioctl_names}},
	{"wait_status", INTEGER(WIDTH_INT, true, LENS_STATUS)},
	{"socklen_t", INTEGER(WIDTH_INT, false, LENS_DEFAULT)},
};

static const struct type guessed = INTEGER(WIDTH_LONG, true, LENS_GUESS);

static const struct parameter guessed_parameters[] = {
	{.type = &guessed},
	{.type = &guessed},
	{.type = &guessed},
	{.type = &guessed},
};

static const struct prototype guess = {
	.result = &guessed,
	.parameters = guessed_parameters,
	.parameter_count = sizeof guessed_parameters / sizeof guessed_parameters[0],
};

static const struct type pointer = {.kind = TYPE_POINTER};

static const struct prototype resolver = {.result = &pointer};

struct protolib *protolib_create(void)
{
	struct protolib *lib = xcalloc(1, sizeof *lib);

	for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++)
		protolib_add_type(lib, built_in[i].name, &built_in[i].type);
	for (size_t i = 0; i < sizeof predefined / sizeof predefined[0]; i++)
		protolib_add_type(lib, predefined[i].name, &predefined[i].type);
	return lib;
}

void protolib_destroy(struct protolib *lib)
{
	if (!lib)
		return;
	while (lib->chunks) {
		struct chunk *chunk = lib->chunks;

		lib->chunks = chunk->next;
		free(chunk);
	}
	names_deinit(&lib->functions);
	names_deinit(&lib->types);
	names_deinit(&lib->spans);
	names_deinit(&lib->imported);
	free(lib);
}

void *protolib_alloc(struct protolib *lib, size_t size)
{
	struct chunk *chunk = lib->chunks;

	size = (size + CHUNK_ALIGN - 1) & ~(size_t)(CHUNK_ALIGN - 1);
	if (!chunk || chunk->size - chunk->used < size) {
		size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;

		chunk = xmalloc(sizeof *chunk + room);
		*chunk = (struct chunk){.next = lib->chunks, .size = room};
		lib->chunks = chunk;
	}
	void *place = (char *)chunk->bytes + chunk->used;

	chunk->used += size;
	return place;
}

const char *protolib_text(struct protolib *lib, const char *text, size_t length)
{
	char *copy = protolib_alloc(lib, length + 1);

	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

const struct type *protolib_type(const struct protolib *lib, const char *name, size_t length)
{
	return names_get(&lib->types, name, length);
}

static const struct built_in *find_built_in(const char *name)
{
	for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++)
		if (!strcmp(built_in[i].name, name))
			return &built_in[i];
	return NULL;
}

const struct type *protolib_own_type(const char *name)
{
	return &find_built_in(name)->type;
}

bool protolib_has_own_type(const char *name)
{
	for (size_t i = 0; i < sizeof predefined / sizeof predefined[0]; i++)
		if (!strcmp(predefined[i].name, name))
			return true;
	return find_built_in(name) != NULL;
}

static bool is_number(const struct type *type)
{
	return (type->kind == TYPE_INT || type->kind == TYPE_FLOAT) && type->lens == LENS_DEFAULT;
}

bool protolib_is_own_number(const struct type *type)
{
	for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++)
		if (&built_in[i].type == type)
			return is_number(type);
	return false;
}

bool protolib_names_own_number(const char *name)
{
	const struct built_in *found = find_built_in(name);

	return found && is_number(&found->type);
}

void protolib_add_type(struct protolib *lib, const char *name, const struct type *type)
{
	names_put(&lib->types, name, strlen(name), type);
}

const struct type *protolib_next_type(const struct protolib *lib, size_t *cursor)
{
	return *cursor < lib->types.count ? lib->types.entries[(*cursor)++].value : NULL;
}

void protolib_add(struct protolib *lib, const struct prototype *prototype)
{
	names_put(&lib->functions, prototype->name, strlen(prototype->name), prototype);
}

void protolib_set_loader(struct protolib *lib, protolib_load *load, void *context,
			 const char *files, bool has_places)
{
	lib->waiting.load = load;
	lib->waiting.context = context;
	lib->waiting.files = files;
	lib->waiting.has_places = has_places;
}

/*
 * Reads the files of the library. That does not change which prototypes it has, so the parameter is
 * const.
 */
static void need(const struct protolib *asked)
{
	struct protolib *lib = (struct protolib *)(uintptr_t)asked;
	protolib_load *load = lib->waiting.load;

	lib->waiting.load = NULL;
	if (load)
		load(lib->waiting.context, lib, lib->waiting.files);
}

bool protolib_has_places(const struct protolib *lib)
{
	return !lib->waiting.load || lib->waiting.has_places;
}

void protolib_add_span(struct protolib *lib, const struct span *span)
{
	names_put(&lib->spans, span->name, strlen(span->name), span);
}

const struct span *protolib_find_span(const struct protolib *lib, const char *name)
{
	need(lib);
	return names_get(&lib->spans, name, strlen(name));
}

const struct prototype *protolib_find(const struct protolib *lib, const char *name)
{
	need(lib);
	return names_get(&lib->functions, name, strlen(name));
}

const struct prototype *protolib_find_on(const struct protolib *lib, const char *name,
					 const char *architecture)
{
	_cleanup_free_ char *own = xasprintf("%s_%s", name, architecture);
	const struct prototype *found = protolib_find(lib, own);

	return found ? found : protolib_find(lib, name);
}

const struct prototype *protolib_next(const struct protolib *lib, size_t *cursor)
{
	need(lib);
	if (*cursor >= lib->functions.count)
		return NULL;
	return lib->functions.entries[(*cursor)++].value;
}

const struct prototype *prototype_guess(void)
{
	return &guess;
}

const struct prototype *prototype_unknown(void)
{
	static const struct type nothing = {.kind = TYPE_VOID};
	static const struct prototype unknown = {.result = &nothing, .is_unknown = true};

	return &unknown;
}

const struct prototype *prototype_resolver(void)
{
	return &resolver;
}

/* Returns a number for each way to pass a type that the supported ABIs distinguish. */
static unsigned way_of(const struct type *type)
{
	enum { NOTHING, NUMBER, WORD, OBJECT, FLOATING };

	switch (type->kind) {
	case TYPE_VOID:
		return NOTHING;
	case TYPE_INT:
		return type->width <= WIDTH_INT ? NUMBER : WORD;
	case TYPE_STRUCT:
		return OBJECT;
	case TYPE_FLOAT:
		return FLOATING + type->width;
	default:
		return WORD;
	}
}

bool prototype_may_be(const struct prototype *written, const struct prototype *declared)
{
	if (written->parameter_count < declared->parameter_count ||
	    way_of(written->result) != way_of(declared->result))
		return false;
	for (unsigned i = 0; i < written->parameter_count; i++) {
		const struct parameter *parameter = &written->parameters[i];

		if (parameter->choices || parameter->only_with)
			continue;
		if (i >= declared->parameter_count ||
		    way_of(parameter->type) != way_of(declared->parameters[i].type))
			return false;
	}
	return true;
}

int protolib_parse(struct protolib *lib, const char *file_name, const char *text, conf_error *error,
		   void *context)
{
	return conf_parse(lib, file_name, text, strlen(text), error, context);
}

/* Reads until the end of the file, not for its size, so that pipes (-F <(generate)) work, too. */
int conf_read_file(const char *path, char **text, size_t *length, struct stat *status)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	_cleanup_free_ char *bytes = NULL;
	size_t room = 0;
	size_t used = 0;

	if (fd < 0 || fstat(fd, status) < 0)
		return -errno;
	for (;;) {
		if (used == room) {
			room = room ? room * 2 : 64 << 10;
			bytes = xrealloc(bytes, room);
		}
		ssize_t got = read(fd, bytes + used, room - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		used += (size_t)got;
		if (used > FILE_MAX)
			return -EFBIG;
	}
	bytes[used] = '\0'; /* read() was called with room left, so there is room for the NUL */
	*text = take_ptr(bytes);
	*length = used;
	return 0;
}

int protolib_read(struct protolib *lib, const char *path, conf_error *error, void *context)
{
	_cleanup_free_ char *text = NULL;
	size_t length = 0;
	struct reading reading = {.around = lib->reading};
	int status = conf_read_file(path, &text, &length, &reading.status);

	if (status < 0)
		return status;
	lib->reading = &reading;
	status = conf_parse(lib, path, text, length, error, context);
	lib->reading = reading.around;
	return status;
}

/* Returns true if the file is being read, or is waiting for its imports. */
static bool is_being_read(const struct protolib *lib, const struct stat *status)
{
	for (const struct reading *at = lib->reading; at; at = at->around)
		if (at->status.st_dev == status->st_dev && at->status.st_ino == status->st_ino)
			return true;
	return false;
}

void protolib_set_finder(struct protolib *lib, conf_finder *finder, void *context)
{
	lib->finder = finder;
	lib->finder_context = context;
}

static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

char *conf_find_import(const char *from, const char *name, conf_finder *finder, void *context)
{
	static const char *const suffixes[] = {".conf", ""};
	const char *slash = strrchr(from, '/');
	int length = slash && *name != '/' ? (int)(slash + 1 - from) : 0;

	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
		char *path = xasprintf("%.*s%s%s", length, from, name, suffixes[i]);

		if (is_file(path))
			return path;
		free(path);
	}
	return finder ? finder(context, name) : NULL;
}

int protolib_import(struct protolib *lib, const char *from, const char *name, conf_error *error,
		    void *context)
{
	_cleanup_free_ char *path = conf_find_import(from, name, lib->finder, lib->finder_context);
	struct stat file;

	if (!path || stat(path, &file) < 0)
		return -ENOENT;
	/* Files are identified by device and inode, as a file may have many names. */
	_cleanup_free_ char *id = xasprintf("%jx:%jx", (uintmax_t)file.st_dev,
					    (uintmax_t)file.st_ino);

	if (is_being_read(lib, &file) || names_get(&lib->imported, id, strlen(id)))
		return 0;
	if (lib->imports == IMPORTS_MAX)
		return -ELOOP;
	const char *kept = protolib_text(lib, path, strlen(path));

	names_put(&lib->imported, protolib_text(lib, id, strlen(id)), strlen(id), kept);
	lib->imports++;
	int status = protolib_read(lib, kept, error, context);

	lib->imports--;
	return status;
}
